"""Defaults follow a robot's size by their units, its file comes on top, and the Mini Cheetah's stay as they are."""

import math
from pathlib import Path

import pytest
import quadruped

from contact_ddp_ros.base.config import flatten, specs, validate
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.profile import packaged_robots
from contact_ddp_ros.runs.closed_loop import run
from contact_ddp_ros.runs.figures import figures_of
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.robot_scaling import SIMILAR, exponents, scales
from contact_ddp_ros.runs.scenario import scenario


def test_the_mini_cheetahs_parameters_stay_as_they_are() -> None:
    assert scales(load_robot()) == scales(load_robot("mini_cheetah")) == (1.0, 1.0)
    found = scenario(RunOptions())
    assert (found.planner, found.controller, found.simulator) == (PlannerConfig(), ControllerConfig(), SimOptions())


@pytest.mark.parametrize(
    ("unit", "powers"),
    [
        ("", (0.0, 0.0)),
        ("m", (1.0, 0.0)),
        ("m/s", (0.5, 0.0)),
        ("m/s^2", (0.0, 0.0)),
        ("1/s^2", (-1.0, 0.0)),
        ("N m s/rad", (1.5, 1.0)),
        ("1/(N m)^2", (-2.0, -2.0)),
        ("s^2/m^2", (-1.0, 0.0)),
        ("kg m^2", (2.0, 1.0)),
    ],
)
def test_powers_of_length_and_mass_follow_from_the_unit(unit: str, powers: tuple[float, float]) -> None:
    assert exponents(unit) == powers


def test_every_unit_of_a_parameter_that_follows_the_size_is_known() -> None:
    for section, config in (("planner", PlannerConfig()), ("controller", ControllerConfig())):
        table = specs(config)
        for beginning in SIMILAR[section]:
            assert any(name.startswith(beginning) for name in table), beginning
        for name, spec in table.items():
            if name.startswith(SIMILAR[section]):
                exponents(spec.unit)
    with pytest.raises(ValueError, match="'Hz'; known"):
        exponents("Hz")


def test_gains_follow_shanks_that_are_too_light_for_them(tmp_path: Path) -> None:
    """The inertia about the knee of a shank without a rotor: 0.2 kg, 8 cm from it, and its own."""
    gains, damping, rotor = {}, {}, 0.002
    for armature in (0.0, rotor, 1.0):
        file = quadruped.write(tmp_path, joints={"armature": [armature] * 3})
        planner, robot = scenario(RunOptions(robot=str(file))).planner, load_robot(file)
        gains[armature] = planner.first_guess.kp, planner.first_guess.kd
        damping[armature] = scenario(RunOptions(robot=str(file))).controller.drive.kd_damping[0]
        length, mass = scales(robot)
    assert gains[1.0][0] == pytest.approx(PlannerConfig().first_guess.kp * length * mass)
    shank = 0.2 * 0.08**2 + 0.2 * 4e-3
    for one in (0, 1):
        assert gains[0.0][one] / gains[rotor][one] == pytest.approx(shank / (shank + rotor))
    assert damping[0.0] == pytest.approx(0.6 * shank / 0.001), "a share of the speed in a step of 1 ms"
    assert damping[1.0] == pytest.approx(ControllerConfig().drive.kd_damping[0] * length**1.5 * mass)


@pytest.mark.parametrize("name", sorted(packaged_robots()))
def test_every_packaged_robot_is_within_the_ranges_of_its_size(name: str) -> None:
    found = scenario(RunOptions(robot=name))
    robot, planner, controller = found.robot, found.planner, found.controller
    length, mass = scales(robot)
    validate(planner)
    validate(controller)
    assert planner.reference.height == pytest.approx(0.27 * length)
    assert specs(planner)["reference.height"].high == pytest.approx(0.36 * length)
    assert controller.stand.kp[0] == pytest.approx(80.0 * mass * length)
    assert planner.gait.stretch == pytest.approx(math.sqrt(length))
    assert planner.gait.step == PlannerConfig().gait.step and planner.rate == PlannerConfig().rate
    assert controller.stand.pose == pytest.approx(tuple(robot.standing[:3]))
    assert flatten(scenario(RunOptions(robot=name)).planner) == flatten(planner)


