"""Every engine has the same robot: dynamics in the air, weight on the ground, pushes and friction; and it bounds."""

import argparse
import copy
import sys
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from benchmarks.benchmark import add_setting_option
from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.base.errors import ParameterError, SimulationError
from contact_ddp_ros.plants.bodies import bodies_of
from contact_ddp_ros.plants.engines import PACKAGES, make_simulator
from contact_ddp_ros.plants.options import ENGINES, ContactOptions, NoiseOptions, PayloadOptions, SimOptions
from contact_ddp_ros.plants.simulator import PhysicsSimulator
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.robot.joints import BASE_JOINTS
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState
from contact_ddp_ros.runs import closed_loop
from contact_ddp_ros.runs.options import SENSOR_ERRORS, RunOptions

Array = NDArray[np.float64]

ROBOT = load_robot()
N = ROBOT.n_joints
STIFF = DriveGains(kp=np.full(N, 80.0), kd=np.full(N, 2.0), kd_damping=np.full(N, 2.5))
LIMP = DriveGains(kp=np.zeros(N), kd=np.zeros(N), kd_damping=np.zeros(N))
STAND = JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N))


def simulator(engine: str, gains: DriveGains = STIFF, robot: Robot = ROBOT, **options: object) -> PhysicsSimulator:
    pytest.importorskip(PACKAGES[engine])
    return make_simulator(robot, gains, SimOptions(engine=engine, **options))  # type: ignore[arg-type]


def random_state(rng: np.random.Generator, time: float = 0.0) -> RobotState:
    """In the air, joints away from their limits."""
    return RobotState(
        time=time,
        position=np.array([0.3, -0.2, 2.0]),
        orientation=rpy_to_quaternion(*rng.uniform(-0.8, 0.8, 3)),
        linear_velocity=rng.normal(size=3),
        angular_velocity=rng.normal(scale=2.0, size=3),
        joint_positions=ROBOT.standing + rng.uniform(-0.4, 0.4, N),
        joint_velocities=rng.normal(scale=3.0, size=N),
    )


def frictionless() -> Robot:
    """The robot with joints that turn freely."""
    base, drives = ROBOT.tree.joints[: len(BASE_JOINTS)], ROBOT.tree.joints[len(BASE_JOINTS) :]
    free = tuple(replace(joint, damping=0.0, dry_friction=0.0) for joint in drives)
    return replace(ROBOT, tree=replace(ROBOT.tree, joints=(*base, *free)))


def free_flyer(options: SimOptions) -> pin.Model:
    """The bodies in pinocchio; joints in the order of JOINT_NAMES."""
    model = pin.Model()
    model.gravity.linear = np.asarray(ROBOT.tree.gravity)
    numbers: dict[str, int] = {}
    for body in bodies_of(ROBOT, options):
        joint = body.joint
        if body.parent:
            kind = pin.JointModelRevoluteUnaligned(np.asarray(joint.axis))
            placement = pin.SE3(joint.rotation, joint.translation)
            numbers[body.name] = model.addJoint(numbers[body.parent], kind, placement, joint.name)
        else:
            numbers[body.name] = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), body.name)
        inertia = pin.Inertia(body.mass, body.com, body.inertia)
        model.appendBodyToJoint(numbers[body.name], inertia, pin.SE3.Identity())
    return model


@pytest.mark.parametrize("engine", ENGINES)
def test_reset_and_state_are_inverse(engine: str) -> None:
    sim, state = simulator(engine), random_state(np.random.default_rng(1), time=3.5)
    sim.reset(state)
    found = sim.truth().state
    trunk, joints = (1e-12, 1e-12) if engine == "mujoco" else (1e-6, 1e-9)
    for name in ("position", "orientation", "linear_velocity", "angular_velocity"):
        assert getattr(found, name) == pytest.approx(getattr(state, name), abs=trunk), name
    assert found.joint_positions == pytest.approx(state.joint_positions, abs=joints)
    assert found.joint_velocities == pytest.approx(state.joint_velocities, abs=joints)
    sim.advance(5)
    assert sim.time == pytest.approx(3.5 + 5 * sim.timestep, abs=1e-9)
    sim.reset()
    assert sim.time == 0.0
    assert sim.truth().state.joint_positions == pytest.approx(ROBOT.standing, abs=1e-9)


