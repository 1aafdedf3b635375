"""MuJoCo's robot is the URDF's: inertias, dynamics in the air, contacts, drives, pushes, sensors and clear errors."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError, SimulationError
from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.mujoco_model import GROUND_NAME
from contact_ddp_ros.plants.options import NoiseOptions, SimOptions
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES, joint_index
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, rpy_to_quaternion, up_in_body
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]
ROBOT = load_robot()
N = ROBOT.n_joints
WEIGHT = ROBOT.mass * 9.81
GAINS = DriveGains(kp=np.full(N, 80.0), kd=np.full(N, 2.0), kd_damping=np.full(N, 2.5))
STAND = JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N))


def simulator(**options: object) -> MujocoSimulator:
    return MujocoSimulator(ROBOT, GAINS, SimOptions(**options))  # type: ignore[arg-type]


def raised(height: float) -> RobotState:
    state = ROBOT.standing_state()
    return dataclasses.replace(state, position=state.position + np.array([0.0, 0.0, height]))


def random_state(rng: np.random.Generator) -> RobotState:
    return RobotState(
        time=0.0,
        position=np.array([0.3, -0.2, 2.0]),
        orientation=rpy_to_quaternion(*rng.uniform(-1.0, 1.0, 3)),
        linear_velocity=rng.normal(size=3),
        angular_velocity=rng.normal(scale=2.0, size=3),
        joint_positions=rng.uniform(-1.0, 1.0, N),
        joint_velocities=rng.normal(scale=3.0, size=N),
    )


def free_flyer() -> tuple[pin.Model, list[int]]:
    """Pinocchio's free-flyer with armature, and the velocity index of every joint."""
    model = pin.buildModelFromUrdf(str(ROBOT.urdf), pin.JointModelFreeFlyer())
    index = [model.idx_vs[model.getJointId(name)] for name in JOINT_NAMES]
    armature = np.zeros(model.nv)
    armature[index] = [joint.armature for joint in ROBOT.tree.joints[6:]]
    model.armature = armature
    return model, index


def body_inertia(model: mujoco.MjModel, link: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass in the parent's axes, and inertia about it."""
    body = model.body(link)
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, body.iquat)
    rotation = axes.reshape(3, 3)
    return float(body.mass[0]), body.ipos.copy(), rotation @ np.diag(body.inertia) @ rotation.T


def test_inertias_are_those_of_the_urdf() -> None:
    model = simulator().model
    links = {BASE_LINK: "base_roll"} | {name.removesuffix("_joint"): name for name in JOINT_NAMES}
    joints = {joint.name: joint for joint in ROBOT.tree.joints}
    for link, name in links.items():
        joint = joints[name]
        mass, com, inertia = body_inertia(model, link)
        if link.endswith("_knee"):  # the foot, fixed to it, carries its share about the same centre
            foot = link.replace("_knee", "_foot")
            more, at, moments = body_inertia(model, foot)
            assert np.allclose(at + model.body(foot).pos, com, atol=1e-12)
            mass, inertia = mass + more, inertia + moments
        assert mass == pytest.approx(joint.mass, rel=1e-12)
        assert np.allclose(com, joint.com, atol=1e-12)
        assert np.allclose(inertia, joint.inertia, atol=1e-12)
    assert model.body_mass.sum() == pytest.approx(ROBOT.mass, rel=1e-12)
    assert np.allclose(model.dof_armature[6:], [joint.armature for joint in ROBOT.tree.joints[6:]])


def test_trunk_mass_scale_is_only_the_trunk() -> None:
    nominal, heavy = simulator().model, simulator(trunk_mass_scale=1.1).model
    trunk = nominal.body(BASE_LINK).id
    assert heavy.body_mass[trunk] == pytest.approx(1.1 * nominal.body_mass[trunk])
    assert np.allclose(heavy.body_inertia[trunk], 1.1 * nominal.body_inertia[trunk])
    assert np.allclose(np.delete(heavy.body_mass, trunk), np.delete(nominal.body_mass, trunk))


