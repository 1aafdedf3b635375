"""What the panels show, and that none shows nothing."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from planned_runs import BEGINS, planned_recording

from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.report import (
    panels,
    plan_panels,
    plots,
    solver_panels,
    style,
    video,
)
from contact_ddp_ros.runs.report.style import explain, is_idle
from contact_ddp_ros.runs.report.video import Captions
from contact_ddp_ros.runs.scene import RecordedRobot, along


@pytest.fixture(scope="module")
def recording():
    return planned_recording(pushes=(Push(1.0, (0.0, 40.0, 0.0), 0.1),))


@pytest.fixture(scope="module")
def kinematics(recording):
    return RecordedRobot(recording)


def changed(recording, *, ticks=None, solves=None, plans=None):
    return Recording(
        recording.info,
        {**recording.ticks, **(ticks or {})},
        {**recording.solves, **(solves or {})},
        recording.events,
        recording.plans if plans is None else plans,
    )


def titles_of(figure):
    return [axes.get_title() for axes in figure.axes]  # in the middle, without the style of a file


def test_the_title_says_which_run_it_was(recording):
    title = style.run_title(recording)
    assert title.startswith("sim: mini_cheetah, bound at 0.5 m/s, ddp, lock-step")
    assert style.commit_words("0123456789abcdef+") == "commit 0123456+"
    assert style.commit_words("") == ""
    assert style.speed_words(planned_recording(speed=((0.0, 0.0), (1.0, 1.5)))) == "0 to 1.5 m/s"


def test_plans_lie_on_what_was_measured(recording):
    figure = Figure()
    assert plan_panels.draw_plans(figure, recording)
    assert len(figure.axes) == 9
    assert {"height", "front knees", "back soles"} <= set(titles_of(figure))
    height = next(axes for axes in figure.axes if axes.get_title() == "height")
    plan, measured = height.lines[0], height.lines[-1]
    expected = np.interp(plan.get_xdata(), measured.get_xdata(), measured.get_ydata()) + 0.01
    np.testing.assert_allclose(plan.get_ydata()[5:], expected[5:], atol=1e-3)


def test_plans_are_drawn_apart(recording):
    time = recording.ticks["time"]
    assert plan_panels._plans_within(recording, time) == [0, 1, 2]
    close = {**recording.plans, "times": recording.plans["times"] * [[1.0], [0.78], [1.0]]}
    assert plan_panels._plans_within(changed(recording, plans=close), time) == [0, 2]
    assert plan_panels._plans_within(recording, time[time > 1.75]) == []
    assert not plan_panels.draw_plans(Figure(), changed(recording, plans={}))


def test_plans_of_another_model_have_no_ghost(recording):
    other = replace(recording.info, plan_coordinates=tuple(f"q{k}" for k in range(7)))
    spatial = Recording(other, recording.ticks, recording.solves, recording.events, recording.plans)
    assert not plan_panels.draw_plans(Figure(), spatial)
    captions = Captions(spatial)
    assert all(captions.ghost(row) is None for row in range(0, 1000, 100))


def test_soles_are_where_the_legs_end(recording, kinematics):
    rows = np.array([0, 400, 900])
    soles = kinematics.soles(rows)
    for sole, row in zip(soles, rows):
        skeleton = kinematics.skeleton(int(row))
        np.testing.assert_allclose(skeleton.legs[:, -1], sole)
        assert skeleton.legs.shape == (4, 3, 3)
        hips = along(recording, skeleton.legs[:, 0], int(row))
        assert hips[:2].mean() > hips[2:].mean(), "front before back"


def test_feet_are_drawn_with_stills(recording):
    figure = Figure()
    assert plan_panels.draw_feet(figure, recording)
    assert len(figure.axes) == 2 + plan_panels.STILLS
    assert "Footfalls, last cycles" in titles_of(figure)


def test_stills_are_spread_over_the_last_whole_cycle(recording):
    rows = np.flatnonzero(panels.close_up(recording))
    times = recording.ticks["time"][plan_panels._instants(recording, rows)]
    np.testing.assert_allclose(np.diff(times), 0.06, atol=2.1e-3)
    assert times[-1] > times[0] + 0.29


def test_portraits_need_a_motion(recording):
    figure = Figure()
    assert plan_panels.draw_phases(figure, recording)
    assert len(figure.axes) == 5
    standing = changed(recording, ticks={"control_mode": np.ones(len(recording.ticks["time"]), dtype=np.int64)})
    assert not plan_panels.draw_phases(Figure(), standing)


def test_terms_that_are_always_zero_are_left_out(recording):
    figure = Figure()
    assert solver_panels.cost(figure, recording)
    explain(figure)
    texts = {text.get_text() for text in figure.legends[0].texts}
    assert {"state", "torque"} <= texts
    assert "touchdown" not in texts
    zero = {"cost_terms": np.zeros_like(recording.solves["cost_terms"])}
    assert not solver_panels.cost(Figure(), changed(recording, solves=zero))


@pytest.mark.parametrize("every", [1, 3])
def test_costs_of_failed_solves_are_infinite_and_leave_the_others_in_sight(recording, every):
    costs = recording.solves["cost"].copy()
    costs[::every] = np.inf
    figure = Figure()
    assert solver_panels.cost(figure, changed(recording, solves={"cost": costs}))
    top = figure.axes[0].get_ylim()[1]
    assert 0.0 < top < 10.0 * recording.solves["cost"].max()


def test_courses_of_the_solver_that_are_always_zero_are_left_out(recording):
    figure = Figure()
    assert solver_panels.courses(figure, recording)
    shown = titles_of(figure)
    assert shown[0] == "Iterations of each solve"
    assert any("θ" in title for title in shown)
    assert not any("cone" in title for title in shown), "it is 0 in the made-up run"
    first_order = changed(recording, solves={"theta": np.zeros(len(recording.solves["time"]))})
    solver_panels.courses(figure := Figure(), first_order)
    assert not any("θ" in title for title in titles_of(figure))


def test_planned_forces_are_drawn_along_the_heading(recording):
    n = len(recording.ticks["time"])
    forces = np.zeros((n, 4, 3))
    forces[:, 0] = 0.0, 20.0, 50.0
    orientation = np.tile([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)], (n, 1))
    turned = changed(recording, ticks={"planned_forces": forces, "orientation": orientation})
    info = replace(recording.info, force_dimension=3, contact_points=("fr", "fl", "hr", "hl"))
    panels.planned_cone(axes := Figure().subplots(), Recording(info, turned.ticks, turned.solves, turned.events))
    dots = np.vstack([one.get_xydata() for one in axes.lines if one.get_linestyle() == "None"])
    assert dots == pytest.approx(np.tile([20.0, 50.0], (len(dots), 1))), "y of odom lies ahead of it"


@pytest.mark.parametrize("column", [name for name, *_ in solver_panels.COURSES])
def test_courses_leave_out_what_a_failed_solve_has_not(recording, column):
    values = np.linspace(0.1, 1.0, len(recording.solves["time"]))
    values[3:5] = np.inf, np.nan
    solver_panels.courses(figure := Figure(), changed(recording, solves={column: values}))
    figure.canvas.draw()
    drawn = {line for axes in figure.axes for line in axes.lines if len(line.get_xdata()) == len(values) - 2}
    assert drawn


def test_every_band_is_explained_once(recording):
    figure = Figure()
    one, other = figure.subplots(1, 2)
    panels.speed(one, recording)
    panels.height(other, recording)
    explain(figure)
    assert [text.get_text() for text in figure.legends[0].texts] == ["grey: standing or damped", "red: push"]


def test_angles_that_are_always_zero_have_no_panel(recording):
    straight = changed(recording, ticks={"orientation": np.tile([0.0, 0.0, 0.0, 1.0], (1000, 1))})
    assert [panels.angle_is_idle(straight, index) for index in range(3)] == [True] * 3
    figure = Figure()
    plots._body(figure, straight)
    assert titles_of(figure) == ["Height"]
    plots._body(figure := Figure(), recording)
    assert titles_of(figure) == ["Height", "Pitch", "Roll", "Yaw"]
    assert is_idle(np.array([np.nan]), 0.0)


def test_joints_without_a_torque_have_no_panel(recording):
    torques = recording.ticks["torques"].copy()
    torques[:, 0::3] = 0.0
    plots._torques(figure := Figure(), changed(recording, ticks={"torques": torques}))
    assert len(figure.axes) == 8


def test_figures_of_which_nothing_is_left_are_taken_away(recording, tmp_path, monkeypatch):
    figures = {name: plots._FIGURES[name] for name in ("plan", "gait")}
    monkeypatch.setattr(plots, "_FIGURES", figures)
    assert [path.name for path in plots.save_all(recording, tmp_path)] == ["plan.png", "gait.png"]
    bare = changed(recording, plans={})
    assert [path.name for path in plots.save_all(bare, tmp_path)] == ["gait.png"]
    assert not (tmp_path / "plan.png").exists()


def test_captions_tell_time_speed_phase_and_plan(recording):
    captions = Captions(recording)
    row = int(np.searchsorted(recording.ticks["time"], BEGINS[2] + 0.1))
    lines = captions.lines(row)
    assert lines["time"] == "1.50 s"
    assert lines["speed"] == "0.50 m/s, asked for 0.50"
    assert lines["bound"].endswith("stance") or lines["bound"].endswith(("front", "back"))
    assert lines["ghost"] == "plan of 0.10 s ago"
    ghost = captions.ghost(row)
    assert ghost is not None
    assert ghost.position[2] == pytest.approx(recording.ticks["position"][row, 2] + 0.01, abs=1e-3)
    assert captions.lines(0)["mode"] == "stand"
    assert captions.ghost(0) is None


def test_ghost_and_text_are_in_the_picture(recording):
    row = int(np.searchsorted(recording.ticks["time"], BEGINS[2] + 0.1))
    with_plans, without = Captions(recording), Captions(changed(recording, plans={}))
    try:
        with video._renderer(recording) as renderer:
            shown = video._frame(renderer, recording, row, with_plans).astype(int)
            hidden = video._frame(renderer, recording, row, without).astype(int)
            assert np.array_equal(video._frame(renderer, recording, row, without), hidden), "it leaves nothing behind"
            bare = renderer.frame(recording.state(row)).astype(int)
    except SimulationError as error:
        pytest.skip(str(error))
    half = shown.shape[0] // 2, shown.shape[1] // 2
    assert np.abs(shown - hidden)[half[0] :].max() > 20, "the ghost"
    assert np.abs(hidden - bare)[: half[0] // 2, : half[1] // 2].max() > 100, "the text"
