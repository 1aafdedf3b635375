"""Parameters of each node: the configuration of its object, and under `node` the options of the node itself."""

from dataclasses import dataclass, field
from functools import partial

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.process import SchedulingOptions
from contact_ddp_ros.control.config import ControllerConfig, DriveConfig, Triple
from contact_ddp_ros.control.estimation.config import StateFilterConfig
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR
from contact_ddp_ros.plants.gazebo.config import BridgeConfig
from contact_ddp_ros.plants.gazebo.transport import RELEASES
from contact_ddp_ros.plants.guard import GuardConfig
from contact_ddp_ros.plants.lcm.codec import LAYOUTS
from contact_ddp_ros.plants.lcm.measurements import AUTO
from contact_ddp_ros.plants.lcm.transport import LinkOptions
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.unitree.config import (
    UNITREE_ROBOT,
    ImuPlace,
    RemoteOptions,
    UnitreeLimits,
    UnitreeLinkOptions,
)


def _discovery_time() -> float:
    """The parameter of those of whom there may be one."""
    return parameter(
        3.0,
        low=0.0,
        high=60.0,
        unit="s",
        description="from the start of the process to the latest moment at which a second node of this kind is known "
        "and this one refuses; the middleware's discovery takes up to 3 s unless its profile says otherwise",
    )


def _pairing_tolerance() -> float:
    """The parameter of those who take a robot's state from two topics."""
    return parameter(
        0.0005,
        low=0.0,
        high=0.02,
        unit="s",
        description="how far stamps of joint states and of the IMU or odometry may differ",
        structural=True,
    )


@dataclass(frozen=True)
class NodeOptions:
    """Options of every node."""

    urdf: str = parameter(
        "",
        description="robot: one of config/robots, a .yaml file like those, or a URDF; empty: the Mini Cheetah. The "
        "defaults of other parameters follow the robot named at the start",
        structural=True,
    )


@dataclass(frozen=True)
class PlantNodeOptions(NodeOptions):
    """Options of the nodes that play the robot or stand for it."""

    lockstep: bool = parameter(False, description="wait for the command that answers each state", structural=True)
    period: float = parameter(
        0.002, low=0.0005, high=0.02, unit="s", description="time between two states", structural=True
    )
    start_paused: bool = parameter(
        False, description="hold time, where it is simulated, until the service pause releases it", structural=True
    )
    scheduling: SchedulingOptions = field(default_factory=partial(SchedulingOptions, priority=30))


@dataclass(frozen=True)
class PlannerNodeOptions(NodeOptions):
    """Options of the planner's node."""

    autostart: bool = parameter(True, description="configure and activate at the start", structural=True)
    lockstep: bool = parameter(False, description="plan from exactly the state asked for", structural=True)
    cmd_vel_timeout: float = parameter(
        0.5, low=0.05, high=10.0, unit="s", description="age at which a speed command counts as zero"
    )
    solve_share: float = parameter(
        0.7,
        low=0.1,
        high=10.0,
        description="share of the planner's period that a solve may take: iterations that would take longer are left"
        " out, but for one; not in lock-step",
    )
    enable_stamped_cmd_vel: bool = parameter(
        False,
        description="subscribe to cmd_vel as geometry_msgs/TwistStamped instead of geometry_msgs/Twist",
        structural=True,
    )
    plan_rate: float = parameter(5.0, low=0.1, high=50.0, unit="Hz", description="rate of the plan for displays")
    discovery_time: float = _discovery_time()
    scheduling: SchedulingOptions = field(default_factory=partial(SchedulingOptions, priority=10))


@dataclass(frozen=True)
class ControllerNodeOptions(NodeOptions):
    """Options of the controller's node."""

    autostart: bool = parameter(True, description="configure and activate at the start", structural=True)
    lockstep: bool = parameter(False, description="wait for the policies that are due", structural=True)
    lockstep_timeout: float = parameter(
        60.0,
        low=0.1,
        high=3600.0,
        unit="s",
        description="wall-clock time to wait in lock-step for a policy of a planner that is there",
    )
    state: str = parameter(
        "imu",
        choices=("imu", "odom"),
        description="source of the trunk's state: the state estimator on imu/data and joint_states, or the topic odom",
        structural=True,
    )
    planner_delay: float = parameter(
        0.0,
        low=0.0,
        high=0.1,
        unit="s",
        description="age at which a policy reaches the controller in lock-step",
        structural=True,
    )
    motions: str = parameter(
        "",
        description="motions to have ready, by name or .yaml file, separated by commas; each is a service motion/NAME",
        structural=True,
    )
    pairing_tolerance: float = _pairing_tolerance()
    discovery_time: float = _discovery_time()
    scheduling: SchedulingOptions = field(default_factory=partial(SchedulingOptions, priority=20))


