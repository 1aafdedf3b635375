"""Every topic and service of the nodes: name, type and quality of service, in one table.

Names are relative, so that a namespace applies to all of them (`/clock` and `/diagnostics` are global).

Messages of one control tick at the stamp t:

    simulator or robot --odom, joint_states (t)--> controller
    controller --plan_request (state of t, aim)--> planner                  at planner ticks
    planner --policy (t)--> controller
    controller --joint_command (t)--> simulator or robot
    controller --planned_contacts--> robot, whose estimator trusts those feet
    robot --execution--> controller                                         where the robot tells what it executes

In lock-step the simulator does not move on before the command stamped t has come, and the controller does not send it
before the policies due at t have; see :mod:`contact_ddp_ros.ros.exchange`.
"""

from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Pose, Twist, WrenchStamped
from nav_msgs.msg import Odometry, Path
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Empty, Float64, Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

ODOM_FRAME = "odom"
"""Fixed frame of the state estimate (REP-105)."""

BASE_FRAME = "base_link"
"""Frame of the trunk (REP-105)."""


def _qos(depth: int, *, reliable: bool = True, latched: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


NEWEST = _qos(1)
"""Only the newest counts, and it must arrive. Volatile: who starts later must not get an old one."""

RECENT = _qos(50)
"""The newest counts, and for records those before it."""

EVERY = _qos(4000)
"""Every one counts, for records: several seconds at the control rate."""

LAST = _qos(1, latched=True)
"""Only the newest counts, also for who comes later."""

LOG = _qos(1000, latched=True)
"""Every one counts, also for a recorder that the writer finds late."""

PEOPLE = _qos(1, reliable=False)
"""Quality of service for displays: never waits for anybody."""

SHARED = _qos(10)
"""Topics of the whole system."""


@dataclass(frozen=True)
class Topic:
    """A topic: relative name, message type, quality of service and description."""

    name: str
    type: type[Any]
    qos: QoSProfile
    text: str


@dataclass(frozen=True)
class Service:
    """A service: relative name, type and description."""

    name: str
    type: type[Any]
    text: str


JOINT_STATES = Topic("joint_states", JointState, NEWEST, "12 joints by name; effort is the torque that was applied")
ODOM = Topic("odom", Odometry, NEWEST, "pose of base_link in odom, twist in base_link")
ESTIMATE = Topic(
    "odom/estimated", Odometry, PEOPLE, "as odom, by the controller's state estimator, with covariances; 50 Hz"
)
IMU = Topic(
    "imu/data",
    Imu,
    NEWEST,
    "orientation, angular velocity and specific force of base_link; covariance -1: not measured",
)
CLOCK = Topic("/clock", Clock, SHARED, "simulated time")
JOINT_COMMAND = Topic(
    "joint_command", JointTrajectory, NEWEST, "one point, stamped as the state it answers; no positions: damping"
)
POLICY = Topic("policy", Float64MultiArray, NEWEST, "layout in policy_message.py")
PLAN_REQUEST = Topic(
    "plan_request", Float64MultiArray, RECENT, "a state and what to plan from it; layout in estimate_messages.py"
)
CONTACTS = Topic(
    "planned_contacts",
    Float64MultiArray,
    LAST,
    "on every change, 1 for each planned stance foot, else 0",
)
EXECUTION = Topic(
    "execution",
    String,
    LAST,
    "on every change, what the joints do instead of their commands; empty while they follow",
)
EFFORTS = Topic(
    "effort_controller/commands", Float64MultiArray, NEWEST, "12 efforts in the order of JOINT_NAMES, to ros2_control"
)
CMD_VEL = Topic(
    "cmd_vel",
    Twist,
    NEWEST,
    "linear.x, linear.y and angular.z: speed ahead, to the left and turn",
)
BODY_POSE = Topic(
    "body_pose",
    Pose,
    NEWEST,
    "planned trunk pose: position.z above the ground [m], 0 as configured; roll and pitch",
)
PUSH = Topic("push", WrenchStamped, SHARED, "simulator: force on the trunk in odom axes, for node.push_duration")
PLAN = Topic("plan", Path, PEOPLE, "planned poses of base_link in odom")
PLAN_MARKERS = Topic(
    "planner/markers", MarkerArray, PEOPLE, "the trunk's path over the horizon, touchdown points, planned forces"
)
FORCE_MARKERS = Topic("simulator/markers", MarkerArray, PEOPLE, "forces of the ground on the feet")
DIAGNOSTICS = Topic("/diagnostics", DiagnosticArray, SHARED, "once a second")
SOLVES = Topic("planner/solves", DiagnosticStatus, LOG, "one for every solve, as key and value")
RECORD = Topic("simulator/record", Float64MultiArray, EVERY, "one control tick, for records")
CONTROLLER_EVENTS = Topic(
    "controller/events",
    DiagnosticStatus,
    LOG,
    "changes of mode, faults, refused policies, at most one a second of a kind",
)

PLANNER_ACTIVE = Topic("planner/active", Empty, LAST, "never sent; marks the active planner")
CONTROLLER_ACTIVE = Topic("controller/active", Empty, LAST, "never sent; marks the active controller")

SOLVE_TIME = Topic("planner/solve_time", Float64, PEOPLE, "[s]")
SOLVE_ITERATIONS = Topic("planner/iterations", Float64, PEOPLE, "")
SOLVE_COST = Topic("planner/cost", Float64, PEOPLE, "")
SPEED = Topic("planner/speed", Float64, PEOPLE, "commanded forward speed, after the time-out [m/s]")
MODE = Topic("controller/mode", Float64, PEOPLE, "0 damp, 1 stand, 2 move, 3 recover, 4 motion")
POLICY_AGE = Topic("controller/policy_age", Float64, PEOPLE, "[s]")
STATE_AGE = Topic("controller/state_age", Float64, PEOPLE, "[s]")
FELT = Topic(
    "controller/felt",
    Float64MultiArray,
    PEOPLE,
    "estimated contacts, forces, footholds and ground; layout in estimate_messages.py",
)
REAL_TIME_FACTOR = Topic("simulator/real_time_factor", Float64, PEOPLE, "simulated over wall-clock time, last second")

ACTIVE = {"planner": PLANNER_ACTIVE, "controller": CONTROLLER_ACTIVE}
"""Topics of the managed nodes of which there is to be one; see :mod:`contact_ddp_ros.ros.single_instance`."""

REPLAYED = (PLAN_REQUEST, SOLVES, POLICY)
"""Topics that a replay of a bag needs."""

RECORDED = (*REPLAYED, JOINT_STATES, ODOM, IMU, JOINT_COMMAND, CMD_VEL, BODY_POSE, CONTROLLER_EVENTS, DIAGNOSTICS)
"""Topics of a bag."""


def joint_effort(joint: str) -> Topic:
    """The effort of one joint, to ros_gz_bridge."""
    return Topic(f"joint/{joint}/cmd_force", Float64, NEWEST, "effort of the joint [N m]")


def motion_service(name: str) -> Service:
    """The service of one motion that the controller's parameter node.motions names."""
    return Service(f"motion/{name}", Trigger, f"controller: {name}, out of a stand or lying as it begins, into a stand")


TOPICS = tuple(value for value in list(globals().values()) if isinstance(value, Topic))

DAMP = Service("damp", Trigger, "controller: damping, at once")
STAND = Service("stand", Trigger, "controller: stand, clearing a fault")
MOVE = Service("move", Trigger, "controller: move in the planner's gait once it stands and has a policy")
RECOVER = Service("recover", Trigger, "controller: get up after a fall, from any side, and stand")
RELEASE = Service("motion_service/release", Trigger, "unitree: release the robot from its motion service")
RESTORE = Service("motion_service/restore", Trigger, "unitree: return the robot to its motion service")
RESET = Service("reset", Trigger, "simulator: stand at odom's origin again; the clock continues")
PAUSE = Service("pause", SetBool, "simulator: hold or release time")
STEP = Service("step", Trigger, "simulator: one control period while paused")

SERVICES = tuple(value for value in list(globals().values()) if isinstance(value, Service))
