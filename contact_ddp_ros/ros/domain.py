"""A private corner of the middleware: a ROS domain that nobody else on this machine uses, over loopback only.

Two simultaneous runs must not receive each other's messages. A domain is reserved by locking a file, which the system
releases when the process ends for any reason, and by checking that no other program uses its discovery port.
"""

import contextlib
import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from contact_ddp_ros.base.errors import NodeError

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
"""Where the discovery profile is in a checkout or a share folder."""


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
    """Whether no participant of that domain is on this machine: the first one's discovery port is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", _PORT_BASE + _PORTS_PER_DOMAIN * domain + _UNICAST_OFFSET))
        except OSError:
            return False
    return True
