"""What the documentation site needs beyond MkDocs: formulas without scripts, and Markdown as GitHub reads it.

Formulas between $$ and $ become MathML, which browsers draw by themselves. A block with a \\tag gets its number and the
anchor eq-NUMBER. A list may follow its paragraph without an empty line.
"""

import re
from typing import Any

from latex2mathml.converter import convert

_CODE = re.compile(r"(^ *```.*?^ *```\s*?$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^\$\$(.+?)\$\$$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<![\w$\\])\$([^$\n]+?)\$(?![\w$])")
_LIST = re.compile(r"^((?!\s*(?:[-*]|\d+\.) |\s*$|\||#| {2}).+)\n(?=(?:[-*]|\d+\.) )", re.MULTILINE)
_ROLE = re.compile(r":(?:mod|class|func|meth|attr|data):<code>")


_formulas_of_page: list[str] = []
"""Drawn, of the page at hand: text stands for them while Markdown is converted, which takes <math> for a paragraph."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Formulas and lists, outside code."""
    _formulas_of_page.clear()
    parts = _CODE.split(markdown)
    text = "".join(part if index % 2 else _formulas(part) for index, part in enumerate(parts))
    blocks = re.split(r"(^ *```.*?^ *```\s*?$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if index % 2 else _LIST.sub(r"\1\n\n", part) for index, part in enumerate(blocks))


def on_page_content(html: str, **_: Any) -> str:
    """The formulas' places filled; cross-references of docstrings, `:mod:`, as code."""
    html = re.sub(r"(?:<p>)?FORMULA(\d+)BLOCK(?:</p>)?", lambda found: _formulas_of_page[int(found[1])], html)
    html = re.sub(r"FORMULA(\d+)INLINE", lambda found: _formulas_of_page[int(found[1])], html)
    return _ROLE.sub("<code>", html)


def _kept(drawn: str, kind: str) -> str:
    _formulas_of_page.append(drawn)
    return f"FORMULA{len(_formulas_of_page) - 1}{kind}"


def _formulas(text: str) -> str:
    return _INLINE.sub(lambda found: _kept(convert(found[1]), "INLINE"), _BLOCK.sub(_block, text))


def _block(found: re.Match[str]) -> str:
    formula = found[1].strip().replace(r"\begin{bmatrix}", r"\left[\begin{matrix}")  # brackets as high as the matrix
    formula = formula.replace(r"\end{bmatrix}", r"\end{matrix}\right]")
    tag = re.search(r"\\tag\{(\d+)\}", formula)
    if tag is None:
        return _kept(convert(formula, display="block"), "BLOCK")
    drawn = convert(formula.replace(tag[0], "").strip(), display="block")
    return _kept(f'<div class="equation" id="eq-{tag[1]}">{drawn}<span>({tag[1]})</span></div>', "BLOCK")
