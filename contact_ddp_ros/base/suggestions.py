"""Names that somebody may have meant who wrote one that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 3
"""Names suggested at most."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`"did you mean a.b or c.d?"`: dotted names that end alike or are spelt alike; all of them where none is."""
    names = list(known)
    leaf = name.rpartition(".")[2]
    alike = [one for one in names if one.rpartition(".")[2] == leaf]
    spelt = get_close_matches(name, names, _MOST)
    leaves = get_close_matches(leaf, [one.rpartition(".")[2] for one in names], 1)
    meant = [one for one in names if leaves and one.rpartition(".")[2] == leaves[0]]
    found = list(dict.fromkeys(alike + spelt + meant))[:_MOST]
    return f"did you mean {' or '.join(found)}?" if found else f"known: {', '.join(names)}"


def no_such(kind: str, name: str, packaged: Iterable[str]) -> str:
    """That no `kind` of thing in the package has this name, and what is allowed: those there are, and files."""
    names = list(packaged)
    meant = did_you_mean(name, names)
    asked = f"; {meant} Allowed: " if meant.endswith("?") else "; allowed: "
    return f"no {kind} is called {name!r}{asked}{', '.join(names)}, or the path of a .yaml file"
