"""A panel that has nothing to show says so."""

import pytest
from matplotlib.figure import Figure

from benchmarks.output import panel


def test_a_panel_says_why_it_is_empty() -> None:
    axes = Figure().subplots()
    panel(axes, "Title", [], lambda *_: pytest.fail("there is nothing to draw"), "no runs")
    assert [one.get_text() for one in axes.texts] == ["no runs"]
