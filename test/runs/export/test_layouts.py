"""Layouts name what there is: the packaged one of Foxglove the topics and fields of an export."""

import json
from pathlib import Path

import pytest
from planned_runs import planned_recording

from contact_ddp_ros.runs.export.signals import signals

CONFIG = Path(__file__).parents[3] / "config"


def strings(tree, key):
    """All values under a key, anywhere."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from strings(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from strings(value, key)


def test_the_layout_of_foxglove_plots_what_an_export_holds():
    tree = json.loads((CONFIG / "foxglove_layout.json").read_text())
    known = {f"/{table.name}.{column}" for table in signals(planned_recording()) for column in table.columns}
    # Neither a made-up run nor its plan has these.
    known |= {f"/joints.{leg}_{joint}.target_position" for leg in ("fr", "hr") for joint in ("hip", "knee")}
    known |= {f"/solves.cost_terms.{term}" for term in ("contact_force", "foot_height")}
    plotted = [path["value"] for paths in strings(tree, "paths") for path in paths]
    assert len(plotted) > 20
    assert set(plotted) <= known
    assert set(next(strings(tree, "topics"))) == {"/robot", "/ground", "/ghost", "/plan_path", "/forces"}
    assert list(strings(tree, "topicToRender")) == ["/events"]


def test_the_packaged_layout_is_the_one_that_is_made():
    pytest.importorskip("foxglove", reason="pinned in requirements-export.txt")
    from contact_ddp_ros.runs.export.foxglove_scene import FILE_NAME, layout

    assert (CONFIG / FILE_NAME).read_text(encoding="utf-8") == layout()
