"""All uses of rclpy that are not public: waiting without an executor, lifecycle, initial parameters.

They may change with any version of rclpy. Where one is missing, :func:`check` raises, before anything is started, an
error that names it, the version found and the versions known to work.
"""

from collections.abc import Iterable
from functools import reduce
from importlib import import_module, metadata
from typing import Any

from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.node import Node

from contact_ddp_ros.base.errors import NodeError

KNOWN = ("7.1",)
"""Beginnings of the versions of rclpy with which everything here is known to work: Jazzy's."""

_CHANGE_STATE = "_LifecycleNodeMixin__change_state"
"""Method that carries a transition out, as Python calls it outside its class."""

_WAIT_SET = ("clear_entities", "add_subscription", "add_guard_condition", "wait", "get_ready_entities")

PARTS = {
    "rclpy.impl.implementation_singleton": (
        *(f"rclpy_implementation.WaitSet.{name}" for name in _WAIT_SET),
        "rclpy_implementation.GuardCondition.trigger_guard_condition",
        "rclpy_implementation.Subscription.take_message",
        "rclpy_implementation.RCLError",
    ),
    "rclpy.lifecycle": (f"LifecycleNodeMixin.{_CHANGE_STATE}",),
}
"""Names in use, by module; attributes that only objects have are looked for where they are used."""


def check() -> None:
    """Check that rclpy has the parts that are used.

    Raises:
        NodeError: some are missing; the text names them and the version.
    """
    missing = [f"{module}.{name}" for module, names in PARTS.items() for name in names if not _has(module, name)]
    if missing:
        raise _unknown(missing)


def given_parameters(node: Node) -> dict[str, Any]:
    """Initial parameters of a node by name, declared or not, from the command line, files and its constructor.

    Raises:
        NodeError: this version of rclpy does not provide them.
    """
    given: dict[str, Any] = _attribute(node, "_parameter_overrides")
    return given


class Waiter:
    """Waits for messages of some subscriptions of a node, or for :meth:`wake`."""

    def __init__(self, node: Node) -> None:
        """Start without a wait."""
        self._rclpy = _implementation()
        self._context = node.context
        self._guard = self._rclpy.GuardCondition(node.context.handle)

    def wake(self) -> None:
        """End a wait; may be called from any thread."""
        self._guard.trigger_guard_condition()

    def wait(self, subscriptions: Iterable[Any], timeout: float) -> bool:
        """Wait up to `timeout` [s]; returns whether a message or a wake-up has arrived."""
        handles = [one.handle for one in subscriptions]
        waiting = self._rclpy.WaitSet(len(handles), 1, 0, 0, 0, 0, self._context.handle)
        waiting.clear_entities()
        waiting.add_guard_condition(self._guard)
        for handle in handles:
            waiting.add_subscription(handle)
        waiting.wait(round(1e9 * timeout))
        return any(waiting.get_ready_entities(kind) for kind in ("subscription", "guard_condition"))


def take(subscription: Any) -> Any:
    """The next message of a subscription, serialised if the subscription is raw; None if there is none."""
    taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    return None if taken is None else taken[0]


class OrderlyLifecycleNode(LifecycleNode):  # type: ignore[misc]
    """rclpy's lifecycle node; it refuses invalid transitions and frees its services when destroyed."""

    def destroy_node(self) -> None:
        """Destroy the node with its state machine, whose services rclpy would leave visible for another 20 s."""
        super().destroy_node()
        _attribute(self, "_state_machine").destroy_when_not_in_use()

    def _LifecycleNodeMixin__change_state(self, transition_id: int) -> TransitionCallbackReturn:
        """Refuse a transition that the present state does not have; rclpy would end its executor."""
        try:
            return getattr(super(), _CHANGE_STATE)(transition_id)
        except _implementation().RCLError:
            state = _attribute(self, "_state_machine").current_state[1]
            self.get_logger().error(f"no such transition from the state {state}")
            return TransitionCallbackReturn.FAILURE


def _implementation() -> Any:
    """rclpy's compiled part."""
    return import_module("rclpy.impl.implementation_singleton").rclpy_implementation


def _has(module: str, name: str) -> bool:
    try:
        reduce(getattr, name.split("."), import_module(module))
    except (ImportError, AttributeError):
        return False
    return True


def _attribute(owner: Any, name: str) -> Any:
    if not hasattr(owner, name):
        raise _unknown([f"{type(owner).__name__}.{name}"])
    return getattr(owner, name)


def _unknown(missing: list[str]) -> NodeError:
    try:
        found = metadata.version("rclpy")
    except metadata.PackageNotFoundError:
        found = "of an unknown version"
    versions = ", ".join(f"{version}.x" for version in KNOWN)
    return NodeError(f"rclpy {found} has no {', '.join(missing)}; known to work: rclpy {versions}")
