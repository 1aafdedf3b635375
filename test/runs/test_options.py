import pytest

from contact_ddp_ros.base.config import specs
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import OPTIONS, SHORT_FOR, RunOptions

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
    assert options.parameters("simulator") == {"friction": 0.5, "seed": 3, "terrain": "step:2,0.03"}
    assert options.in_effect("trunk_mass_scale") == 1.0
    assert RunOptions(overrides={"simulator.terrain": "slope:3"}).in_effect("terrain") == "slope:3"
    assert RunOptions().in_effect("terrain") == "flat"
    with pytest.raises(ParameterError, match=r"step:2,0\.03 by an option and slope:3 by --set"):
        RunOptions(terrain="step:2,0.03", overrides={"simulator.terrain": "slope:3"})


def test_options_that_are_short_for_a_parameter_allow_what_it_allows():
    sections = {"planner": PlannerConfig(), "simulator": SimOptions()}
    table = {f"{section}.{name}": spec for section, one in sections.items() for name, spec in specs(one).items()}
    for name, target in SHORT_FOR.items():
        own, theirs = OPTIONS[name], table[target]
        assert (own.default, own.low, own.high) == (theirs.default, theirs.low, theirs.high), name
        assert own.choices == theirs.choices


def test_a_gait_may_be_a_sequence_and_a_speed_a_number():
    options = RunOptions(gait="0:trot,4:pronk", speed=1)
    assert (options.gait, options.gaits, options.speed) == ("trot", ((4.0, "pronk"),), ((0.0, 1.0),))
