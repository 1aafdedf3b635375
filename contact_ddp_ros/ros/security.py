"""The access policy of SROS 2, generated from the table of topics and services.

`ros2 security create_permission` reads it (policy format 0.2.0 of the package sros2). Each process has an enclave of
its own with the permissions that its node needs; everything else is denied. `operator` is for people: it commands
speeds, calls services, sets parameters and subscribes to everything, but cannot act as robot, planner or controller.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.motion import packaged_motions
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.interfaces import TOPICS, Service, Topic

ENCLAVES = "/contact_ddp"
"""Path above the enclaves."""

OPERATOR = "operator"
"""The enclave for people."""

FORMAT = "0.2.0"
"""Version of the policy format."""

NODE_SERVICES = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
    "get_type_description",
)
"""Every node's, below its name. A node whose service is denied does not start."""

LIFECYCLE_SERVICES = (
    "change_state",
    "get_available_states",
    "get_available_transitions",
    "get_state",
    "get_transition_graph",
)
"""A managed node's, below its name."""

TRANSITIONS = "transition_event"
"""A managed node's topic, below its name."""

_PARAMETER_EVENTS, _LOG = "/parameter_events", "/rosout"

_OWN_IN_NAMESPACE = ("/clock", "/tf")
"""Absolute names that the launch file gives each robot in a namespace for itself."""


@dataclass(frozen=True)
class Role:
    """The topics and services of one node.

    Attributes:
        node: its name.
        publishes, subscribes: topics of the table.
        serves: services of the table.
        managed: whether it has a lifecycle.
        others: further topics that it publishes.
        asks: services that it calls.
    """

    node: str
    publishes: tuple[Topic, ...]
    subscribes: tuple[Topic, ...]
    serves: tuple[Service, ...] = ()
    managed: bool = False
    others: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()


def _names(entries: Iterable[Topic | Service]) -> list[str]:
    return [entry.name for entry in entries]


_STATES = (io.ODOM, io.JOINT_STATES)
_TIME = (io.RESET, io.PAUSE, io.STEP)

ROLES = {
    "planner": Role(
        "planner",
        publishes=(
            io.POLICY,
            io.SOLVES,
            io.PLAN,
            io.PLAN_MARKERS,
            io.SOLVE_TIME,
            io.SOLVE_ITERATIONS,
            io.SOLVE_COST,
            io.SPEED,
            io.PLANNER_ACTIVE,
            io.DIAGNOSTICS,
        ),
        subscribes=(io.CMD_VEL, io.BODY_POSE, io.PLAN_REQUEST, io.CLOCK),
        managed=True,
    ),
    "controller": Role(
        "controller",
        publishes=(
            io.JOINT_COMMAND,
            io.PLAN_REQUEST,
            io.CONTACTS,
            io.CONTROLLER_EVENTS,
            io.MODE,
            io.POLICY_AGE,
            io.STATE_AGE,
            io.FELT,
            io.ESTIMATE,
            io.CONTROLLER_ACTIVE,
            io.DIAGNOSTICS,
        ),
        subscribes=(*_STATES, io.IMU, io.POLICY, io.EXECUTION, io.CLOCK),
        serves=(io.DAMP, io.STAND, io.MOVE, io.RECOVER, *map(io.motion_service, packaged_motions())),
        managed=True,
    ),
    "simulator": Role(
        "simulator",
        publishes=(
            *_STATES,
            io.IMU,
            io.CLOCK,
            io.RECORD,
            io.FORCE_MARKERS,
            io.REAL_TIME_FACTOR,
            io.DIAGNOSTICS,
        ),
        subscribes=(io.JOINT_COMMAND, io.PUSH, io.CLOCK),
        serves=_TIME,
    ),
    "lcm_bridge": Role(
        "bridge",
        publishes=(*_STATES, io.IMU, io.EXECUTION, io.CLOCK, io.RECORD, io.DIAGNOSTICS),
        subscribes=(io.JOINT_COMMAND, io.CONTACTS, io.CLOCK),
        serves=(io.PAUSE,),
    ),
    "unitree": Role(
        "unitree",
        publishes=(io.JOINT_STATES, io.IMU, io.EXECUTION, io.CMD_VEL, io.CLOCK, io.RECORD, io.DIAGNOSTICS),
        subscribes=(io.JOINT_COMMAND, io.CLOCK),
        serves=(io.PAUSE, io.RELEASE, io.RESTORE),
        asks=(*_names((io.STAND, io.MOVE, io.DAMP, io.RECOVER)), "planner/set_parameters_atomically"),
    ),
    "gazebo_bridge": Role(
        "gazebo_bridge",
        publishes=(*_STATES, io.IMU, io.CLOCK, io.REAL_TIME_FACTOR, io.DIAGNOSTICS),
        subscribes=(io.JOINT_COMMAND, io.PUSH, io.CLOCK),
        serves=_TIME,
    ),
    "drives": Role(
        "drives",
        publishes=(io.EFFORTS, *(io.joint_effort(joint) for joint in JOINT_NAMES), io.DIAGNOSTICS),
        subscribes=(io.JOINT_COMMAND, io.JOINT_STATES, io.CLOCK),
    ),
    "driver": Role("driver", publishes=(*_STATES, io.IMU, io.DIAGNOSTICS), subscribes=(io.JOINT_COMMAND, io.CLOCK)),
    "estimator": Role("estimator", publishes=(io.ODOM, io.DIAGNOSTICS), subscribes=(io.IMU, io.JOINT_STATES, io.CLOCK)),
    "frames": Role("frames", publishes=(), subscribes=(io.ODOM, io.ESTIMATE, io.CLOCK), others=("/tf",)),
}
"""Roles by name of the enclave."""

