"""The results in README.md and docs/results.md are those of docs/results.json, and changed code is marked there."""

import re
import subprocess
from typing import Any

import pytest

from docs_site import results

REMEDY = "run: python -m docs_site.results"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    found = results.load()
    try:
        results.page(found)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no history of the commits of the measurements: {error}")
    return found


def test_page_and_readme_hold_the_rows(rows: list[dict[str, Any]]) -> None:
    assert results.PAGE.read_text(encoding="utf-8") == results.page(rows), REMEDY
    readme = results.README.read_text(encoding="utf-8")
    assert readme == results.readme(rows, readme), REMEDY
    assert rows[0]["result"] in readme, "the table is where it is looked for"


def test_code_that_has_changed_since_a_measurement_is_marked(rows: list[dict[str, Any]]) -> None:
    row = {"commit": rows[0]["commit"], "sources": ["contact_ddp_ros/ocp/no_such_folder"]}
    assert not results.has_changed(row)
    assert results.has_changed(row | {"commit": "fee749b", "sources": ["README.md"]})
    assert results.has_changed(row | {"equal": "fee749b", "sources": ["README.md"]})
    with pytest.raises(subprocess.CalledProcessError):
        results.has_changed(row | {"commit": "0" * 40})


def test_every_row_names_sources_that_exist(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert re.fullmatch(r"[0-9a-f]{7,40}", row["commit"])
        assert row["sources"] and all((results.ROOT / one).exists() for one in row["sources"]), row["question"]
