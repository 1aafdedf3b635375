"""Services of running nodes, called for the live page: one after another, again where that helps, never waited for."""

import time as clock
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.runs.live.commands import Answer

_SETTLING, _AGAIN = 10.0, 0.2
"""Time for which, and interval at which, a service is asked after another [s]."""


class Calls:
    """Calls services; answers go to a function."""

    def __init__(self, node: Node, tell: Callable[[Answer], None]) -> None:
        """`tell` gets every answer."""
        self._tell = tell
        self._node = node
        self._triggers = {
            one.name: node.create_client(Trigger, one.name)
            for one in (io.STAND, io.MOVE, io.RECOVER, io.DAMP, io.RESET, io.STEP)
        }
        self._pause = node.create_client(SetBool, io.PAUSE.name)
        self._later: list[tuple[float, Callable[[], None]]] = []

    def offered(self, service: io.Service) -> bool:
        """True if a node offers one of the services."""
        client = self._pause if service is io.PAUSE else self._triggers[service.name]
        return bool(client.service_is_ready())

    def motions(self) -> tuple[str, ...]:
        """Names of the motions for which there are services, from now on among those that can be called."""
        prefix = self._node.resolve_service_name(io.motion_service("any").name).removesuffix("any")
        found = [name for name, _ in self._node.get_service_names_and_types() if name.startswith(prefix)]
        names = tuple(sorted(name.removeprefix(prefix) for name in found))
        for service in map(io.motion_service, names):
            if service.name not in self._triggers:
                self._triggers[service.name] = self._node.create_client(Trigger, service.name)
        return names

    def trigger(self, service: io.Service, *then: io.Service, patience: float = 0.0) -> None:
        """Call a service, and others one after another where it does what it is asked.

        One that refuses is asked again for `patience` [s]: after a reset the controller believes the new state a moment
        later.
        """
        self._call(service, then, patience, self._refused)

    def perform(self, motion: str) -> None:
        """Have a motion done, out of a stand where it does not begin lying."""
        service = io.motion_service(motion)

        def stand_first(_refused: Answer) -> None:
            self.trigger(io.STAND, service)

        self._call(service, (), 0.0, stand_first)

    def get_up(self) -> None:
        """Get up and bound; where the controller refuses, and there is a simulator, after a reset."""

        def put_up(refused: Answer) -> None:
            if not self.offered(io.RESET):
                self._tell(refused)
                return
            self._tell(Answer(True, f"put back on its feet at the start: {refused.text}"))
            self.trigger(io.RESET, io.STAND, io.MOVE)

        self._call(io.RECOVER, (io.MOVE,), 0.0, put_up)

    def pause(self, paused: bool, done: Callable[[], None]) -> None:
        """Let time stand or run; `done` is called where that has happened."""

        def answered(future: Any) -> None:
            answer = future.result()
            self._tell(Answer(answer.success, f"pause: {answer.message}"))
            if answer.success:
                done()

        self._pause.call_async(SetBool.Request(data=paused)).add_done_callback(answered)

    def do_what_is_due(self) -> None:
        """Ask again where it is time to."""
        now = clock.monotonic()
        due = [call for time, call in self._later if time <= now]
        self._later = [(time, call) for time, call in self._later if time > now]
        for call in due:
            call()

    def _call(
        self, service: io.Service, then: tuple[io.Service, ...], patience: float, refused: Callable[[Answer], None]
    ) -> None:
        if not self.offered(service):
            refused(Answer(False, f"there is no service {service.name}"))
            return

        def answered(future: Any) -> None:
            answer = future.result()
            if not answer.success and patience > 0.0:
                again = partial(self._call, service, then, patience - _AGAIN, refused)
                self._later.append((clock.monotonic() + _AGAIN, again))
                return
            said = Answer(answer.success, f"{service.name}: {answer.message}")
            if not answer.success:
                refused(said)
                return
            self._tell(said)
            if then:
                self.trigger(*then, patience=_SETTLING)

        self._triggers[service.name].call_async(Trigger.Request()).add_done_callback(answered)

    def _refused(self, answer: Answer) -> None:
        self._tell(answer)