@pytest.mark.parametrize("engine", ["dart", "bullet"])
@pytest.mark.parametrize("payload", [0.0, 2.0])
def test_forward_dynamics_in_the_air_is_pinocchios_of_the_same_bodies(engine: str, payload: float) -> None:
    rng = np.random.default_rng(2)
    state, torques, step = random_state(rng), rng.uniform(-12.0, 12.0, N), 1e-4
    world = SimOptions(payload=PayloadOptions(mass=payload, x=0.1, y=-0.05))
    sim = simulator(engine, LIMP, frictionless(), timestep=step, payload=world.payload)
    sim.reset(state)
    sim.write(JointCommand(ROBOT.standing, np.zeros(N), torques))
    sim.advance()
    after = sim.truth().state

    model = free_flyer(world)
    q = np.concatenate([state.position, state.orientation, state.joint_positions])
    v = np.concatenate([state.linear_velocity, state.angular_velocity, state.joint_velocities])
    force = np.concatenate([np.zeros(6), torques])
    acceleration = pin.aba(model, model.createData(), q, v, force)
    expected = v + step * acceleration
    found = np.concatenate([after.linear_velocity, after.angular_velocity, after.joint_velocities])
    scale = step * np.abs(acceleration).max()
    assert np.abs(found - expected).max() < 0.01 * scale, "but for terms of the second order in the step"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_push_is_its_impulse(engine: str) -> None:
    changes = []
    for force, torque in ((np.zeros(3), np.zeros(3)), (np.array([30.0, -20.0, 10.0]), np.array([2.0, -3.0, 1.0]))):
        sim = simulator(engine, LIMP, timestep=0.0005)
        state = random_state(np.random.default_rng(3))
        sim.reset(replace(state, joint_velocities=np.zeros(N), angular_velocity=np.zeros(3)))
        sim.push(force, 0.01, torque)
        momenta = []
        for _ in range(2):
            momenta.append(momentum(sim.truth().state, state.position))
            sim.advance(30)
        changes.append(momenta[1] - momenta[0])
    linear, angular = np.split(changes[1] - changes[0], 2)
    assert linear == pytest.approx(0.01 * np.array([30.0, -20.0, 10.0]), abs=1e-5)
    assert angular == pytest.approx(0.01 * np.array([2.0, -3.0, 1.0]), abs=5e-3), "about where it was pushed"


def momentum(state: RobotState, about: Array) -> Array:
    """(6,) linear and angular momentum in `odom` about a point of it [N s, N m s]."""
    model = free_flyer(SimOptions())
    data = model.createData()
    q = np.concatenate([state.position, state.orientation, state.joint_positions])
    v = np.concatenate([state.linear_velocity, state.angular_velocity, state.joint_velocities])
    own = pin.computeCentroidalMomentum(model, data, q, v)
    return np.concatenate([own.linear, own.angular + np.cross(data.com[0] - about, own.linear)])


@pytest.mark.parametrize("engine", ENGINES)
def test_feet_carry_the_weight_on_any_ground(engine: str) -> None:
    for word in ("flat", "slope:10", "slope:-8,90"):
        sim = simulator(engine, terrain=word)
        sim.write(STAND)
        sim.advance(800)
        assert sim.truth().contact_forces.sum(axis=0) == pytest.approx([0.0, 0.0, ROBOT.mass * 9.81], abs=1.0), word
        assert np.abs(sim.truth().foot_heights).max() < 2e-3, word
        assert sim.truth().contact_forces[:, 2].min() > 5.0, word
        up = quaternion_to_matrix(sim.truth().state.orientation).T @ np.array([0.0, 0.0, 9.81])
        assert sim.truth().specific_force == pytest.approx(up, abs=0.3), word


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("friction", "holds"), [(0.15, False), (0.35, True)])
def test_friction_is_the_options(engine: str, friction: float, holds: bool) -> None:
    sim = simulator(engine, terrain="slope:-14", friction=friction)  # tan 14 deg is 0.25
    sim.write(STAND)
    sim.advance(300)
    before = sim.truth().state.position
    sim.advance(500)
    slid = float(np.linalg.norm(sim.truth().state.position - before))
    assert slid < 5e-3 if holds else slid > 0.05


@pytest.mark.parametrize("engine", ENGINES)
def test_feet_are_over_boxes_where_the_terrain_is(engine: str) -> None:
    word = "step:0,0.06"
    sim = simulator(engine, terrain=word)
    sim.write(STAND)
    state = ROBOT.standing_state()
    sim.reset(replace(state, position=state.position + np.array([0.5, 0.0, 0.06])))
    sim.write(STAND)
    sim.advance(500)
    assert np.abs(sim.truth().foot_heights).max() < 2e-3
    assert parse_terrain(word).heights(sim.truth().state.position[None])[0] == 0.06


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_feet_are_over_hills_where_the_terrain_is(engine: str) -> None:
    pytest.importorskip(PACKAGES[engine])
    word = "rough:0.1,1.5,2"
    state = ROBOT.standing_state()
    places = np.stack([*np.meshgrid(np.arange(2.0, 8.0, 0.3), np.arange(-3.0, 3.0, 0.3)), np.zeros((20, 20))], axis=-1)
    places = places.reshape(-1, 3)
    heights = parse_terrain(word).heights(places)
    assert np.ptp(heights) > 0.05
    sim = simulator(engine, terrain=word)
    for at in (np.argmin(heights), np.argmax(heights), np.argmax(np.abs(np.diff(heights)))):
        sim.reset(replace(state, position=state.position + places[at] + np.array([0.0, 0.0, heights[at] + 0.03])))
        sim.write(STAND)
        sim.advance(800)
        assert np.abs(sim.truth().foot_heights).max() < 3e-3


