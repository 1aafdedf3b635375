"""A node with ROS 2's lifecycle whose work has the main thread to itself.

    unconfigured --configure--> inactive --activate--> active --deactivate--> inactive --cleanup--> unconfigured

Configuring builds the node's object and its topics, activating starts its work, deactivating sends the last messages
and ends it. Parameters exist in every state; structural ones may change in all but the active one, and activation then
rebuilds the object. With the parameter `node.autostart` the node goes to active by itself, and a failure on
that way ends the process.

Requests for transitions arrive in the executor's thread, which waits while the main thread carries them out between two
stretches of work.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event, current_thread, main_thread
from typing import Any, Generic, Protocol, TypeVar

from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.node import Node

from contact_ddp_ros.base.errors import ContactDdpError, NodeError
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.interfaces import Topic
from contact_ddp_ros.ros.parameters import NodeParameters, fitted
from contact_ddp_ros.ros.rclpy_internals import OrderlyLifecycleNode
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics
from contact_ddp_ros.ros.runtime import Part, Work, describe
from contact_ddp_ros.ros.shutdown import building
from contact_ddp_ros.ros.single_instance import SingleInstanceLock, next_step

Config = TypeVar("Config")

_SUCCESS, _FAILURE, _ERROR = (
    TransitionCallbackReturn.SUCCESS,
    TransitionCallbackReturn.FAILURE,
    TransitionCallbackReturn.ERROR,
)

_DEACTIVATE_FIRST = "deactivate the node first"

_LOOK = 0.1
"""Longest wait of a transition for the main thread between two looks at whether that has ended [s]."""


class ManagedWork(Work, Protocol):
    """A node's own part while it is configured."""

    def configure(self, config: Any) -> None:
        """Apply parameters that are not structural.

        Raises:
            ContactDdpError: they cannot be used; the old ones stay in use.
        """
        ...

    def report(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values for diagnostics."""
        ...


Build = Callable[[Node, NodeParameters[Any]], ManagedWork]


def managed_part(name: str, defaults: Any, build: Build) -> Part:
    """The part of a process that is a lifecycle node; it must work in the main thread.

    `defaults` is the node's configuration, with `node.autostart`; `build` creates its work from the parameters.
    """
    return Part(name, lambda node: Lifecycle(node, defaults, build, io.ACTIVE[name]), _ManagedNode)


class Lifecycle(Generic[Config]):
    """The lifecycle of one node, as the work of its process in all states."""

    def __init__(self, node: "_ManagedNode", defaults: Config, build: Build, part: Topic) -> None:
        """Declare the parameters and, where the node starts by itself, go to active.

        `part` is the topic that only one active node publishes; see :mod:`contact_ddp_ros.ros.single_instance`.

        Raises:
            ContactDdpError: a parameter is not usable, or what the node needs could not be built.
        """
        self.node = node
        self._build = build
        self._work: ManagedWork | None = None
        self._entities = _Entities(node)
        self._claim = SingleInstanceLock(node, part)
        self._transitions: SimpleQueue[_Transition | None] = SimpleQueue()
        self._pause = Event()
        self._ended = False
        self._refusal: Exception | None = None
        self.active = False
        fixed = lambda: _DEACTIVATE_FIRST if self.active else ""  # noqa: E731
        self._parameters = NodeParameters(node, fitted(node, defaults), fixed=fixed)
        self._diagnostics = Diagnostics(node, self._report)
        self._entities.keep()
        node.lifecycle = self
        if self._parameters.config.node.autostart:  # type: ignore[attr-defined]
            for go in (node.trigger_configure, node.trigger_activate):
                if go() != _SUCCESS:
                    raise self._refusal or NodeError(f"could not {go.__name__.removeprefix('trigger_')}")
            node.get_logger().info(next_step(node))

    def run(self, stop: Event) -> None:
        """Work while active, and carry out transitions, until `stop`."""
        while not stop.is_set():
            self._pause.clear()
            if self.active and self._work is not None and self._transitions.empty():
                self._work.run(self._pause)
            transition = self._transitions.get()
            if transition is not None:
                transition.carry_out()

    def wake(self) -> None:
        """End what `run` waits for."""
        self._transitions.put(None)
        self._interrupt()

    def farewell(self) -> None:
        """Send the work's last messages; later requests for transitions fail."""
        self._rest()
        self._ended = True

    def configure(self) -> TransitionCallbackReturn:
        """Build the work."""
        return self._attempt(self._renew)

    def activate(self) -> TransitionCallbackReturn:
        """Start the work, rebuilt if a structural parameter has changed."""
        return self._attempt(self._begin)

    def deactivate(self) -> TransitionCallbackReturn:
        """Send the last messages and end the work."""
        return self._attempt(self._rest)

    def cleanup(self) -> TransitionCallbackReturn:
        """Destroy what :meth:`configure` built."""
        return self._attempt(self._give_up)

    def in_main_thread(self, action: Callable[[], TransitionCallbackReturn]) -> TransitionCallbackReturn:
        """Carry out a transition in the main thread and wait for it."""
        if current_thread() is main_thread():
            return action()
        transition = _Transition(action)
        self._transitions.put(transition)
        self._interrupt()
        while not self._ended:
            try:
                result = transition.result.get(timeout=_LOOK)
            except Empty:
                continue
            if result != _SUCCESS and self._refusal is not None:
                self.node.get_logger().error(describe(self._refusal))
            return result
        return _FAILURE

    def _attempt(self, step: Callable[[], None]) -> TransitionCallbackReturn:
        self._refusal = None
        try:
            step()
        except ContactDdpError as error:
            self._refusal = error
            return _FAILURE
        except Exception as error:  # noqa: BLE001  (whoever asked gets an answer, the log the reason)
            self._refusal = error
            return _ERROR
        return _SUCCESS

    def _interrupt(self) -> None:
        self._pause.set()
        if self._work is not None:
            self._work.wake()

    def _begin(self) -> None:
        if outdated := self._parameters.outdated:
            self.node.get_logger().info(f"building anew: {', '.join(outdated)} changed")
            self._renew()
        self._claim.take(self._parameters.config.node.discovery_time)  # type: ignore[attr-defined]
        self.active = True

    def _renew(self) -> None:
        """Build the work; what was built before is given up only if that succeeds."""
        before = self._entities.made()
        try:
            with building():
                work = self._build(self.node, self._parameters)
        except BaseException:
            self._entities.destroy(self._entities.made() - before)
            raise
        self._entities.destroy(before)
        self._work = work
        self._parameters.connect(work.configure)

    def _rest(self) -> None:
        try:
            if self.active and self._work is not None:
                self._work.farewell()
        finally:
            self._claim.release()
            self.active = False

    def _give_up(self) -> None:
        self._rest()
        self._parameters.connect(None)
        self._work = None
        self._entities.destroy(self._entities.made())

    def _report(self) -> tuple[bytes, str, dict[str, Any]]:
        if self._work is None:
            return WARN, "unconfigured", {}
        level, text, values = self._work.report()
        values = {"lifecycle": "active" if self.active else "inactive", **values}
        if not self.active:
            return (WARN, "inactive", values) if level == OK else (level, text, values)
        if complaint := self._claim.complaint():
            return ERROR, complaint, values
        return level, text, values


class _Transition:
    """One that waits for the main thread, and where its result goes."""

    def __init__(self, action: Callable[[], TransitionCallbackReturn]) -> None:
        self.result: SimpleQueue[TransitionCallbackReturn] = SimpleQueue()
        self._action = action

    def carry_out(self) -> None:
        result = _ERROR
        try:
            result = self._action()
        finally:
            self.result.put(result)


class _Entities:
    """Publishers, subscriptions, clients, services and timers of a node beyond those it is to keep."""

    _KINDS = ("publisher", "subscription", "client", "service", "timer")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kept: set[Any] = set()

    def keep(self) -> None:
        """Keep everything that there is."""
        self._kept |= self.made()

    def made(self) -> set[Any]:
        """Entities that are not kept."""
        return {entity for kind in self._KINDS for entity in getattr(self._node, f"{kind}s")} - self._kept

    def destroy(self, entities: set[Any]) -> None:
        """Give these up."""
        for kind in self._KINDS:
            for entity in [one for one in getattr(self._node, f"{kind}s") if one in entities]:
                getattr(self._node, f"destroy_{kind}")(entity)


class _ManagedNode(OrderlyLifecycleNode):
    """rclpy's lifecycle node, its transitions handed to :class:`Lifecycle`."""

    lifecycle: Lifecycle[Any]

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Unconfigured to inactive."""
        return self.lifecycle.in_main_thread(self.lifecycle.configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Inactive to active."""
        return self.lifecycle.in_main_thread(self.lifecycle.activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Active to inactive."""
        return self.lifecycle.in_main_thread(self.lifecycle.deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Inactive to unconfigured."""
        return self.lifecycle.in_main_thread(self.lifecycle.cleanup)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Go to finalized from any state; the process stays until a signal ends it."""
        return self.lifecycle.in_main_thread(self.lifecycle.cleanup)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After an unexpected error in a transition: to unconfigured."""
        return self.lifecycle.in_main_thread(self.lifecycle.cleanup)