@dataclass(frozen=True)
class SimulatorNodeOptions(PlantNodeOptions):
    """Options of the simulator's node."""

    clock_rate: float = parameter(100.0, low=1.0, high=1000.0, unit="Hz", description="rate of /clock", structural=True)
    command_timeout: float = parameter(
        0.02, low=0.002, high=1.0, unit="s", description="time without a command after which the drives damp"
    )
    push_duration: float = parameter(
        0.1, low=0.001, high=10.0, unit="s", description="how long a force on the topic push acts"
    )
    pushes: str = parameter(
        "", description="scheduled pushes t,fx,fy,fz,dt[,tx,ty,tz]; several separated by ;", structural=True
    )
    holds: str = parameter(
        "", description="instants [s], separated by commas, at which time is held until it is released", structural=True
    )
    discovery_time: float = _discovery_time()
    drive: DriveConfig = field(default_factory=DriveConfig)


@dataclass(frozen=True)
class RobotNodeOptions(PlantNodeOptions):
    """Options of the nodes between ROS 2 and a robot that takes torque targets."""

    lockstep: bool = parameter(False, description="the robot is an emulator that waits for commands", structural=True)
    period: float = parameter(
        0.002,
        low=0.0005,
        high=0.02,
        unit="s",
        description="longest time between two frames to the robot",
        structural=True,
    )
    holds: str = parameter(
        "",
        description="simulated time only: instants [s] at which sending ends until it is released",
        structural=True,
    )


@dataclass(frozen=True)
class BridgeNodeOptions(RobotNodeOptions):
    """Options of the node of the bridge to the robot."""

    layout: str = parameter(
        AUTO,
        choices=(AUTO, *LAYOUTS),
        description="message types of the robot; auto: those of the first frame received",
        structural=True,
    )


@dataclass(frozen=True)
class UnitreeNodeOptions(RobotNodeOptions):
    """Options of the node of the bridge to a robot of Unitree."""

    urdf: str = parameter(
        UNITREE_ROBOT,
        description="robot: one of config/robots, a .yaml file like those, or a URDF. The defaults of other parameters "
        "follow the robot named at the start",
        structural=True,
    )


@dataclass(frozen=True)
class GazeboBridgeNodeOptions(PlantNodeOptions):
    """Options of the node of the bridge to Gazebo."""

    period: float = parameter(
        0.002, low=0.001, high=0.02, unit="s", description="time between two published states", structural=True
    )
    release: str = parameter(
        "",
        choices=("", *RELEASES, EMULATOR),
        description="release of Gazebo whose Python bindings are used; empty: the newest installed",
        structural=True,
    )
    clock_rate: float = parameter(100.0, low=1.0, high=1000.0, unit="Hz", description="rate of /clock", structural=True)


@dataclass(frozen=True)
class DrivesNodeOptions(NodeOptions):
    """Options of the node of the joint drives."""

    output: str = parameter(
        "group",
        choices=("group", "joints"),
        description="one message for all joints, to ros2_control, or one for each, to ros_gz_bridge",
        structural=True,
    )
    joint_damping: Triple = parameter(
        (0.0, 0.0, 0.0),
        low=0.0,
        high=5.0,
        unit="N m s/rad",
        description="damping of the simulator's joints beyond the robot's own; drive.kd after `sdf --drive-damping`",
        structural=True,
    )
    command_timeout: float = parameter(
        0.02, low=0.002, high=1.0, unit="s", description="time without a command after which the drives damp"
    )


@dataclass(frozen=True)
class DriverOptions:
    """The topics and conventions of a robot's own driver."""

    joint_topics: str = parameter(
        "/joint_states",
        description="topics of its joint states (sensor_msgs/JointState), separated by commas; each may tell some of "
        "the joints, and others that are none of the legs'",
        structural=True,
    )
    imu_topic: str = parameter(
        "/imu/data", description="topic of its IMU (sensor_msgs/Imu); empty: none", structural=True
    )
    odom_topic: str = parameter(
        "",
        description="topic of its odometry (nav_msgs/Odometry) of the URDF's root link, for controllers with "
        "node.state odom; empty: none",
        structural=True,
    )
    joints: str = parameter(
        "",
        description="its names of the twelve joints, leg by leg (fr, fl, hr, hl) of abduction, hip and knee, separated "
        "by commas; empty: those of the URDF",
        structural=True,
    )
    signs: str = parameter(
        "", description="1 or -1 for each of them, its angle over the URDF's; empty: 1", structural=True
    )
    offsets: str = parameter(
        "", description="its angle where the URDF's is zero [rad], for each of them; empty: 0", structural=True
    )
    imu_x: float = parameter(0.0, low=-2.0, high=2.0, unit="m", description="IMU ahead of the hips' middle")
    imu_y: float = parameter(0.0, low=-2.0, high=2.0, unit="m", description="IMU left of the hips' middle")
    imu_z: float = parameter(0.0, low=-2.0, high=2.0, unit="m", description="IMU above the hips' middle")
    imu_roll: float = parameter(0.0, low=-3.2, high=3.2, unit="rad", description="roll of the IMU in the root link")
    imu_pitch: float = parameter(0.0, low=-3.2, high=3.2, unit="rad", description="pitch of the IMU in the root link")
    imu_yaw: float = parameter(0.0, low=-3.2, high=3.2, unit="rad", description="yaw of the IMU in the root link")
    rate: float = parameter(
        500.0, low=50.0, high=2000.0, unit="Hz", description="most states per second", structural=True
    )
    command: str = parameter(
        "effort",
        choices=("effort", "hybrid", "trajectory"),
        description="what it takes: efforts of all joints (std_msgs/Float64MultiArray, effort_controllers); position, "
        "velocity, effort, kp and kd for each joint (the same type, a topic for each joint); or a point of a "
        "trajectory_msgs/JointTrajectory with efforts",
        structural=True,
    )
    command_topic: str = parameter(
        "/effort_controller/commands",
        description="topic of the commands; with `hybrid` {joint} stands for the name of a joint",
        structural=True,
    )


