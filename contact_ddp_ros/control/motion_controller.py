"""The law of one motion: take up its posture, follow the policy, land when the ground is felt.

    u = ubar + K (x − xbar),      tau = spread(u) / 2 + kp (qbar_j − q_j) + kd (vbar_j − v_j)

as :mod:`contact_ddp_ros.control.move` does it, with the pitch of
:mod:`contact_ddp_ros.control.turning`; a plan of the whole body has torques for every joint and its error by
:mod:`contact_ddp_ros.control.turning`. The policy is looked up at the motion's own time, which jumps to the
touchdown of the present flight where the feet feel the ground before it, and waits there where they do not, so that
what follows the impact never runs in the air. From a touchdown on, and while it is late, the joints are held with gains
of a landing, up to the next flight: strides between two flights are held so, too.

A motion that begins lying first brings the joints into the posture that it starts from, and begins once the robot rests
there. The :class:`~contact_ddp_ros.control.controller.Controller` does all else: it sees to it that a robot stands
before and after, and watches over states and commands.

Interface of what is done once, a jump or a flip: from a stand or from lying, into a stand.

Where a motion begins: standing, or in a posture of its own, which may be lying; and in which model's coordinates.
"""

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter, validate
from contact_ddp_ros.control.config import ControllerConfig, Triple
from contact_ddp_ros.control.recover import lies
from contact_ddp_ros.control.safety import SafetyViolation, ViolationKind
from contact_ddp_ros.control.stand import StandLaw, minimum_jerk
from contact_ddp_ros.control.turning import follower_of
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.legs import JOINTS_PER_LEG
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.motion import MotionSpec
from contact_ddp_ros.robot.policy import Policy, PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState


class Motion(Protocol):
    """A law of the joints with an end; has a state of its own from one update to the next."""

    name: str
    catch_time: float
    """Time to reach the standing pose after it [s]."""

    @property
    def lies(self) -> bool:
        """True if the motion begins lying, not standing."""
        ...

    @property
    def on_the_ground(self) -> bool:
        """True if the trunk may still lie: what the feet feel means nothing yet."""
        ...

    @property
    def contacts(self) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        ...

    @property
    def done(self) -> bool:
        """True if the motion is over."""
        ...

    def obstacle(self, state: RobotState) -> str:
        """Why it cannot begin at a finite state; empty where it can."""
        ...

    def begin(self, state: RobotState, ground: float | None) -> None:
        """Begin at a state above ground of a height in `odom` [m], None where that is not known."""
        ...

    def targets(
        self, state: RobotState, late: float, contact: NDArray[np.bool_], stand: StandLaw
    ) -> JointTargets | SafetyViolation:
        """Targets for a checked state that act `late` [s] after it was measured, or why it is given up.

        `contact` says which feet are felt; `stand` has the gains of stiff joints.
        """
        ...


Array = NDArray[np.float64]


def start_state(task: MotionSpec, robot: Robot) -> RobotState:
    """The robot at rest at the beginning of a motion, its lowest foot on the ground."""
    state = robot.standing_state()
    if not task.start:
        return state
    joints = np.concatenate([task.start[leg] for leg in LEG_NAMES])
    orientation = rpy_to_quaternion(task.start_turn, 0.0, 0.0)
    lying = replace(state, orientation=orientation, joint_positions=joints)
    return put_down(lying, robot)


def put_down(state: RobotState, robot: Robot, clearance: float = 0.0) -> RobotState:
    """The state with its lowest foot at a height above level ground [m]."""
    position = np.array([*state.position[:2], clearance - float(_soles(state, robot).min())])
    return replace(state, position=position)


def foot_heights(task: MotionSpec, robot: Robot) -> Array:
    """(4,) of the feet above the ground at the beginning [m]; 0 of the lowest."""
    soles = _soles(start_state(task, robot), robot)
    return np.asarray(soles - soles.min())


def _soles(state: RobotState, robot: Robot) -> Array:
    """(4,) heights of the feet's lowest points over the trunk's origin [m]."""
    up = quaternion_to_matrix(state.orientation)[2]
    return foot_positions(robot, state.joint_positions) @ up - robot.foot_radius


