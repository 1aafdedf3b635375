"""Everything tunable about the joint controller; triples are per joint of a leg: (abad, hip, knee)."""

from dataclasses import dataclass, field

import numpy as np

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.joint_pd import MotorConfig
from contact_ddp_ros.robot.state import DriveGains

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class DriveConfig:
    """Fixed gains of the joint drives; simulator and bridge, which emulate or set the drives, must use the same.

    A swinging shank with its rotor has 0.006 kg m^2, so that its drive has 37 degrees of phase margin; a delay of 10 ms
    inside the drives takes 32 of them (see `move.drive_delay`). They carry the robot where states come 20 ms late.
    """

    kp: Triple = parameter(
        (20.0, 15.0, 15.0), low=0.0, high=200.0, unit="N m/rad", description="position gains of the joint drives"
    )
    kd: Triple = parameter(
        (0.5, 0.3, 0.2), low=0.0, high=5.0, unit="N m s/rad", description="velocity gains of the joint drives"
    )
    kd_damping: Triple = parameter(
        (2.5, 2.5, 2.5), low=0.1, high=5.0, unit="N m s/rad", description="velocity gains while only damping"
    )

    def gains(self, n_legs: int) -> DriveGains:
        """The gains of every joint, leg after leg: arrays of (3 n_legs,)."""
        return DriveGains(*(np.tile(np.asarray(each, float), n_legs) for each in (self.kp, self.kd, self.kd_damping)))


@dataclass(frozen=True)
class StandConfig:
    """The stand: pose, gains, and how to get there from lying or from bounding."""

    pose: Triple = parameter((0.0, -0.8, 1.6), low=-3.0, high=3.0, unit="rad", description="joint angles of a leg")
    kp: Triple = parameter(
        (80.0, 80.0, 80.0), low=0.0, high=300.0, unit="N m/rad", description="position gains while standing"
    )
    kd: Triple = parameter(
        (2.0, 2.0, 2.0), low=0.0, high=6.0, unit="N m s/rad", description="velocity gains while standing"
    )
    ramp_time: float = parameter(
        1.5, low=0.2, high=10.0, unit="s", description="time to reach the pose from wherever the joints are"
    )
    fold: Triple = parameter(
        (0.0, -1.25, 2.5),
        low=-3.0,
        high=3.0,
        unit="rad",
        description="joint angles of a leg while the robot lies, ready to get up",
    )
    fold_from: float = parameter(
        0.5,
        low=0.05,
        high=6.3,
        unit="rad",
        description="distance from the pose beyond which legs are folded before the robot gets up",
    )
    fold_time: float = parameter(1.0, low=0.2, high=10.0, unit="s", description="duration of folding the legs")
    catch_time: float = parameter(0.1, low=0.05, high=2.0, unit="s", description="time to reach the pose out of a gait")
    capture_gain: float = parameter(
        0.1,
        low=0.0,
        high=0.3,
        unit="s",
        description="horizontal shift of the feet's targets per trunk velocity: steps under a moving trunk while in"
        " the air, brakes it on the ground",
    )
    capture_reach: float = parameter(
        0.1, low=0.0, high=0.15, unit="m", description="largest shift of the feet's targets"
    )
    rest_speed: float = parameter(
        0.2, low=0.01, high=5.0, unit="m/s", description="largest speed of a trunk at rest, along any axis"
    )
    rest_time: float = parameter(0.1, low=0.0, high=5.0, unit="s", description="time at rest before a gait begins")


@dataclass(frozen=True)
class MoveConfig:
    """Following the planner's policy, entering and leaving it."""

    feedback: bool = parameter(True, description="apply the policy's feedback gains, not only its feedforward")
    request_timeout: float = parameter(
        10.0, low=0.1, high=120.0, unit="s", description="longest wait of a request to move for a policy"
    )
    exit_instant: str = parameter(
        "touchdown",
        choices=("now", "flight", "touchdown"),
        description="instant at which a request to stand ends the gait: at once, when the feet leave the ground next, "
        "or shortly before they land next",
    )
    exit_lead: float = parameter(
        0.03, low=0.0, high=0.1, unit="s", description="time before touchdown at which exit_instant touchdown acts"
    )
    exit_speed: float = parameter(
        0.8,
        low=0.05,
        high=4.0,
        unit="m/s",
        description="largest speed of the trunk at which the robot stands; a faster one slows down first",
    )
    exit_timeout: float = parameter(
        3.0, low=0.0, high=10.0, unit="s", description="longest wait for speed and instant; then stand at once"
    )
    command_delay: float = parameter(
        0.0, low=0.0, high=0.1, unit="s", description="known time from a command to the torque in the joints"
    )
    drive_delay: float = parameter(
        0.0,
        low=0.0,
        high=0.05,
        unit="s",
        description="delay inside the drives from a joint's motion to its torque; a moving leg is softened",
    )
    resume_timeout: float = parameter(
        3.0,
        low=0.0,
        high=60.0,
        unit="s",
        description="time within which a late policy resumes locomotion after a fallback to stand",
    )
    ready_angle: float = parameter(
        0.3,
        low=0.02,
        high=3.2,
        unit="rad",
        description="largest distance of joints from the standing pose, and of the trunk from level, at the start of "
        "a gait",
    )
    ready_height: float = parameter(
        0.08,
        low=0.01,
        high=1.0,
        unit="m",
        description="largest distance of the trunk from its standing height above the plan's ground at the start of a "
        "gait",
    )


