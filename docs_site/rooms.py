"""Draws docs/rooms.png: the rooms of the package, their lines, and who imports whom.

    python -m docs_site.rooms [FILE]

A room stands above all that it imports. Left out are modules that import no room, which any may import, and lines to
rooms that another import leads to anyway.
"""

import ast
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

PACKAGE: Final = "contact_ddp_ros"
ROOT: Final = Path(__file__).parents[1] / PACKAGE


def room_of(path: Path) -> str:
    """Folder of a module, or the module beside the folders."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def read() -> tuple[dict[str, set[str]], Counter[str]]:
    """What each room imports when it is loaded, and its lines."""
    knows: dict[str, set[str]] = {}
    lines: Counter[str] = Counter()
    for path in sorted(ROOT.rglob("*.py")):
        room, text = room_of(path), path.read_text(encoding="utf-8")
        lines[room] += text.count("\n")
        knows.setdefault(room, set())
        for node in ast.parse(text).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
                knows[room].add((node.module or "").split(".")[1])
    for room, others in knows.items():
        others.discard(room)
    return knows, lines


def main(path: Path) -> None:
    """Draw."""
    knows, lines = read()
    folders = {room for room in knows if (ROOT / room).is_dir()}
    plain = {room for room, others in knows.items() if room not in folders and not others & folders}
    rooms = {room: others - plain for room, others in knows.items() if room not in plain | {"__init__"}}

    @cache
    def floor(room: str) -> int:
        return 1 + max((floor(other) for other in rooms[room] if other in rooms), default=-1)

    @cache
    def below(room: str) -> frozenset[str]:
        return frozenset(rooms[room].union(*(below(other) for other in rooms[room])))

    floors: dict[int, list[str]] = {}
    for room in sorted(rooms, key=lambda one: (floor(one), -lines[one])):
        floors.setdefault(floor(room), []).append(room)
    widest = max(map(len, floors.values()))
    places = {
        room: ((index + 0.5) * widest / len(row), level)
        for level, row in floors.items()
        for index, room in enumerate(row)
    }
    drawn, axes = pyplot.subplots(figsize=(1.55 * widest, 0.95 * len(floors)))
    for room, (x, y) in places.items():
        for other in rooms[room] - {far for near in rooms[room] for far in below(near)}:
            to = places[other]
            arrow = {"arrowstyle": "-", "color": "0.75", "linewidth": 0.7, "shrinkA": 8, "shrinkB": 8, "zorder": 1}
            axes.annotate("", to, (x, y), arrowprops=arrow)
        box = {"boxstyle": "round,pad=0.35", "facecolor": "#e8eef5", "edgecolor": "#33506b"}
        axes.text(x, y, f"{room}\n{lines[room]}", ha="center", va="center", fontsize=8, bbox=box, zorder=2)
    axes.set_xlim(0.0, widest)
    axes.set_ylim(-0.6, len(floors) - 0.4)
    axes.axis("off")
    drawn.tight_layout(pad=0.2)
    drawn.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:] or ["docs/rooms.png"]))