@pytest.mark.parametrize("seed", range(3))
def test_forward_dynamics_in_the_air_is_pinocchios(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sim, state, torques = simulator(), random_state(rng), rng.uniform(-15.0, 15.0, N)
    sim.model.dof_damping[:] = 0.0
    sim.model.dof_frictionloss[:] = 0.0
    sim.reset(state)
    sim.data.ctrl[sim._actuators.indices] = torques
    mujoco.mj_forward(sim.model, sim.data)

    model, index = free_flyer()
    q, v, force = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    q[:7] = [*state.position, *state.orientation]
    q[np.array(index) + 1] = state.joint_positions
    v[:6] = [*state.linear_velocity, *state.angular_velocity]
    v[index], force[index] = state.joint_velocities, torques
    acceleration = pin.aba(model, model.createData(), q, v, force)
    linear = quaternion_to_matrix(state.orientation) @ (
        acceleration[:3] + np.cross(state.angular_velocity, state.linear_velocity)
    )
    expected = np.concatenate([linear, acceleration[3:6], acceleration[index]])
    found = np.concatenate([sim.data.qacc[:6], sim.data.qacc[sim._v_index]])
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


def test_velocities_are_derivatives_in_their_frames() -> None:
    sim = simulator()
    sim.reset(random_state(np.random.default_rng(2)))
    sim.advance(20)
    before = sim.read()
    sim.advance()
    after = sim.read()
    rotation = quaternion_to_matrix(before.orientation)
    moved = (after.position - before.position) / sim.timestep
    turned = pin.log3(rotation.T @ quaternion_to_matrix(after.orientation)) / sim.timestep
    assert np.allclose(rotation.T @ moved, before.linear_velocity, atol=0.05)
    assert np.allclose(turned, before.angular_velocity, atol=0.3)
    assert np.allclose(turned, after.angular_velocity, atol=1e-6)


def test_foot_heights_are_those_of_the_tree() -> None:
    sim, state = simulator(), random_state(np.random.default_rng(4))
    sim.reset(state)
    feet = state.position + foot_positions(ROBOT, state.joint_positions) @ quaternion_to_matrix(state.orientation).T
    assert np.allclose(sim.truth().foot_heights, feet[:, 2] - ROBOT.foot_radius, atol=1e-12)


def test_free_fall() -> None:
    sim = simulator()
    sim.reset(raised(2.0))
    start = sim.read().position[2]
    sim.advance(300)
    # The semi-implicit steps of MuJoCo add g h t / 2 to the parabola.
    elapsed = 300 * sim.timestep
    fallen = 0.5 * 9.81 * elapsed * (elapsed + sim.timestep)
    assert sim.read().position[2] == pytest.approx(start - fallen, abs=1e-6)
    assert sim.truth().contact_forces.max() == 0.0
    assert np.abs(sim.truth().specific_force).max() < 1e-6
    assert (sim.truth().foot_heights > 1.0).all()


def test_standing_feet_carry_the_weight() -> None:
    sim = simulator()
    sim.write(STAND)
    sim.advance(2000)
    forces, state = sim.truth().contact_forces, sim.read()
    assert forces[:, 2].sum() == pytest.approx(WEIGHT, rel=1e-3)
    assert (forces[:, 2] > 0.2 * WEIGHT).all()
    assert np.abs(forces[:, :2].sum(axis=0)).max() < 0.1
    assert np.abs(sim.truth().foot_heights).max() < 1e-3
    assert np.abs(quaternion_to_rpy(state.orientation)).max() < 0.01
    assert np.abs(state.linear_velocity).max() < 1e-3
    assert np.allclose(sim.truth().specific_force, 9.81 * up_in_body(state.orientation), atol=0.05)


def test_a_hundred_newton_press_a_foot_in_by_less_than_a_millimetre() -> None:
    sim = simulator()
    sim.write(STAND)
    sim.advance(1000)
    sim.push(np.array([0.0, 0.0, -(400.0 - WEIGHT)]), 1.0)
    sim.advance(900)
    forces = sim.truth().contact_forces[:, 2]
    assert forces.sum() == pytest.approx(400.0, rel=0.02)
    assert (sim.truth().foot_heights > -1e-3).all()


def test_landing_is_inelastic_and_symmetric() -> None:
    sim = simulator()
    sim.reset(raised(0.1))
    sim.write(STAND)
    touched, bounce = False, 0.0
    for _ in range(300):
        sim.advance()
        touched = touched or bool((sim.truth().contact_forces[:, 2] > 0.0).any())
        bounce = max(bounce, float(sim.truth().foot_heights.max())) if touched else bounce
        assert not touched or sim.truth().foot_heights.min() > -2e-3
    state = sim.read()
    roll, _, yaw = quaternion_to_rpy(state.orientation)
    sides = state.joint_positions.reshape(2, 2, 3) * np.array([[[-1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]]]).transpose(
        1, 0, 2
    )
    assert touched
    assert bounce < 1e-3
    assert max(abs(roll), abs(yaw), abs(state.position[1])) < 1e-6
    assert np.allclose(sides[:, 0], sides[:, 1], atol=1e-6)


def sliding_velocities(sim: MujocoSimulator) -> Array:
    """(4, 2) horizontal velocities of the soles: the material points a radius below the centres."""
    mujoco.mj_forward(sim.model, sim.data)
    soles = np.zeros((len(FOOT_NAMES), 2))
    for index, foot in enumerate(sim._feet):
        twist = np.zeros(6)
        mujoco.mj_objectVelocity(sim.model, sim.data, mujoco.mjtObj.mjOBJ_GEOM, foot, twist, 0)
        soles[index] = (twist[3:] + np.cross(twist[:3], [0.0, 0.0, -ROBOT.foot_radius]))[:2]
    return soles


@pytest.mark.parametrize("friction", [0.5, 0.8, 1.0])
def test_sliding_feet_feel_the_friction_coefficient_times_the_normal_force(friction: float) -> None:
    sim = simulator(friction=friction)
    sim.reset(dataclasses.replace(ROBOT.standing_state(), linear_velocity=np.array([2.0, 1.0, 0.0])))
    sim.write(STAND)
    checked = 0
    for _ in range(30):
        before = sliding_velocities(sim)
        sim.advance()
        forces, after = sim.truth().contact_forces, sliding_velocities(sim)
        for force, first, last in zip(forces, before, after, strict=True):
            tangential = np.linalg.norm(force[:2])
            assert tangential <= friction * force[2] * 1.001 + 1e-9
            if force[2] > 5.0 and min(first @ last, last @ last) > 0.2**2:
                checked += 1
                assert tangential == pytest.approx(friction * force[2], rel=0.01)
                assert -force[:2] @ last > 0.9 * tangential * np.linalg.norm(last)
    assert checked >= 2


@pytest.mark.parametrize("force", [[40.0, 0.0, 0.0], [0.0, -40.0, 10.0]])
def test_a_push_changes_the_momentum_by_its_impulse(force: list[float]) -> None:
    velocities, duration = [], 0.1
    for pushed in (False, True):
        sim = simulator()
        sim.reset(raised(2.0))
        sim.write(STAND)
        if pushed:
            sim.push(np.array(force), duration)
        sim.advance(150)
        mujoco.mj_subtreeVel(sim.model, sim.data)
        velocities.append(sim.data.subtree_linvel[sim.model.body(BASE_LINK).id].copy())
    change = velocities[1] - velocities[0]
    assert np.allclose(change, np.array(force) * duration / ROBOT.mass, atol=1e-6)


@pytest.mark.parametrize("force", [[0.0, 0.0, 0.0], [0.0, -40.0, 10.0]])
def test_a_moment_changes_the_angular_momentum_by_its_impulse(force: list[float]) -> None:
    """Compared with the same push without it, since the trunk's origin is not the robot's centre of mass."""
    momenta, torque, duration = [], np.array([4.0, -2.0, 1.0]), 0.05
    for moment in (np.zeros(3), torque):
        sim = simulator()
        sim.reset(raised(2.0))
        sim.write(STAND)
        sim.push(np.array(force), duration, moment)
        sim.advance(100)
        mujoco.mj_subtreeVel(sim.model, sim.data)
        momenta.append(sim.data.subtree_angmom[sim.model.body(BASE_LINK).id].copy())
    assert np.allclose(momenta[1] - momenta[0], torque * duration, atol=0.02 * np.linalg.norm(torque) * duration)


def test_pushes_add_up_and_end_and_keep_their_impulse() -> None:
    sim = simulator()
    sim.push(np.array([10.0, 0.0, 0.0]), 0.003)
    sim.push(np.array([0.0, 8.0, 0.0]), 0.0014)
    seen = []
    for _ in range(4):
        sim.advance()
        seen.append(sim.data.xfrc_applied[sim.model.body(BASE_LINK).id, :3].copy())
    assert np.allclose(seen[0], [10.0, 8.0 * 1.4, 0.0])
    assert np.allclose(seen[1], [10.0, 0.0, 0.0])
    assert np.allclose(seen[3], 0.0)


def test_drives_follow_their_law_and_clip() -> None:
    sim = simulator()
    state = random_state(np.random.default_rng(5))
    rng = np.random.default_rng(6)
    command = JointCommand(
        state.joint_positions + rng.normal(scale=0.1, size=N), rng.normal(size=N), rng.normal(size=N)
    )
    sim.reset(state)
    sim.write(command)
    sim.advance()
    assert command.positions is not None
    wanted = (
        command.torques
        + GAINS.kp * (command.positions - state.joint_positions)
        + GAINS.kd * (command.velocities - state.joint_velocities)
    )
    assert np.abs(wanted).max() > ROBOT.effort_limits.min()
    clipped = np.clip(wanted, -ROBOT.effort_limits, ROBOT.effort_limits)
    assert np.allclose(sim.truth().applied_torques, clipped)
    assert np.allclose(sim.data.qfrc_actuator[sim._v_index], clipped), "in the physics, too"


def test_damping_only_takes_energy_out() -> None:
    sim = simulator()
    state = random_state(np.random.default_rng(7))
    sim.reset(state)
    sim.write(JointCommand.damping(N))
    sim.advance()
    limits = ROBOT.effort_limits
    assert np.allclose(
        sim.truth().applied_torques, np.clip(-GAINS.kd_damping * state.joint_velocities, -limits, limits)
    )
    sim.advance(400)
    assert np.abs(sim.read().joint_velocities).max() < 0.2 * np.abs(state.joint_velocities).max()


def test_dry_friction_holds_a_joint_against_less_than_its_torque() -> None:
    """Without gravity a torque below the dry friction moves nothing, one above it does."""
    for torque, moves in ((0.15, False), (0.4, True)):
        sim = simulator()
        sim.model.opt.gravity[:] = 0.0
        sim.reset(raised(2.0))
        torques = np.zeros(N)
        knee = joint_index("fl", "knee")
        torques[knee] = torque
        free = dataclasses.replace(GAINS, kp=np.zeros(N), kd=np.zeros(N))
        sim._gains = free
        sim.write(JointCommand(ROBOT.standing, np.zeros(N), torques))
        sim.advance(200)
        travelled = abs(sim.read().joint_positions[knee] - ROBOT.standing[knee])
        assert (travelled > 0.05) == moves, travelled


def test_runs_repeat_exactly() -> None:
    noise = NoiseOptions(joint_velocities=0.1, orientation=0.01)
    ends = []
    for _ in range(2):
        sim = simulator(noise=noise, seed=3)
        sim.write(STAND)
        sim.push(np.array([5.0, 20.0, 0.0]), 0.05)
        sim.advance(200)
        ends.append(sim.read())
    for field in dataclasses.fields(RobotState):
        assert np.array_equal(getattr(ends[0], field.name), getattr(ends[1], field.name))


def test_noise_has_its_deviation_and_leaves_the_truth_alone() -> None:
    noise = NoiseOptions(0.01, 0.02, 0.03, 0.04, 0.05, 0.06)
    sim = simulator(noise=noise, seed=1)
    errors: dict[str, list[Array]] = {name: [] for name in ("position", "joint_positions", "joint_velocities")}
    turns = []
    sim.write(STAND)
    for _ in range(400):
        sim.advance()
        seen, true = sim.read(), sim.truth().state
        assert sim.read() is seen
        assert np.linalg.norm(seen.orientation) == pytest.approx(1.0)
        turns.append(pin.log3(quaternion_to_matrix(true.orientation).T @ quaternion_to_matrix(seen.orientation)))
        for name, values in errors.items():
            values.append(getattr(seen, name) - getattr(true, name))
    for name, values in errors.items():
        assert np.std(values) == pytest.approx(getattr(noise, name), rel=0.15), name
    assert np.std(turns) == pytest.approx(noise.orientation, rel=0.15)


def test_a_diverged_state_is_named() -> None:
    sim = simulator()
    sim.data.qvel[sim._v_index[2]] = np.nan
    with pytest.raises(SimulationError, match="joint velocities"):
        sim.advance()
    sim.reset()
    sim.advance()
    assert sim.read().is_finite()


def test_bad_input_is_refused() -> None:
    sim = simulator()
    with pytest.raises(SimulationError, match="finite"):
        sim.reset(dataclasses.replace(ROBOT.standing_state(), joint_positions=np.full(N, np.nan)))
    with pytest.raises(SimulationError, match="number of joints"):
        sim.reset(dataclasses.replace(ROBOT.standing_state(), joint_positions=np.zeros(7)))
    with pytest.raises(SimulationError, match="quaternion"):
        sim.reset(dataclasses.replace(ROBOT.standing_state(), orientation=np.zeros(4)))
    sim.write(STAND)
    with pytest.raises(SimulationError, match="12 finite"):
        sim.write(JointCommand(ROBOT.standing, np.zeros(N), np.full(N, np.inf)))
    with pytest.raises(SimulationError, match="12 finite"):
        sim.write(JointCommand(np.zeros(4), np.zeros(N), np.zeros(N)))
    assert sim._command is STAND
    for force, duration in (([1.0, 2.0], 0.1), ([np.nan, 0.0, 0.0], 0.1), ([1.0, 0.0, 0.0], 0.0)):
        with pytest.raises(ParameterError, match="push"):
            sim.push(np.array(force), duration)


@pytest.mark.parametrize("options", [{"friction": -1.0}, {"timestep": 0.1}, {"trunk_mass_scale": 0.0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        simulator(**options)


def test_only_the_ground_touches_the_robot() -> None:
    sim = simulator()
    sim.advance(1500)
    pairs = {frozenset(pair) for pair in sim.data.contact.geom.tolist()}
    assert pairs
    assert all(sim.model.geom(GROUND_NAME).id in pair for pair in pairs)
    assert {sim.model.geom(int(i)).name for i in sim._feet} == set(FOOT_NAMES)


def placed(x: float, height: float) -> RobotState:
    """Standing with the trunk's origin over x [m], all feet `height` above the plane z = 0."""
    return dataclasses.replace(raised(height), position=raised(height).position + np.array([x, 0.0, 0.0]))


@pytest.mark.parametrize("height", [0.03, -0.02])
@pytest.mark.parametrize("x, level", [(0.0, 0.0), (4.0, 1.0)])
def test_the_robot_stands_on_either_level_of_a_step(height: float, x: float, level: float) -> None:
    sim = simulator(terrain=f"step:2,{height}")
    sim.reset(placed(x, level * height + 0.01))
    sim.write(STAND)
    sim.advance(1500)
    state = sim.read()
    feet = state.position + foot_positions(ROBOT, state.joint_positions) @ quaternion_to_matrix(state.orientation).T
    assert np.allclose(feet[:, 2] - ROBOT.foot_radius, level * height, atol=1e-3)
    assert np.abs(sim.truth().foot_heights).max() < 1e-3
    assert sim.truth().contact_forces[:, 2].sum() == pytest.approx(WEIGHT, rel=1e-3)


def test_feet_before_and_beyond_the_edge_stand_on_their_own_levels() -> None:
    sim = simulator(terrain="step:2,0.03")
    sim.reset(placed(2.0, 0.031))
    sim.write(STAND)
    sim.advance(2000)
    front = np.array([name.startswith("f") for name in FOOT_NAMES])
    heights = sim.data.geom_xpos[sim._feet, 2] - ROBOT.foot_radius
    assert np.allclose(heights, np.where(front, 0.03, 0.0), atol=1e-3)
    assert np.abs(sim.truth().foot_heights).max() < 1e-3
    assert (sim.truth().contact_forces[:, 2] > 0.1 * WEIGHT).all()
    assert quaternion_to_rpy(sim.read().orientation)[1] < -0.05


def test_a_step_far_away_changes_nothing() -> None:
    ends = []
    for terrain in ("flat", "step:5,0.03"):
        sim = simulator(terrain=terrain)
        sim.reset(raised(0.05))
        sim.write(STAND)
        sim.advance(300)
        ends.append(sim.data.qpos.copy())
    assert np.array_equal(*ends)