@dataclass(frozen=True)
class SafetyConfig:
    """Limits of the supervisor; beyond any of them the controller falls back to damping."""

    state_timeout: float = parameter(
        0.08,
        low=0.002,
        high=0.5,
        unit="s",
        description="oldest robot state that is acted on; until then it is predicted along the plan",
    )
    clock_tolerance: float = parameter(
        0.008,
        low=0.0,
        high=0.1,
        unit="s",
        description="largest lead of a stamp over the clock, and largest step back of the clock",
    )
    check_known_pose: bool = parameter(
        False,
        description="require the robot to lie on its belly with folded legs before the first stand, which reveals "
        "encoders that started in a wrong turn of their motor; for real drives",
    )
    planner_period: float = parameter(
        0.01, low=0.001, high=1.0, unit="s", description="nominal time between two policies"
    )
    policy_periods: float = parameter(
        3.0,
        low=1.0,
        high=50.0,
        description="age from which a policy is late, in planner periods: no gait begins with it, and a gait under "
        "way follows it while the robot stays near it, until the horizon ends",
    )
    roll: float = parameter(0.8, low=0.05, high=1.5, unit="rad", description="largest roll against the ground")
    pitch: float = parameter(0.8, low=0.05, high=1.5, unit="rad", description="largest pitch against the ground")
    tilt_time: float = parameter(
        0.3,
        low=0.0,
        high=1.0,
        unit="s",
        description="time beyond the tilt limits that is a fault while the robot moves; at once from 1.9 times the "
        "limit on, or where it stands",
    )
    position_margin: float = parameter(
        0.1, low=0.0, high=1.0, unit="rad", description="largest measured joint angle beyond its limits"
    )
    position_time: float = parameter(
        0.1,
        low=0.0,
        high=1.0,
        unit="s",
        description="time beyond the position margin that is a fault while the robot moves; at once from 5 times the "
        "margin on, or where it stands. While it gets up a joint may come back from where it lay",
    )
    velocity_factor: float = parameter(
        1.2, low=0.1, high=5.0, description="largest measured joint velocity, as a multiple of its limit"
    )
    velocity_time: float = parameter(
        0.02, low=0.0, high=1.0, unit="s", description="time of a joint beyond its speed limit that is a fault"
    )
    coasting_time: float = parameter(
        0.06,
        low=0.0,
        high=1.0,
        unit="s",
        description="time beyond the speed limit that is a fault for a joint that no commanded torque drives on (such "
        "as after an impact) and whose position moves with its velocity",
    )
    trunk_speed: float = parameter(
        10.0, low=0.5, high=100.0, unit="m/s", description="largest measured speed of the trunk along an axis"
    )
    trunk_turn_rate: float = parameter(
        30.0, low=1.0, high=300.0, unit="rad/s", description="largest measured angular velocity about an axis"
    )
    joint_jump: float = parameter(
        0.1,
        low=0.0,
        high=3.0,
        unit="rad",
        description="largest step of a joint between two states beyond what its speed explains",
    )
    base_jump: float = parameter(
        0.05,
        low=0.0,
        high=10.0,
        unit="m",
        description="largest step of the trunk's place between two states beyond what its speed explains; a larger one "
        "is a correction of its source, which moves the frame in which the robot walks",
    )
    turn_jump: float = parameter(
        0.1,
        low=0.0,
        high=3.2,
        unit="rad",
        description="largest step of the trunk's orientation between two states beyond what its rate explains; a "
        "larger one of the heading is a correction of its source",
    )
    stuck_timeout: float = parameter(
        0.01,
        low=0.002,
        high=1.0,
        unit="s",
        description="longest time that all joints, or the trunk, may repeat their state to the last bit while the "
        "robot moves",
    )
    policy_torque_factor: float = parameter(
        1.5, low=1.0, high=10.0, description="largest planned torque, as a multiple of what the joints can give"
    )
    policy_height: float = parameter(
        0.15, low=0.01, high=1.0, unit="m", description="largest distance of the trunk from its place in a new policy"
    )
    policy_angle: float = parameter(
        1.0,
        low=0.05,
        high=6.3,
        unit="rad",
        description="largest distance of pitch or a joint from its value in a new policy",
    )

    policy_knot: float = parameter(
        0.1, low=0.005, high=1.0, unit="s", description="longest time from knot to knot of a policy"
    )
    policy_step: float = parameter(
        1.0, low=0.05, high=10.0, description="largest change of a planned coordinate from knot to knot [m, rad]"
    )
    policy_velocity: float = parameter(
        100.0, low=10.0, high=1000.0, description="largest planned velocity [m/s, rad/s]"
    )
    policy_gain: float = parameter(
        1e5, low=100.0, high=1e7, description="largest feedback gain [N m per m, rad, m/s, rad/s]"
    )
    policy_force: float = parameter(1e4, low=200.0, high=1e6, unit="N", description="largest planned force at a foot")

    @property
    def policy_timeout(self) -> float:
        """Age from which a policy is late [s]."""
        return self.planner_period * self.policy_periods


@dataclass(frozen=True)
class ControllerConfig:
    """All parameters of the joint controller."""

    drive: DriveConfig = field(default_factory=DriveConfig)
    motor: MotorConfig = field(default_factory=MotorConfig)
    stand: StandConfig = field(default_factory=StandConfig)
    move: MoveConfig = field(default_factory=MoveConfig)
    estimation: EstimationConfig = field(default_factory=EstimationConfig)
    safety: SafetyConfig = field(default_factory=SafetyConfig)
