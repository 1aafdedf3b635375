"""Commands of the README, the changelog and the pages under docs/."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHANGELOG = ROOT / "CHANGELOG.md"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", CHANGELOG, *sorted((ROOT / "docs").glob("*.md")))


def code(page: Path, *, without: str = "") -> Iterator[str]:
    """Lines of code blocks, `without` those of a language, and spans of inline code, but for former names."""
    text = page.read_text(encoding="utf-8")
    if page == CHANGELOG:
        text = re.sub(r"^\|[^|\n]*\|", "", text, flags=re.MULTILINE)  # the column of what was before
    blocks = re.split(r"^ *```(.*)$", text, flags=re.MULTILINE)
    for language, block in zip(blocks[1::4], blocks[2::4], strict=True):
        if not without or language.strip() != without:
            yield from re.sub(r"\\\n\s*", "", block).splitlines()
    for text in blocks[::4]:
        for span in re.findall(r"`([^`]+)`", text):
            yield " ".join(span.split())


def commands(page: Path) -> Iterator[list[str]]:
    """Words of every command, without what a comment says; one line may hold several."""
    for line in code(page):
        if re.match(r"\s*(\./run|contact-ddp|ros2|robot_emulator|unitree_emulator) ", line) and "…" not in line:
            words = shlex.split(line, comments=True)
            ends = [i for i, word in enumerate(words) if word in ("&&", "|", ";")]
            for begin, end in zip([0, *(i + 1 for i in ends)], [*ends, len(words)]):
                yield words[begin:end]


def told(*heads: str) -> list[tuple[str, ...]]:
    """All commands of all pages that begin with one of these words, once each."""
    found = {tuple(words) for page in PAGES for words in commands(page) if words[0] in heads}
    assert len(found) > 3, "the pages are not read as they should be"
    return sorted(found)
