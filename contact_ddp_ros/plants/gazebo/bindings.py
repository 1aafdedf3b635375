"""Transport of the Gazebo bridge: nodes with the interface of Gazebo's bindings, and their message types."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

EMULATOR: Final = "emulator"
"""Name of the bindings of :mod:`contact_ddp_ros.plants.gazebo.emulator`, which need no Gazebo."""


class Publisher(Protocol):
    """Publisher of one topic."""

    def publish(self, message: Any) -> bool:
        """Publish a message; return whether that succeeded."""
        ...


class Node(Protocol):
    """Interface of a transport node, that of Gazebo's bindings."""

    def advertise(self, topic: str, message_type: Any) -> Publisher:
        """Create a publisher of a topic."""
        ...

    def subscribe(self, message_type: Any, topic: str, callback: Callable[[Any], None]) -> bool:
        """Call `callback` in another thread with every message of a topic; return whether that succeeded."""
        ...

    def unsubscribe(self, topic: str) -> bool:
        """Unsubscribe from a topic; return whether that succeeded."""
        ...

    def request(
        self, service: str, request: Any, request_type: Any, response_type: Any, timeout: int
    ) -> tuple[bool, Any]:
        """Call a service: whether it answered within `timeout` [ms], and its answer."""
        ...


@dataclass(frozen=True)
class Messages:
    """The message types that are used; the attributes of their objects are those of gz.msgs."""

    Double: Any
    Model: Any
    Odometry: Any
    IMU: Any
    WorldControl: Any
    Boolean: Any
    EntityWrench: Any


@dataclass(frozen=True)
class Bindings:
    """Transport of the bridge.

    Attributes:
        name: for people, and to load the same one in another process.
        node: makes a node.
        messages: their types.
    """

    name: str
    node: Callable[[], Node]
    messages: Messages