def model_for(task: MotionSpec, robot: Robot) -> PlanarModel | WholeBodyModel:
    """The model of a robot that a motion is planned with, in the chart whose last angle it turns about."""
    if task.model == PlanarModel.name:
        return PlanarModel(robot)
    return WholeBodyModel(robot, Chart.YAW_ROLL_PITCH if task.rotation else Chart.YAW_PITCH_ROLL)


def start_coordinates(task: MotionSpec, model: Model) -> Array:
    """(2n,) of the same state in a model, with turns counted."""
    x = model.state(start_state(task, model.robot))
    if task.start:
        x[turning_index(model)] = task.start_turn
    return x


def turning_index(model: Model) -> int:
    """Index of the coordinate that counts a motion's turns, the last angle of the trunk."""
    return model.tree.n - len(model.torque_limits) - 1


_ABADS = slice(LEG_JOINTS.index("abad"), None, JOINTS_PER_LEG)
"""The abductions in the joint arrays."""

_BEFORE_TOUCHDOWN = 1e-6
"""Lead over the touchdown at which the clock waits for the ground: in the last step of the flight [s]."""

_POSTURE_SPEED = 3.0
"""Mean speed of the furthest joint on its way into the posture that a motion starts from [rad/s]."""
POSTURE_TIME, POSTURE_REST = 0.2, 0.1
"""Least time for that, and how long the robot must rest in it [s]."""
_POSTURE_PATIENCE = 3.0
"""Longest wait for that rest [s]."""
_POSTURE_AWAY, _POSTURE_MOVING = 0.25, 0.5
"""Largest distance of a joint from the posture [rad], and speed of the trunk, to rest in it [m/s, rad/s]."""
_TILTED, _LYING = 0.2, 0.5
"""Largest angle of the trunk's vertical axis to that at the start: where it begins, and where it is asked to [rad]."""


class MotionStage(Enum):
    """Stage of a motion; on the ground between two flights it strides, and it lands after the last one."""

    START = "start"
    STAND = "stand"
    TAKE_OFF = "take_off"
    FLIGHT = "flight"
    STRIDE = "stride"
    LANDING = "landing"
    END = "end"
    FAULT = "fault"


@dataclass(frozen=True)
class ExecutionConfig:
    """Execution of a motion: touchdown detection, gains, catching time."""

    early: float = parameter(
        0.5, low=0.0, high=1.0, description="share of the flight after which a foot that is felt is a landing"
    )
    wait: float = parameter(
        0.15, low=0.0, high=1.0, unit="s", description="longest wait for the ground after the planned touchdown"
    )
    catch_time: float = parameter(
        0.3, low=0.05, high=2.0, unit="s", description="time to reach the standing pose after the motion"
    )
    kp: float = parameter(
        60.0, low=0.0, high=300.0, unit="N m/rad", description="position gains of the joints from a touchdown on"
    )
    kd: float = parameter(
        2.5, low=0.0, high=6.0, unit="N m s/rad", description="velocity gains of the joints from a touchdown on"
    )
    feedback: Triple = parameter(
        (1.0, 1.0, 1.0),
        low=0.0,
        high=1.0,
        description="share of the policy's gains before the first flight, in flights and after them",
    )


