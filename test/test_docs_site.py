"""The documentation site builds without a warning, needs no network to be read, and says everything there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import contact_ddp_ros

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CITATION = re.compile(r"eqs?\.\s+((?:\(\d+\)(?:,\s+|\s+to\s+|\s+and\s+)?)+)\s*of\s+docs/mathematics\.md")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built strictly: links to nowhere and pages outside the navigation end it."""
    pytest.importorskip("mkdocs", reason="pinned in requirements-docs.txt")
    folder = tmp_path_factory.mktemp("site")
    program = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_built_and_none_loads_anything_from_elsewhere(site: Path) -> None:
    assert {path.stem for path in DOCS.glob("*.md")} <= {path.stem for path in site.glob("*.html")}
    loads = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^\s\">]+")
    found = [f"{path.name}: {one}" for path in site.glob("*.html") for one in loads.findall(path.read_text("utf-8"))]
    assert found == []
    assert not re.search(r"@import|url\(['\"]?(?:https?:)?//", (site / "style.css").read_text("utf-8"))


def test_equations_are_drawn_with_their_numbers(site: Path) -> None:
    page = (site / "mathematics.html").read_text("utf-8")
    numbers = equations()
    assert [int(one) for one in re.findall(r'id="eq-(\d+)"><math', page)] == numbers
    text = re.sub(r"<[^>]+>", "", page.split("<article", 1)[1])
    assert "$" not in text and "FORMULA" not in text and "\\" not in text


def test_the_reference_has_every_public_name(site: Path) -> None:
    page = (site / "api.html").read_text("utf-8")
    told = re.findall(r"^::: contact_ddp_ros\.(\w+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)
    assert told == contact_ddp_ros.__all__
    headings = set(re.findall(r'<h3 id="contact_ddp_ros\.([\w.]+)"', page))
    assert set(told) <= headings, set(told) - headings


def equations() -> list[int]:
    """Numbers of the equations of the chapter."""
    return [int(one) for one in re.findall(r"\\tag\{(\d+)\}", (DOCS / "mathematics.md").read_text("utf-8"))]


def test_equations_that_the_code_and_the_pages_cite_exist() -> None:
    numbers = equations()
    assert numbers == list(range(1, len(numbers) + 1))
    cited = {}
    for path in (ROOT / "contact_ddp_ros").rglob("*.py"):
        for numbers_of_one in CITATION.findall(path.read_text("utf-8")):
            cited[path.name] = {int(one) for one in re.findall(r"\d+", numbers_of_one)}
    assert len(cited) >= 10, "the chapter is cited by those who compute it"
    assert {name: found - set(numbers) for name, found in cited.items() if found - set(numbers)} == {}
    chapter = (DOCS / "mathematics.md").read_text("utf-8")
    body = re.sub(r"\$[^$\n]+\$", "", re.sub(r"^\$\$.*\$\$$", "", chapter, flags=re.MULTILINE))
    within = {int(one) for one in re.findall(r"(?<![\w(])\((\d{1,2})\)", body)}
    assert within <= set(numbers)


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == contact_ddp_ros.__version__
    assert citation["cff-version"] == "1.2.0" and citation["authors"] and citation["title"] == "contact_ddp_ros"
    assert f"<version>{contact_ddp_ros.__version__}</version>" in (ROOT / "package.xml").read_text("utf-8")
    releases = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert next(one for one in releases if one != "Unreleased") == contact_ddp_ros.__version__
    assert "Unreleased" not in releases[1:] and len(set(releases)) == len(releases)
