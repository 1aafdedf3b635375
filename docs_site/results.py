"""Table of results in README.md and the page docs/results.md, made from docs/results.json.

    python -m docs_site.results

A row of the file holds a question, its result, the command that measures it, the conditions, the commit of the measured
code, and the sources that the result depends on. With `published` the commit is the one that first had the number on a
page. The table marks a row whose sources have changed since its commit, or since the commit `equal`, at which the
golden gate's numbers were the same to the last bit.
"""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
ROWS, PAGE, README = ROOT / "docs" / "results.json", ROOT / "docs" / "results.md", ROOT / "README.md"

_HEAD: Final = "| question | result |\n|---|---|\n"
_TABLE: Final = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")

_ABOUT: Final = """# Results

This page holds the main results with their commands, and marks those whose code has changed since. The commit is that \
of the measured code; with * it is the first one with the number on a page, since the measured one is not on record. \
[Benchmarks](benchmarks.md) holds all tables, with missed targets. *Same numbers*: the code has changed, and 16 closed \
loops (`python -m benchmarks.golden_gate`) give the same to the last bit; that is not said of times.

| question | result | conditions | command | commit | code since then |
|---|---|---|---|---|---|
"""

Row = Mapping[str, Any]


def load() -> list[Row]:
    """Rows of docs/results.json."""
    return list(json.loads(ROWS.read_text(encoding="utf-8")))


def has_changed(row: Row) -> bool:
    """True if one of a row's sources differs from its commit.

    Raises:
        subprocess.CalledProcessError: the checkout does not know the commit, or has no history.
    """
    commit = row.get("equal", row["commit"])
    done = subprocess.run(["git", "diff", "--quiet", commit, "--", *row["sources"]], cwd=ROOT)
    if done.returncode > 1:
        raise subprocess.CalledProcessError(done.returncode, done.args)
    return done.returncode == 1


def page(rows: Sequence[Row]) -> str:
    """Text of docs/results.md."""
    lines = []
    for row in rows:
        day = subprocess.run(
            ["git", "show", "-s", "--format=%as", row["commit"]], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
        result = row["result"].replace("](docs/", "](")
        state = "**changed**" if has_changed(row) else "same numbers" if "equal" in row else "same"
        commit = f"{row['commit']}{'*' if row.get('published') else ''}, {day}"
        cells = (row["question"], result, row["conditions"], f"`{row['command']}`", commit, state)
        lines.append(f"| {' | '.join(cells)} |\n")
    return _ABOUT + "".join(lines)


def readme(rows: Sequence[Row], text: str) -> str:
    """Text of README.md with the table of the rows."""
    table = _HEAD + "".join(f"| {row['question']} | {row['result']} |\n" for row in rows)
    return _TABLE.sub(lambda _: table, text, count=1)


def main() -> None:
    """Write both."""
    rows = load()
    PAGE.write_text(page(rows), encoding="utf-8")
    README.write_text(readme(rows, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
