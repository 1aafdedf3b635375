"""Straight-line C cut into parts, because a compiler's time grows faster than the length of a function.

The assignment of registers is to blame, which is quadratic: GCC 12 takes 20 s for 23 500 statements at once and 3.4 s
in parts of 500, and those run a little faster. What later parts need is kept in an array on the stack, where a function
of that length would have spilled it, too.
"""

import re
from itertools import count
from typing import Final

LONGEST: Final = 500
"""Statements of a part. Between 250 and 1000 it matters little."""

_FUNCTION = re.compile(
    r"^(?P<head>static int \w+\([^)]*\) \{\n)(?:  casadi_real a[^;]*;\n)+(?P<body>(?:.*;\n)*?)(?P<end>  return 0;\n\})",
    re.MULTILINE,
)
_LOCAL = re.compile(r"\ba\d+\b")
_STATEMENT = re.compile(r"  (?P<target>(?P<local>a\d+)|res\[\d+\]\[\d+\])=(?P<value>.*);")

Statement = re.Match[str]


def in_parts(source: str, longest: int = LONGEST) -> str:
    """C of CasADi, its long straight-line functions cut; everything else as it is.

    A function is cut where all its statements set a local a0, a1, ... or an entry res[i][j] of a result. The same
    numbers follow but for the rounding of products that the compiler fuses with sums.

    Args:
        source: text of one translation unit.
        longest: statements of a part.
    """
    number = count()
    return _FUNCTION.sub(lambda function: _cut(function, longest, f"part{next(number)}"), source)


def _cut(function: re.Match[str], longest: int, prefix: str) -> str:
    """C of a function and, before it, of its parts, whose names begin with a prefix."""
    found = [_STATEMENT.fullmatch(line) for line in function["body"].splitlines()]
    statements = [one for one in found if one is not None]
    if len(statements) <= longest or len(statements) < len(found):
        return function[0]
    chunks = [statements[start : start + longest] for start in range(0, len(statements), longest)]
    needed = _needed_after(chunks)
    slots = {name: f"s[{i}]" for i, name in enumerate(sorted(set().union(*needed)))}
    parts = "".join(
        f"static __attribute__((noinline)) void {prefix}_{i}(const casadi_real** restrict arg, "
        f"casadi_real** restrict res, casadi_real* restrict s) {{\n{_body(chunk, after, slots)}}}\n\n"
        for i, (chunk, after) in enumerate(zip(chunks, needed, strict=True))
    )
    calls = "".join(f"  {prefix}_{i}(arg, res, s);\n" for i in range(len(chunks)))
    return f"{parts}{function['head']}  casadi_real s[{max(len(slots), 1)}];\n{calls}{function['end']}"


def _needed_after(chunks: list[list[Statement]]) -> list[set[str]]:
    """Locals of each chunk that later chunks read."""
    needed: list[set[str]] = []
    live: set[str] = set()
    for chunk in reversed(chunks):
        needed.append(set(live))
        for statement in reversed(chunk):
            live.discard(statement["local"])
            live.update(_LOCAL.findall(statement["value"]))
    return needed[::-1]


def _body(chunk: list[Statement], after: set[str], slots: dict[str, str]) -> str:
    """C of a chunk, which reads from the array what it has not set itself, and puts there at once what others need."""
    last = {statement["local"]: i for i, statement in enumerate(chunk)}
    own: set[str] = set()
    lines = []
    for i, statement in enumerate(chunk):
        value = _LOCAL.sub(lambda name: name[0] if name[0] in own else slots[name[0]], statement["value"])
        lines.append(f"  {statement['target']}={value};\n")
        local = statement["local"]
        if local:
            own.add(local)
            if local in after and last[local] == i:
                lines.append(f"  {slots[local]}={local};\n")
    declared = f"  casadi_real {', '.join(sorted(own))};\n" if own else ""
    return declared + "".join(lines)
