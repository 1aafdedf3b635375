"""Every exception that this package raises on purpose derives from one root.

A message says what was found, what is allowed and what to do about it.

Names that somebody may have meant who wrote one that does not exist.
"""

import re
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
    """Error text for a name that no `kind` of thing in the package has, with the names and files that are allowed."""
    names = list(packaged)
    meant = did_you_mean(name, names)
    asked = f"; {meant} Allowed: " if meant.endswith("?") else "; allowed: "
    return f"no {kind} is called {name!r}{asked}{', '.join(names)}, or the path of a .yaml file"


_LONG = re.compile(r"\d{20,}(\.\d*)?")
"""Numbers that nobody reads: 1e300 with two decimals has 303 digits. Whole numbers of 64 bits have up to 19."""


def short_numbers(text: str) -> str:
    """A message with numbers of 20 digits and more to three significant ones: `1e+300` for `1000...`."""
    return _LONG.sub(lambda number: f"{float(number[0]):.3g}", text)


class ContactDdpError(Exception):
    """Root of all errors of this package; the command line prints its text without a traceback."""

    def __str__(self) -> str:
        """The message."""
        return short_numbers(super().__str__())


class ModelError(ContactDdpError):
    """The robot description (URDF, inertias, joint names) cannot be used."""


class CompilerError(ContactDdpError):
    """A kernel could not be compiled or loaded."""


class ParameterError(ContactDdpError):
    """A parameter or option is of the wrong type, size or range."""


class MessageError(ContactDdpError):
    """A message from outside is malformed, incomplete or not finite."""


class LinkError(ContactDdpError):
    """The link to the robot cannot be opened, or what came over it is malformed or contradicts itself."""


class PolicyError(ContactDdpError):
    """A policy does not fit the controller that is to run it."""


class SolverError(ContactDdpError):
    """The optimal control problem handed to the solver is not well posed."""


class SimulationError(ContactDdpError):
    """The simulator could not be built, or its state is no longer finite."""


class RecordingError(ContactDdpError):
    """A recorded run does not fit its description, or cannot be read or written."""


class NodeError(ContactDdpError):
    """A ROS 2 node did not start, ended before its time or stopped answering."""


class BenchmarkError(ContactDdpError):
    """A benchmark cannot run, or cannot go on, where or as it was asked to."""


class ReplayError(ContactDdpError):
    """A bag cannot be read or written, or does not hold what a replay needs."""


class GazeboError(ContactDdpError):
    """Gazebo or its Python bindings are not there, or its server does not answer."""
