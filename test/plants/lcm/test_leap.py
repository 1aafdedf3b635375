"""Controller, bridge and the robot's compiled side in a closed loop, under the calls of Cheetah-Software's RobotRunner.

The robot's program brings the legs to its initial pose first, without calling its controller. A stand that was asked
for meanwhile must not set in at the handover, and the controller must notice whatever is not executed.
"""

import ctypes
from collections.abc import Callable

import numpy as np
import pytest
from compiled_robot_side import Joints, Targets, compiled
from lcm_frames import ROBOT, N

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.guard import CommandGuard, GuardConfig
from contact_ddp_ros.plants.lcm.codec import LEG_CONTROL_COMMAND, PD_TAU_TARGETS, decode, encode
from contact_ddp_ros.plants.lcm.conventions import executed_values, targets_frame
from contact_ddp_ros.plants.lcm.execution import ExecutionWatch
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.state import DriveGains, JointCommand

TICK = 0.002
HANDOVER = 2.0
INITIAL = np.array([-0.6, -1.0, 2.7, 0.6, -1.0, 2.7] * 2)
MEMBERS = ("q_des", "qd_des", "tau_ff", "kp", "kd")
CONFIG = ControllerConfig()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("robot_side"))


class Loop:
    """One robot on the ground, its program just started."""

    def __init__(self, library: ctypes.CDLL, *, tells: bool, config: ControllerConfig = CONFIG) -> None:
        """`tells`: whether the robot says what its drives are commanded."""
        gains = config.drive.gains(4)
        self.controller, self.guard = Controller(ROBOT, config), CommandGuard(ROBOT, gains, GuardConfig())
        self.simulator = make_simulator(ROBOT, gains, SimOptions())
        self.remote, self.watch = Joints(library), ExecutionWatch()
        self.heights: list[float] = []
        self.torques: list[float] = []
        self.cut = self.stopped = False
        self._tells = tells
        self._origin = self.simulator.read().joint_positions
        self._steps = round(TICK / self.simulator.timestep)

    @property
    def now(self) -> float:
        return float(self.simulator.time)

    def tick(self) -> None:
        """Robot, bridge and controller, each once."""
        command, gains = self._program()
        if self._tells:
            told = encode(LEG_CONTROL_COMMAND, executed_values(command, gains))
            self.controller.execution = self.watch.executed(told, self.now)
        self.simulator.write(command, gains)
        self.simulator.advance(self._steps)
        state, now = self.simulator.read(), self.now
        self.heights.append(float(state.position[2]))
        self.torques.append(float(np.abs(self.simulator.truth().applied_torques).max()))
        self.guard.measured(state, now)
        self.guard.command(self.controller.update(state, now), now, now)
        frame = targets_frame(self.guard.targets(now), np.zeros(4), now, 0)
        self.watch.sent(frame, now)
        if not self.cut:
            values = decode(frame, [PD_TAU_TARGETS])
            targets = Targets(*((ctypes.c_double * N)(*values.array(name)) for name in MEMBERS))
            self.remote.take(targets, now)

    def run(self, until: float | Callable[[], bool]) -> None:
        """Up to a time [s], or until a condition holds, for 20 s at most."""
        while (self.now < until) if isinstance(until, float) else not until():
            assert self.now < 20.0
            self.tick()

    def _program(self) -> tuple[JointCommand, DriveGains]:
        """RobotRunner: its initial pose, the radio's stop, or the controller."""
        if self.now < HANDOVER:
            positions = self._origin + self.now / HANDOVER * (INITIAL - self._origin)
            return JointCommand(positions, np.zeros(N), np.zeros(N)), _gains(5.0, 0.1)
        if self.stopped:
            self.remote.disarm()
            return JointCommand.damping(N), _gains(0.0, 0.0)
        _, out = self.remote.call(self.now)
        parts = [np.array(getattr(out, name)) for name in MEMBERS]
        gains = DriveGains(kp=parts[3], kd=parts[4], kd_damping=parts[4])
        pulls = parts[2].any() or parts[3].any()
        return JointCommand(parts[0] if pulls else None, parts[1], parts[2]), gains


def _gains(kp: float, kd: float) -> DriveGains:
    return DriveGains(kp=np.full(N, kp), kd=np.full(N, kd), kd_damping=np.full(N, kd))


def test_a_stand_during_the_initial_pose_does_not_leap_at_the_handover(library: ctypes.CDLL) -> None:
    loop = Loop(library, tells=False)
    loop.run(0.5)
    assert loop.controller.request(ControlMode.STAND).accepted, "nobody says that it is not executed"
    loop.run(HANDOVER - 2.0 * TICK)
    loop.heights, loop.torques = [], []
    loop.run(HANDOVER + 1.0)
    assert max(loop.heights) < 0.1, "it lies"
    assert max(loop.torques) < 2.0, "and damps"
    loop.controller.request(ControlMode.DAMP)
    loop.run(HANDOVER + 1.1)
    loop.controller.request(ControlMode.STAND)
    loop.run(lambda: loop.controller.standing)
    assert ROBOT.standing_height() - 0.02 < loop.heights[-1] <= max(loop.heights) < ROBOT.standing_height() + 0.02


def test_a_stand_is_refused_while_somebody_else_moves_the_legs(library: ctypes.CDLL) -> None:
    loop = Loop(library, tells=True)
    loop.run(0.5)
    for mode in (ControlMode.STAND, ControlMode.RECOVER):
        answer = loop.controller.request(mode)
        assert not answer.accepted
        assert "not_executed: somebody else moves the legs, with 5 N m/rad" in answer.reason
    loop.run(HANDOVER + 0.1)
    assert loop.controller.request(ControlMode.STAND).accepted
    loop.run(lambda: loop.controller.standing)
    assert loop.controller.fault is None
    assert loop.heights[-1] == pytest.approx(ROBOT.standing_height(), abs=0.02)


@pytest.mark.parametrize("cause", ["cut", "stopped"])
def test_targets_that_are_not_executed_any_more_are_a_fault_within_50_ms(library: ctypes.CDLL, cause: str) -> None:
    loop = Loop(library, tells=True)
    loop.run(HANDOVER + 0.1)
    loop.controller.request(ControlMode.STAND)
    loop.run(lambda: loop.controller.standing)
    began = loop.now
    setattr(loop, cause, True)
    loop.run(lambda: loop.controller.mode is ControlMode.DAMP)
    assert loop.now - began <= 0.05
    assert loop.controller.fault is not None
    assert loop.controller.fault.violation is ViolationKind.NOT_EXECUTED
    setattr(loop, cause, False)
    loop.run(began + 1.5)
    assert loop.heights[-1] < 0.15, "nothing sets in by itself"
    assert loop.controller.request(ControlMode.STAND).accepted
    loop.run(lambda: loop.controller.standing)


def test_the_zeros_are_checked_before_the_first_stand_and_the_legs_of_the_initial_pose_do_not_do(
    library: ctypes.CDLL,
) -> None:
    loop = Loop(library, tells=True, config=replace(CONFIG, {"safety.check_known_pose": True}))
    loop.run(HANDOVER + 1.0)
    answer = loop.controller.request(ControlMode.STAND)
    assert not answer.accepted
    assert "fr_abad_joint reads -0.6" in answer.reason, "legs that somebody has moved there say nothing of their zeros"