@dataclass(frozen=True)
class DriverNodeOptions(NodeOptions):
    """Options of the node between the package and a robot's own driver."""

    lockstep: bool = parameter(
        False, description="send nothing but answers to states, as a simulator in lock-step needs it", structural=True
    )
    command_timeout: float = parameter(
        0.02, low=0.002, high=1.0, unit="s", description="time without a command after which the joints damp"
    )


@dataclass(frozen=True)
class EstimatorNodeOptions(NodeOptions):
    """Options of the state estimator's node."""

    pairing_tolerance: float = _pairing_tolerance()


@dataclass(frozen=True)
class StateEstimation:
    """Parameters of the state estimator, under the names that they have in the controller."""

    state: StateFilterConfig = field(default_factory=StateFilterConfig)


@dataclass(frozen=True)
class PlannerNodeConfig(PlannerConfig):
    """Parameters of the planner's node."""

    node: PlannerNodeOptions = field(default_factory=PlannerNodeOptions)


@dataclass(frozen=True)
class ControllerNodeConfig(ControllerConfig):
    """Parameters of the controller's node."""

    node: ControllerNodeOptions = field(default_factory=ControllerNodeOptions)


@dataclass(frozen=True)
class SimulatorNodeConfig(SimOptions):
    """Parameters of the simulator's node."""

    node: SimulatorNodeOptions = field(default_factory=SimulatorNodeOptions)


@dataclass(frozen=True)
class BridgeNodeConfig:
    """Parameters of the bridge's node."""

    drive: DriveConfig = field(default_factory=DriveConfig)
    guard: GuardConfig = field(default_factory=GuardConfig)
    link: LinkOptions = field(default_factory=LinkOptions)
    node: BridgeNodeOptions = field(default_factory=BridgeNodeOptions)


@dataclass(frozen=True)
class UnitreeNodeConfig:
    """Parameters of the node of the bridge to a robot of Unitree."""

    drive: DriveConfig = field(default_factory=DriveConfig)
    guard: GuardConfig = field(default_factory=GuardConfig)
    imu_place: ImuPlace = field(default_factory=ImuPlace)
    limits: UnitreeLimits = field(default_factory=UnitreeLimits)
    link: UnitreeLinkOptions = field(default_factory=UnitreeLinkOptions)
    remote: RemoteOptions = field(default_factory=RemoteOptions)
    node: UnitreeNodeOptions = field(default_factory=UnitreeNodeOptions)


@dataclass(frozen=True)
class GazeboBridgeNodeConfig:
    """Parameters of the node of the bridge to Gazebo."""

    drive: DriveConfig = field(default_factory=DriveConfig)
    gazebo: BridgeConfig = field(default_factory=BridgeConfig)
    node: GazeboBridgeNodeOptions = field(default_factory=GazeboBridgeNodeOptions)


@dataclass(frozen=True)
class DrivesNodeConfig:
    """Parameters of the node of the joint drives."""

    drive: DriveConfig = field(default_factory=DriveConfig)
    node: DrivesNodeOptions = field(default_factory=DrivesNodeOptions)


@dataclass(frozen=True)
class DriverNodeConfig:
    """Parameters of the node between the package and a robot's own driver."""

    drive: DriveConfig = field(default_factory=DriveConfig)
    driver: DriverOptions = field(default_factory=DriverOptions)
    node: DriverNodeOptions = field(default_factory=DriverNodeOptions)


@dataclass(frozen=True)
class EstimatorNodeConfig:
    """Parameters of the state estimator's node."""

    estimation: StateEstimation = field(default_factory=StateEstimation)
    node: EstimatorNodeOptions = field(default_factory=EstimatorNodeOptions)


CONFIGURATIONS = {
    "planner": PlannerNodeConfig(),
    "controller": ControllerNodeConfig(),
    "simulator": SimulatorNodeConfig(),
    "bridge": BridgeNodeConfig(),
    "unitree": UnitreeNodeConfig(),
    "gazebo_bridge": GazeboBridgeNodeConfig(),
    "drives": DrivesNodeConfig(),
    "driver": DriverNodeConfig(),
    "estimator": EstimatorNodeConfig(),
}
"""Every node's parameters with their defaults, by the node's name."""

MANAGED = ("planner", "controller")
"""Nodes with a lifecycle: their structural parameters may change while they are not active."""
