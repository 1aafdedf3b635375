import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import RunOptions

PROFILE = ((0.0, 0.0), (2.0, 1.0), (8.0, -0.5))


@pytest.mark.parametrize(("time", "speed"), [(-1.0, 0.0), (0.0, 0.0), (1.99, 0.0), (2.0, 1.0), (50.0, -0.5)])
def test_speed_holds_between_breakpoints(time, speed):
    assert RunOptions(speed=PROFILE).speed_at(time) == speed


@pytest.mark.parametrize(("time", "speed"), [(0.0, 0.0), (1.0, 0.5), (2.0, 1.0), (5.0, 0.25), (8.0, -0.5), (9.0, -0.5)])
def test_speed_ramps_between_breakpoints(time, speed):
    assert RunOptions(speed=PROFILE, ramp=True).speed_at(time) == pytest.approx(speed)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"duration": 0.0}, "duration"),
        ({"duration": float("nan")}, "duration"),
        ({"speed": ()}, "breakpoint"),
        ({"speed": ((1.0, 0.5),)}, "first breakpoint"),
        ({"speed": ((0.0, 0.5), (0.0, 1.0))}, "increase"),
        ({"speed": ((0.0, float("inf")),)}, "finite"),
        ({"speed": ((0.0, 40.0),)}, "4.0 m/s"),
        ({"variant": "newton"}, "ddp, ilqr, ddp_tensor, quasi_newton"),
        ({"backend": "robot"}, "mujoco, lcm"),
        ({"overrides": {"bridge.guard.torque_share": 0.5}}, "backend lcm"),
        ({"seed": -1}, "seed"),
        ({"friction": 0.0}, "friction"),
        ({"friction": float("nan")}, "friction"),
        ({"trunk_mass_scale": 0.0}, "trunk_mass_scale"),
        ({"planner_delay": 0.2}, "planner_delay"),
        ({"planner_delay": 0.005, "lockstep": False}, "lock-step"),
        ({"overrides": {"friction": 0.5}}, "planner, controller, simulator"),
        ({"overrides": {"planner.": 0.5}}, "section"),
    ],
)
def test_what_is_out_of_range_is_named(options, words):
    with pytest.raises(ParameterError, match=words):
        RunOptions(**options)


@pytest.mark.parametrize(
    "push", [(-1.0, (0.0, 0.0, 0.0), 0.1), (1.0, (0.0, 0.0, 0.0), 0.0), (1.0, (0.0, float("nan"), 0.0), 0.1)]
)
def test_impossible_pushes_are_refused(push):
    with pytest.raises(ParameterError, match="push"):
        Push(*push)


def test_overrides_win_over_the_file_and_stay_in_their_section(tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text("planner:\n  ros__parameters:\n    weights: {height: 1.0}\n    friction: 0.5\n")
    options = RunOptions(config=file, overrides={"planner.friction": 0.7, "controller.stand.height": 0.3})
    assert options.parameters("planner") == {"weights.height": 1.0, "friction": 0.7}
    assert options.parameters("controller") == {"stand.height": 0.3}
    assert options.parameters("simulator") == {}


def test_the_world_reaches_the_simulator_and_overrides_win():
    options = RunOptions(friction=0.5, seed=3, terrain="step:2,0.03")
    assert options.simulator_parameters() == {
        "friction": 0.5,
        "trunk_mass_scale": 1.0,
        "seed": 3,
        "terrain": "step:2,0.03",
    }
    lower = RunOptions(terrain="step:2,0.03", overrides={"simulator.terrain": "slope:3"})
    assert lower.simulator_parameters()["terrain"] == "slope:3"
    assert RunOptions().simulator_parameters()["terrain"] == "flat"