_COMMANDED = (io.CMD_VEL, io.BODY_POSE, io.PUSH)
"""Topics by which people command."""


def security_policy(namespace: str = "/") -> str:
    """The policy for nodes in a namespace, as XML."""
    root = ElementTree.Element("policy", version=FORMAT)
    enclaves = ElementTree.SubElement(root, "enclaves")
    for name, role in ROLES.items():
        _add_node(_profile(enclaves, name, namespace, role.node), role)
    _add_operator(_profile(enclaves, OPERATOR, namespace, OPERATOR))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    made = "<!-- Made by `contact-ddp security-policy` from the table of topics; a test compares the two. -->"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{made}\n{text}\n'


def _profile(enclaves: ElementTree.Element, name: str, namespace: str, node: str) -> ElementTree.Element:
    enclave = ElementTree.SubElement(enclaves, "enclave", path=f"{ENCLAVES}/{name}")
    profiles = ElementTree.SubElement(enclave, "profiles")
    return ElementTree.SubElement(profiles, "profile", ns=namespace, node=node)


def _add_node(profile: ElementTree.Element, role: Role) -> None:
    own = (*NODE_SERVICES, *(LIFECYCLE_SERVICES if role.managed else ()))
    transitions = (f"~/{TRANSITIONS}",) if role.managed else ()
    said = (*_names(role.publishes), *role.others, *transitions, _PARAMETER_EVENTS, _LOG)
    _allow(profile, "topic", "publish", said)
    _allow(profile, "topic", "subscribe", _names(role.subscribes))
    _allow(profile, "service", "reply", (*_names(role.serves), *(f"~/{name}" for name in own)))
    if role.asks:
        _allow(profile, "service", "request", role.asks)


def _add_operator(profile: ElementTree.Element) -> None:
    managed = [role.node for role in ROLES.values() if role.managed]
    of_nodes = [f"{role.node}/{name}" for role in ROLES.values() for name in NODE_SERVICES]
    of_nodes += [f"{node}/{name}" for node in managed for name in LIFECYCLE_SERVICES]
    heard = [topic for topic in TOPICS if topic not in _COMMANDED]
    others = [name for role in ROLES.values() for name in role.others]
    _allow(profile, "topic", "publish", (*_names(_COMMANDED), _PARAMETER_EVENTS, _LOG))
    transitions = [f"{node}/{TRANSITIONS}" for node in managed]
    _allow(profile, "topic", "subscribe", (*_names(heard), *others, *transitions, _PARAMETER_EVENTS, _LOG))
    _allow(profile, "service", "reply", [f"~/{name}" for name in NODE_SERVICES])
    services = [name for role in ROLES.values() for name in _names(role.serves)]
    _allow(profile, "service", "request", (*dict.fromkeys(services), *of_nodes))


def _allow(profile: ElementTree.Element, kind: str, verb: str, names: Iterable[str]) -> None:
    group = ElementTree.SubElement(profile, f"{kind}s", {verb: "ALLOW"})
    for name in names:
        ElementTree.SubElement(group, kind).text = name
        if name in _OWN_IN_NAMESPACE and profile.get("ns") != "/":
            ElementTree.SubElement(group, kind).text = name.removeprefix("/")