def test_hills_are_refused_where_there_are_boxes_only() -> None:
    pytest.importorskip(PACKAGES["dart"])
    with pytest.raises(ParameterError, match=r"ground 'rough:0\.1': worlds of SDF have planes and boxes"):
        simulator("dart", terrain="rough:0.1")


@pytest.mark.parametrize(
    ("engine", "gait", "ground"), [("dart", "trot", "slope:6"), ("bullet", "bound", "boxes:0.02,3")]
)
def test_it_moves_in_other_physics_on_the_same_imu(engine: str, gait: str, ground: str) -> None:
    pytest.importorskip(PACKAGES[engine])
    overrides = {"simulator.engine": engine, "controller.stand.ramp_time": 0.3, **SENSOR_ERRORS}
    options = RunOptions(duration=4.3, gait=gait, terrain=ground, state="estimated", overrides=overrides, video=False)
    recording = closed_loop.run(options)
    assert recording.fall is None
    ticks = recording.ticks
    late = ticks["time"] > 2.3
    assert np.ptp(ticks["true_position"][late, 0]) / np.ptp(ticks["time"][late]) == pytest.approx(0.5, rel=0.04)
    noise = ticks["angular_velocity"] - ticks["true_angular_velocity"]
    assert np.abs(noise[10:50]).max(axis=0).min() > 0.003, "the gyroscope's bias is not learned yet"
    assert recording.info.parameters is not None
    assert recording.info.parameters["simulator"]["engine"] == engine


@pytest.mark.parametrize("engine", ["dart", "bullet"])
def test_what_only_mujoco_has_is_refused(engine: str) -> None:
    with pytest.raises(ParameterError, match=rf"simulator\.contact\.model is 'spring'; the engine {engine} takes"):
        simulator(engine, contact=ContactOptions(model="spring"))
    running = simulator(engine)
    running.advance()
    with pytest.raises(SimulationError, match=f"running world of the engine {engine} cannot be copied"):
        copy.deepcopy(running)


@pytest.mark.parametrize("engine", ["dart", "bullet"])
def test_a_world_that_has_not_moved_yet_has_an_independent_copy(engine: str) -> None:
    first = simulator(engine, noise=NoiseOptions(position=0.01))
    start = first.truth().state
    raised = replace(start, time=0.0, position=start.position + [0.0, 0.0, 0.1])
    first.reset(raised)
    twin = copy.deepcopy(first)
    np.testing.assert_array_equal(twin.read().position, first.read().position)
    twin.advance(50)
    assert first.time == 0.0
    assert first.truth().state.position[2] == pytest.approx(raised.position[2], abs=1e-9)
    first.advance(50)
    np.testing.assert_array_equal(twin.truth().state.position, first.truth().state.position)


def test_an_engine_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pybullet", None)
    monkeypatch.delitem(sys.modules, "contact_ddp_ros.plants.bullet", raising=False)
    with pytest.raises(ParameterError, match="needs the Python package pybullet, and that is not installed"):
        make_simulator(ROBOT, STIFF, SimOptions(engine="bullet"))


def test_an_unknown_engine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--engine", "havok", "--no-video"]) == 2
    assert "known: mujoco, dart, bullet" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["sim"], ["demo"], ["play"], ["motion", "jump"], ["sweep", "--set", "speed=0.3:1:2"]],
)
def test_every_job_that_simulates_takes_the_option_alike(words: list[str]) -> None:
    for chosen, given in (("dart", ["--engine", "dart"]), ("mujoco", [])):
        parsed = build_parser().parse_args([*words, *given])
        assert RunOptions(engine=getattr(parsed, "engine", None)).in_effect("engine") == chosen


def test_benchmarks_take_it_beside_other_settings() -> None:
    parser = argparse.ArgumentParser()
    add_setting_option(parser)
    options = parser.parse_args(["--set", "planner.rate=50", "--engine", "bullet"])
    assert dict(options.set) == {"planner.rate": 50, "simulator.engine": "bullet"}
    assert parser.parse_args([]).set == []
