"""One controller, one planner, one clock per namespace: each announces itself, and a second one is refused.

Two controllers in one namespace command the same drives in turn, and two clocks make time jump. A node in such a role
publishes a topic for as long as it has the role (`controller/active`, `planner/active`, `/clock`); the middleware's
graph lists all publishers of it. A node looks there before it starts, and once a second while it works, for
diagnostics.

A node that was killed remains in the graph of others until the middleware's lease for it is over (20 s by default),
but a process that starts after its end never learns of it, so that a node which is started again is not refused.

A private corner of the middleware: a ROS domain that nobody else on this machine uses, over loopback only.

Two simultaneous runs must not receive each other's messages. A domain is reserved by locking a file, which the system
releases when the process ends for any reason, and by checking that no other program uses its discovery port.
"""

import contextlib
import fcntl
import os
import random
import socket
import tempfile
import time as clock
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rclpy.node import Node

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.ros.interfaces import ACTIVE, STAND, Topic
from contact_ddp_ros.ros.shutdown import building

_DOMAINS = range(20, 100)
"""Domains whose ports lie below those that systems hand out to programs; low numbers are left to people."""

_PORT_BASE, _PORTS_PER_DOMAIN, _UNICAST_OFFSET = 7400, 250, 10
"""The DDS rule for discovery ports (RTPS 2.2, section 9.6.1.1)."""

_FAST_DDS = "rmw_fastrtps"
"""Beginning of the names of the middleware that reads the profile, ROS 2's default."""

_OLDER_NAME = "jazzy"
"""The distribution that knows Fast DDS by its older name."""

_PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
"""Variables that name a profile: of Jazzy, and of Kilted and later."""

_TRANSPORTS = "FASTDDS_BUILTIN_TRANSPORTS"
"""Variable that names the transports of Fast DDS where no profile and no range of discovery does (Fast DDS 2.14)."""

PROFILE = Path("config", "fastdds_loopback.xml")
"""Path of the discovery profile in a checkout or a share folder."""


@contextlib.contextmanager
def reserved_domain() -> Iterator[int]:
    """Context manager: reserve a domain id that no other run uses.

    Raises:
        NodeError: all domains are in use.
    """
    for domain in _DOMAINS:
        lock = _lock(domain)
        if lock is None:
            continue
        try:
            if _is_silent(domain):
                yield domain
                return
        finally:
            os.close(lock)
    raise NodeError(f"ROS domains {_DOMAINS.start} to {_DOMAINS.stop - 1} are all in use; end some ROS processes")


def loopback_environment(domain: int) -> dict[str, str]:
    """Environment variables that confine a process to that domain and to this machine, with fast discovery."""
    variables = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    profile = _profile()
    if profile is not None and os.environ.get("RMW_IMPLEMENTATION", _FAST_DDS).startswith(_FAST_DDS):
        # The range LOCALHOST would put its own transports, shared memory among them, in place of the profile's.
        variables |= {
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",
            **profile_variables(str(profile)),
        }
    return variables


def profile_variables(profile: str) -> dict[str, str]:
    """Environment variables that name a Fast DDS profile file, also the one read by Jazzy and deprecated in Kilted."""
    older = os.environ.get("ROS_DISTRO", _OLDER_NAME) == _OLDER_NAME
    return dict.fromkeys(_PROFILES if older else _PROFILES[1:], profile)


def transport_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Environment variables that disable Fast DDS's shared memory; none if `environment` chooses the transports.

    A killed process leaves shared memory locked, and the other processes, a publishing planner among them, then block.
    """
    chosen = any(environment.get(name) for name in (_TRANSPORTS, *_PROFILES))
    fast_dds = (environment.get("RMW_IMPLEMENTATION") or _FAST_DDS).startswith(_FAST_DDS)
    return {_TRANSPORTS: "UDPv4"} if fast_dds and not chosen else {}


def _profile() -> Path | None:
    places = [Path(__file__).resolve().parents[2] / PROFILE]
    with contextlib.suppress(ImportError, LookupError, OSError):
        from ament_index_python.packages import get_package_share_directory

        places.append(Path(get_package_share_directory("contact_ddp_ros")) / PROFILE)
    return next((place for place in places if place.is_file()), None)


def _lock(domain: int) -> int | None:
    """An open, locked file of that domain; None where somebody else has it."""
    path = Path(tempfile.gettempdir()) / f"contact_ddp_ros_domain_{domain}.lock"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def _is_silent(domain: int) -> bool:
    """True if no participant of that domain is on this machine: the first one's discovery port is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", _PORT_BASE + _PORTS_PER_DOMAIN * domain + _UNICAST_OFFSET))
        except OSError:
            return False
    return True


_PATIENCE = 3.0
"""Time that another node has to give the part up before this one is refused, at least [s].

Up to twice that, at random: of two that begin at once and see each other, one gives up first.
"""

_LOOK = 0.05
"""Time between two looks at the graph [s]."""


def next_step(node: Node) -> str:
    """Hint for the log: what to do next, now that a planner or controller is active."""
    missing = [name for name, topic in ACTIVE.items() if not node.count_publishers(topic.name)]
    if missing:
        return f"active; waiting for the {' and the '.join(missing)}"
    stand = node.resolve_service_name(STAND.name)
    return f"planner and controller are active; next: ros2 service call {stand} std_srvs/srv/Trigger"


class SingleInstanceLock:
    """A role that only one node may have, announced by publishing its topic.

    A node publishes the topic before it looks for others, so that of two that begin at once neither is overlooked.
    """

    def __init__(self, node: Node, topic: Topic) -> None:
        """Lock of a node that has just been made: others become known from now on."""
        self._node, self._topic = node, topic
        self._name = node.resolve_topic_name(topic.name)
        self._publisher: Any = None
        self._began = clock.monotonic()

    def take(self, discovery_time: float) -> Any:
        """Take the role and return the publisher of its topic.

        Waits until `discovery_time` [s] after the node was created, when earlier holders of the role have been
        discovered. A signal during the wait raises KeyboardInterrupt.

        Raises:
            NodeError: another node has the role and keeps it.
        """
        if self._publisher is None:
            self._publisher = self._node.create_publisher(self._topic.type, self._topic.name, self._topic.qos)
        try:
            with building():
                self._wait_for_others(discovery_time)
        except BaseException:
            self.release()
            raise
        return self._publisher

    def _wait_for_others(self, discovery_time: float) -> None:
        """Return when discovery has had its time and nobody else is there.

        Somebody who is seen for a moment only, as is a publisher whose node is not known yet, shortens nothing.
        """
        known = self._began + discovery_time
        deadline = clock.monotonic() + _PATIENCE * random.uniform(1.0, 2.0)
        while (others := self.others()) or clock.monotonic() < known:
            if others and clock.monotonic() > deadline:
                raise NodeError(
                    f"{self._name} is published by {', '.join(others)} already and allows one publisher; end or "
                    "deactivate that node, use another namespace, or wait 20 s where it has been killed"
                )
            clock.sleep(_LOOK)

    def release(self) -> None:
        """Give up the role."""
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None

    def others(self) -> list[str]:
        """Full names of the other nodes that have the role."""
        names = [
            f"{one.node_namespace.rstrip('/')}/{one.node_name}"
            for one in self._node.get_publishers_info_by_topic(self._name)
        ]
        own = self._node.get_fully_qualified_name()
        if self._publisher is not None and own in names:
            names.remove(own)
        return names

    def complaint(self) -> str:
        """Error text for diagnostics; empty if no other node has the role."""
        others = self.others()
        return f"{self._name} is also published by {', '.join(others)}" if others else ""
