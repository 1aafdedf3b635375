"""Prose of README and pages: sentence length, one term per concept, no history, double negatives or riddles.

These are the house's own rules. All checks of proselint 0.16 find only quotation marks, "(c)" and "revolute" here.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from told import CHANGELOG, PAGES

PROSE = [page for page in PAGES if page != CHANGELOG and page.name != "parameters.md"]

LONG, SHARE = 35, 0.02
"""Words above which a sentence is long, and the share of a page's sentences that may be; one always may."""
TERMS = {
    r"torsos?": "trunk",
    r"lock ?step": "lock-step",
    r"foot[ -]holds?": "foothold",
    r"touch[ -]downs?": "touchdown",
    r"(lift|take)offs?": "lift-off, take-off",
    r"backflips?": "back flip",
    r"tells?|told": "send, show, report",
    r"felt": "estimated",
    r"lets? go": "release",
    r"(behavi|col|fav|neighb)ors?|centers?|meters?|gray": "-our, -re, grey",
    r"(?-i:optim|minim|maxim|linear|penal|stabil|regular|discret)iz\w+": "-is-",
}
"""Words that the pages do not use, and the term in their place."""

HISTORY = r"no longer|not any ?more|used to be|formerly|previously|anew|in (earlier|former|older) versions"
NEGATIVE = r"not without|(not|never) (un(?!der|til|ique|it)|in(?=\w+ly\b)|im(?=possib))\w+"
RIDDLE = r"whoever|so many|so much for|it says so|what is (told|felt|meant|asked)|thereof|hereby"


def text(page: Path) -> str:
    """The page without code, formulas, pictures and targets of links; tables cell by cell, one paragraph each."""
    found = re.sub(r"^ *```.*?^ *```|\$\$.*?\$\$|!\[[^]]*\]\([^)]*\)", "", page.read_text("utf-8"), flags=re.M | re.S)
    found = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"\$[^$]+\$|`[^`]+`", "X", found))
    return re.sub(r"\|", "\n\n", found)


def sentences(page: Path) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-#]|\d+\.) )", text(page)):
        yield from re.split(r"(?<=[.?!;])\s+", " ".join(paragraph.split()))


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_sentences_are_short(page: Path) -> None:
    words = {one: len(re.findall(r"[^\W\d_][\w'’-]*", one)) for one in sentences(page)}
    long = [one for one, count in words.items() if count > LONG]
    assert len(long) <= max(1, SHARE * len(words)), long


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_words_are_those_of_the_house(page: Path) -> None:
    rules = {**TERMS, HISTORY: "pages hold no history", NEGATIVE: "say it positively", RIDDLE: "name the thing"}
    found = [(one[0], use) for rule, use in rules.items() for one in re.finditer(rf"(?i)\b({rule})\b", text(page))]
    assert found == []
