"""Frames over LCM: UDP multicast on this machine, or out of one network interface to the robot.

LCM sends multicast where the system's routing table says, and cannot be told otherwise. An interface that is asked for
is therefore compared with the one that the table chooses, and an error names the command that sets it right.
"""

import fcntl
import ipaddress
import os
import select
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.errors import LinkError

GROUP = "239.255.76.67"
PORT = 7667
"""LCM's own multicast group and port."""

_QUEUE = 1000
"""Frames of a channel that may wait: two seconds at 500 Hz, for LCM drops the newest of those that find no room."""

_SIOCGIFADDR = 0x8915
"""Linux's ioctl that tells the IPv4 address of an interface."""
_IFREQ_SIZE, _ADDRESS = 256, slice(20, 24)
_LONGEST_INTERFACE_NAME = 15

Callback = Callable[[bytes], None]


@dataclass(frozen=True)
class LinkOptions:
    """Multicast group, port and network interface of the link."""

    interface: str = parameter(
        "", description="network interface to the robot; empty: frames never leave this machine", structural=True
    )
    ttl: int = parameter(
        1, low=1, high=32, description="hops that frames may take once an interface is named", structural=True
    )
    group: str = parameter(GROUP, description="multicast address", structural=True)
    port: int = parameter(PORT, low=1024, high=65535, description="UDP port", structural=True)
    prefix: str = parameter("", description="in front of every channel's name", structural=True)


class Link:
    """LCM connection to one multicast group and port."""

    def __init__(self, options: LinkOptions) -> None:
        """Raises LinkError where the group, the interface or the route of multicast is not usable."""
        _check_group(options.group)
        if options.interface:
            _check_route(options)
        self._prefix = options.prefix
        self._lcm = _opened(options)

    def subscribe(self, channel: str, callback: Callback) -> None:
        """Have :meth:`receive` call `callback` with every frame of a channel."""
        subscription = self._lcm.subscribe(self._prefix + channel, lambda _channel, data: callback(data))
        subscription.set_queue_capacity(_QUEUE)

    def publish(self, channel: str, frame: bytes) -> None:
        """Publish a frame on a channel.

        Raises:
            LinkError: the system refuses, e.g. because the interface is down.
        """
        try:
            self._lcm.publish(self._prefix + channel, frame)
        except OSError as error:
            raise LinkError(f"cannot send on {channel}: {error}") from error

    def receive(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] for a frame, then process all queued frames; return whether there was one.

        Readers that use only the newest frame should do so after this call, when the queue is empty.
        """
        found = False
        while select.select([self._lcm.fileno()], [], [], 0.0 if found else timeout)[0]:
            self._lcm.handle()
            found = True
        return found


def free_port() -> int:
    """A UDP port that is free on this machine, for a private link."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _opened(options: LinkOptions) -> Any:
    """LCM's own complaint goes to standard error; what is missing is looked up here to say it in one line."""
    try:
        import lcm
    except ImportError as error:
        context = error.__context__  # lcm looks elsewhere for itself where a library of the system is missing
        cause = context if isinstance(context, ImportError) else error
        absent = isinstance(cause, ModuleNotFoundError)
        remedy = "pip install lcm" if absent else "install that library (Debian, Ubuntu: libglib2.0-0)"
        raise LinkError(f"the link needs the Python package lcm: {cause}; {remedy}") from error
    url = f"udpm://{options.group}:{options.port}?ttl={options.ttl if options.interface else 0}"
    source = _source_address(options)
    if source is None:
        raise LinkError(
            f"no route for multicast to {options.group}; on a machine without a network: sudo ip link set lo multicast"
            f" on && sudo ip route add {options.group}/32 dev lo"
        )
    try:
        return lcm.LCM(url)
    except RuntimeError as error:
        raise LinkError(f"cannot open {url}: {error}; see docs/robot.md, Network") from error


def _check_group(group: str) -> None:
    try:
        multicast = ipaddress.IPv4Address(group).is_multicast
    except ValueError:
        multicast = False
    if not multicast:
        raise LinkError(f"group {group!r} is no multicast address; allowed: 224.0.0.0 to 239.255.255.255")


def _check_route(options: LinkOptions) -> None:
    """Multicast leaves through the interface that is asked for."""
    name, wanted = options.interface, _interface_address(options.interface)
    source = _source_address(options)
    if source != wanted:
        leaves = "has no route" if source is None else f"leaves from {source}"
        raise LinkError(
            f"multicast to {options.group} {leaves}, not from {name} ({wanted}); "
            f"sudo ip route replace {options.group}/32 dev {name}"
        )


def _interface_address(name: str) -> str:
    known = [entry for _, entry in socket.if_nameindex()]
    if name not in known or len(name) > _LONGEST_INTERFACE_NAME:
        raise LinkError(f"no network interface {name!r}; there are {', '.join(known)}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            found = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack(f"{_IFREQ_SIZE}s", os.fsencode(name)))
        except OSError as error:
            raise LinkError(
                f"network interface {name} has no IPv4 address ({error.strerror}); give it one in the robot's network"
            ) from error
    return socket.inet_ntoa(found[_ADDRESS])


def _source_address(options: LinkOptions) -> str | None:
    """The address that multicast to the group leaves from; None where the system has no route for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((options.group, options.port))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def logged(path: Path) -> Iterator[Any]:
    """Events of a file of lcm-logger: `eventnum`, `timestamp` [us], `channel`, `data`."""
    import lcm

    return iter(lcm.EventLog(str(path)))