def test_the_robots_file_is_on_top_of_its_size_and_the_run_on_top_of_both(tmp_path: Path) -> None:
    given = {"planner": {"reference": {"height": 0.25}, "weight.pitch": 50.0}, "simulator": {"timestep": 0.0005}}
    file = quadruped.write(tmp_path, parameters=given)
    found = scenario(RunOptions(robot=str(file), overrides={"planner.weight.pitch": 60.0}))
    assert (found.planner.reference.height, found.planner.weight.pitch) == (0.25, 60.0)
    assert found.simulator.timestep == 0.0005


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"reference": {"hight": 0.25}}, "unknown parameter reference.hight; did you mean reference.height"),
        ({"reference": {"height": 2.0}}, "reference.height is 2.0; allowed"),
    ],
)
def test_a_parameter_that_a_robots_file_may_not_set_is_refused(tmp_path: Path, values: dict, words: str) -> None:
    file = quadruped.write(tmp_path, parameters={"planner": values})
    with pytest.raises(ParameterError, match=words) as told:
        scenario(RunOptions(robot=str(file)))
    assert "small.yaml" in str(told.value) and "parameters.planner" in str(told.value)


def test_behind_the_bridge_to_the_robot_is_a_mini_cheetah() -> None:
    with pytest.raises(ParameterError, match="behind the backend lcm there is always a mini_cheetah"):
        RunOptions(robot="go1", backend="lcm")


PROMPT = {"controller.stand.ramp_time": 0.3}


@pytest.fixture(scope="module")
def go1() -> Recording:
    return run(RunOptions(robot="go1", duration=2.8, speed=((0.0, 0.8),), overrides=PROMPT))


def test_another_robot_stands_up_and_bounds(go1: Recording) -> None:
    summary = figures_of(go1)
    assert not summary["fell"], summary
    late = go1.ticks["time"] > 1.3
    assert go1.heading_velocity[late, 0].mean() == pytest.approx(0.8, abs=0.05)
    assert 0.12 < go1.rpy[late, 1].max() < 0.3
    heights = go1.ticks["foot_heights"][late]
    assert ((heights > 0.03).any(axis=0) & (heights < 0.002).any(axis=0)).all(), "every foot swings and lands"
    shares = abs(go1.ticks["torques"][late]) / load_robot("go1").effort_limits
    assert shares.max() < 1.0


def test_a_robot_unlike_the_mini_cheetah_trots_from_its_urdf_alone(tmp_path: Path) -> None:
    """Hind knees that bend forwards, feet beside their shanks, a footprint for a root."""
    root = '<robot name="odd"><link name="footprint"/><joint name="up" type="fixed"><parent link="footprint"/>'
    root += '<child link="body"/><origin xyz="-0.1 0 0.3"/></joint>'
    text = quadruped.urdf(hind=-1, ahead=0.005).replace('<robot name="small">', root)
    (tmp_path / "odd.urdf").write_text(text, encoding="utf-8")
    robot = load_robot(tmp_path / "odd.urdf")
    assert robot.joint_map is not None
    assert robot.joint_map.forward == {"fr": False, "fl": False, "hr": True, "hl": True}
    assert robot.joint_map.root[1] == pytest.approx([0.1, 0.0, -0.31])
    recording = run(RunOptions(robot=str(tmp_path / "odd.urdf"), gait="trot", duration=3.8, overrides=PROMPT))
    assert not recording.fell, recording.fall
    assert recording.steady_velocity == pytest.approx([0.5, 0.0, 0.0], abs=0.02)
    late = recording.ticks["time"] > 1.3
    assert recording.height[late].mean() == pytest.approx(0.27 * scales(robot)[0], abs=0.01)


def test_a_recording_knows_its_robot(go1: Recording) -> None:
    assert go1.info.options["robot"] == "go1"
    assert go1.info.fall_height == pytest.approx(0.15 * scales(load_robot("go1"))[0])
    assert go1.info.parameters["controller"]["drive.kp"] == pytest.approx((31.0, 23.25, 23.25), abs=0.01)