class MotionController:
    """Tracking of one plan by one robot; see :class:`contact_ddp_ros.control.motion_controller.Motion`. Reusable."""

    def __init__(
        self,
        robot: Robot,
        task: MotionSpec,
        policy: Policy,
        config: ControllerConfig | None = None,
        execution: ExecutionConfig | None = None,
    ) -> None:
        """`policy` counts from the beginning of the motion.

        Raises:
            ParameterError: a parameter is out of its range.
        """
        config, self.execution = config or ControllerConfig(), execution or ExecutionConfig()
        validate(self.execution)
        self.name, self.catch_time = task.name, self.execution.catch_time
        self._task, self._policy, self._model = task, policy, model_for(task, robot)
        gains = config.drive.gains(len(FOOT_NAMES))
        self._drive_kp, self._drive_kd = gains.kp, gains.kd
        self._abad_kp, self._abad_kd = config.stand.kp[0] - gains.kp[_ABADS], config.stand.kd[0] - gains.kd[_ABADS]
        self._start = start_state(task, robot)
        self._ends = np.cumsum([phase.duration for phase in task.phases])
        self.begin(self._start, None)
        self.stage = self._first

    @property
    def _first(self) -> MotionStage:
        return MotionStage.START if self.lies else MotionStage.STAND

    @property
    def lies(self) -> bool:
        """True if the motion begins lying, not standing."""
        return bool(self._task.start)

    @property
    def on_the_ground(self) -> bool:
        """True if the trunk may still lie: what the feet feel means nothing yet."""
        return self.stage is MotionStage.START

    @property
    def contacts(self) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        index = min(int(np.searchsorted(self._ends, self._clock, side="right")), len(self._task.phases) - 1)
        return tuple(leg in self._task.phases[index].feet for leg in LEG_NAMES)

    @property
    def done(self) -> bool:
        """True if the motion is over."""
        return self.stage is MotionStage.END

    @property
    def motion_time(self) -> float:
        """The time at which the policy was looked up last, from the motion's beginning [s]."""
        return self._clock

    @property
    def touchdowns(self) -> tuple[float, ...]:
        """Times at which the ground was felt after each flight so far, on the clock of the states [s]."""
        return tuple(self._touchdowns)

    @property
    def sample(self) -> PolicySample:
        """The policy at :attr:`motion_time`."""
        return self._policy.sample(self._clock)

    def obstacle(self, state: RobotState) -> str:
        """Why it cannot begin at a finite state; empty where it can."""
        tilt = self._tilt(state)
        if self.lies:
            return "" if tilt <= _LYING else f"it {lies(state)}; {self.name} begins where it {lies(self._start)}"
        if tilt > _TILTED:
            return f"the trunk is tilted by {tilt:.2f} rad; {self.name} begins at up to {_TILTED} rad"
        joint, away = self._furthest(state)
        return f"{joint} is {away:.2f} rad from where {self.name} begins" if away > _POSTURE_AWAY else ""

    def begin(self, state: RobotState, ground: float | None) -> None:
        """Begin at a state above ground of a height in `odom` [m], None where that is not known."""
        self.stage = MotionStage.START if self.lies else MotionStage.TAKE_OFF
        self._asked, self._rests_since = state.time, math.inf
        self._origin = np.array(state.joint_positions, float)
        self._take_off(state, ground)

    def _take_off(self, state: RobotState, ground: float | None) -> None:
        """The policy begins at a state."""
        height = float(state.position[2] - self._start.position[2]) if ground is None else ground
        self._body = follower_of(self._model, state, self._task.start_turn, height)
        self._ground = ground
        self.begun = state.time
        """Time at which the policy began, on the clock of the states [s]."""
        self._shift = self._clock = 0.0
        self._touchdowns: list[float] = []

    def targets(
        self, state: RobotState, late: float, contact: NDArray[np.bool_], stand: StandLaw
    ) -> JointTargets | SafetyViolation:
        """See :meth:`contact_ddp_ros.control.motion_controller.Motion.targets`."""
        if self.stage is MotionStage.START:
            if not self._rests(state):
                return self._into_posture(state, late, stand)
            self._take_off(state, self._ground)
            self.stage = MotionStage.TAKE_OFF
        self._clock = self._follow(state.time, bool(contact.any()))
        if self._clock >= self._policy.end:
            self.stage = MotionStage.END
        return self._along(state, late)

    def _along(self, state: RobotState, late: float) -> JointTargets:
        """Follow the policy where it will be when the command acts, from where it was when the state was measured."""
        measured = self.sample
        sample = self._policy.sample(min(self._clock + late, self._held_until)) if late > 0.0 else measured
        u = sample.control + self._share() * (sample.gain @ self._body.error(state, measured.state))
        targets = JointTargets(*self._model.joint_targets(sample.state, u))
        torques = targets.torques.copy()
        if self._stiff:
            torques += (self.execution.kp - self._drive_kp) * (targets.positions - state.joint_positions)
            torques += (self.execution.kd - self._drive_kd) * (targets.velocities - state.joint_velocities)
        if isinstance(self._model, PlanarModel):  # whose plan has no abductions
            torques[_ABADS] -= self._abad_kp * state.joint_positions[_ABADS]
            torques[_ABADS] -= self._abad_kd * state.joint_velocities[_ABADS]
        return JointTargets(targets.positions, targets.velocities, torques)

    def _into_posture(self, state: RobotState, late: float, stand: StandLaw) -> JointTargets | SafetyViolation:
        """Bring the joints where the motion starts from."""
        if state.time - self._asked > self._posture_time + _POSTURE_PATIENCE:
            (joint, away), tilt = self._furthest(state), self._tilt(state)
            text = (
                f"{self.name} did not begin: {joint} is {away:.2f} rad from where it starts, the trunk {tilt:.2f} rad"
            )
            return SafetyViolation(ViolationKind.TILT, f"{text}; the robot {lies(state)}")
        share, rate = minimum_jerk(state.time - self._asked, self._posture_time)
        way = self._start.joint_positions - self._origin
        return stand.stiffly(self._origin + share * way, rate * way, state, late)

    @property
    def _posture_time(self) -> float:
        """Duration of the way into the posture [s]."""
        far = float(np.abs(self._start.joint_positions - self._origin).max())
        return max(POSTURE_TIME, far / _POSTURE_SPEED)

    def _rests(self, state: RobotState) -> bool:
        """True if the robot has rested in the posture for a while."""
        moving = max(np.abs(state.linear_velocity).max(), np.abs(state.angular_velocity).max())
        there = self._furthest(state)[1] <= _POSTURE_AWAY and self._tilt(state) <= _TILTED
        fine = moving <= _POSTURE_MOVING and there
        self._rests_since = min(self._rests_since, state.time) if fine else math.inf
        arrived = max(self._rests_since, self._asked + self._posture_time)
        return state.time - arrived >= POSTURE_REST

    def _furthest(self, state: RobotState) -> tuple[str, float]:
        """The joint that is furthest from where the motion starts, and by how much [rad]."""
        away = np.abs(state.joint_positions - self._start.joint_positions)
        joint = int(np.argmax(away))
        return JOINT_NAMES[joint], float(away[joint])

    def _tilt(self, state: RobotState) -> float:
        """Angle between the trunk's vertical axis and that at the start, whatever the heading [rad]."""
        up, wanted = (quaternion_to_matrix(one.orientation)[2] for one in (state, self._start))
        return math.acos(min(max(float(up @ wanted), -1.0), 1.0))

    @property
    def _held_until(self) -> float:
        """The instant up to which the policy may be looked up ahead: not beyond a touchdown that is not felt [s]."""
        if self.stage is not MotionStage.FLIGHT:
            return math.inf
        return self._task.flights[len(self._touchdowns)][1] - _BEFORE_TOUCHDOWN

    @property
    def _stiff(self) -> bool:
        """True if the joints have the gains of a landing."""
        return self._clock >= self._held_until or self.stage in (MotionStage.STRIDE, MotionStage.LANDING)

    def _share(self) -> float:
        """Share of the policy's gains in the present stage; 0 while the ground is late."""
        if self._clock >= self._held_until:
            return 0.0
        before, flying, after = self.execution.feedback
        return {MotionStage.TAKE_OFF: before, MotionStage.FLIGHT: flying}.get(self.stage, after)

    def _follow(self, now: float, felt: bool) -> float:
        """The motion's time: that since the beginning, shifted by what landings were early or late [s]."""
        planned = now - self.begun + self._shift
        ahead = self._task.flights[len(self._touchdowns) :]
        if not ahead or planned < ahead[0][0]:
            return planned
        take_off, touchdown = ahead[0]
        self.stage = MotionStage.FLIGHT
        felt &= planned >= take_off + self.execution.early * (touchdown - take_off)
        if not felt and planned < touchdown + self.execution.wait:
            return min(planned, touchdown - _BEFORE_TOUCHDOWN)
        self._touchdowns.append(now)
        self._shift += touchdown - planned
        self.stage = MotionStage.STRIDE if len(ahead) > 1 else MotionStage.LANDING
        return touchdown
