"""Every parameter in effect: which layer wins, and where a value is held on its way to the solver."""

import re
from pathlib import Path

import numpy as np
import pytest

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.scenario import scenario

ROOT = Path(__file__).parents[2]
MOST_PLACES = 8


def test_each_layer_wins_over_the_ones_below(tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text("simulator:\n  ros__parameters: {friction: 0.3}\nplanner:\n  ros__parameters: {variant: ilqr}\n")
    found = scenario(RunOptions(config=file, friction=0.8))
    assert (found.simulator.friction, found.planner.variant) == (0.8, "ilqr"), "an option counts at its default, too"
    live = found.changed({"planner.variant": "ddp", "planner.weight.pitch": 50})
    assert (live.planner.variant, live.planner.weight.pitch, live.run.variant) == ("ddp", 50.0, "ddp")
    assert scenario(live.run).parameters == live.parameters


def test_a_weight_that_is_set_arrives_in_the_rows_of_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    built, assemble = [], ProblemBuilder.assemble
    monkeypatch.setattr(ProblemBuilder, "assemble", lambda *own: built.append(assemble(*own)) or built[-1])

    def rows(*words: str) -> np.ndarray:
        found = scenario(run_options(build_parser().parse_args(["sim", *words])))
        planner = Planner(WholeBodyModel(found.robot), found.planner)
        planner.plan(found.robot.standing_state(), 0.0)
        return built[-1].node_parameters[:, planner.builder.layout.rows["state_weights"]]

    usual, heavy = rows(), rows("--set", "planner.weight.pitch=61")
    changed = np.flatnonzero((usual != heavy).any(axis=0))
    assert len(changed) == 1
    assert 61.0 in heavy[:, changed[0]] and 40.0 in usual[:, changed[0]]


def test_a_weight_passes_few_places_and_all_of_them_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("## The way of a parameter") : page.index("## How it is checked")]
    places = re.findall(r"^\| \d+ \|.*\|$", table, re.MULTILINE)
    assert 4 < len(places) <= MOST_PLACES
    named = re.findall(r"`([\w/]+\.py)` `(\w+)`", "\n".join(places))
    assert len(named) > len(places)
    for file, function in named:
        assert f"def {function}(" in (ROOT / "contact_ddp_ros" / file).read_text(encoding="utf-8"), (file, function)
