"""What bars and maps show of their numbers."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from contact_ddp_ros.runs.report.panels import bars, heat_map


@pytest.fixture
def axes():
    return Figure().subplots()


def texts(axes) -> list[str]:
    return [one.get_text() for one in axes.texts]


def test_a_map_writes_every_number_so_that_it_can_be_read(axes) -> None:
    values = np.array([[0.0, 5.0, np.nan], [10.0, 2.5, 7.5]])
    image = heat_map(axes, values, ["low", "high"], ["a", "b", "c"], (0.0, 10.0), form="{:.1f}".format)
    assert texts(axes) == ["0.0", "5.0", "10.0", "2.5", "7.5"], "what is not a number has none"
    assert image.get_clim() == (0.0, 10.0)
    colours = {one.get_text(): one.get_color() for one in axes.texts}
    assert (colours["0.0"], colours["10.0"]) == ("white", "black"), "dark below, bright above"
    assert [one.get_text() for one in axes.get_yticklabels()] == ["low", "high"]


def test_a_map_without_a_form_has_no_numbers(axes) -> None:
    heat_map(axes, np.ones((2, 2)), ["a", "b"], ["c", "d"], (0.0, 1.0), form=None)
    assert texts(axes) == []


def test_bars_stand_under_their_names_with_a_line_over_each(axes) -> None:
    bars(axes, {"first": 3.0, "second": 1.0}, ["red", "blue"], [(2.0, 4.0), (0.5, 1.5)])
    assert [one.get_width() for one in axes.patches] == [3.0, 1.0]
    assert [tuple(one.get_xdata()) for one in axes.lines] == [(2.0, 4.0), (0.5, 1.5)]
    assert [one.get_text() for one in axes.get_yticklabels()] == ["first", "second"]
    assert axes.yaxis_inverted(), "the first on top"
