"""The controller's side of planning: sends requests, receives policies, and waits for those that are due."""

import time as clock
from collections.abc import Callable
from threading import Event

from rclpy.node import Node

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import time_ns
from contact_ddp_ros.ros.estimate_messages import PlanRequest, RequestWriter
from contact_ddp_ros.ros.exchange import Answers, PlanTicks, Request
from contact_ddp_ros.ros.policy_message import STATUS_STOPPED, PolicyAnswer, serialised_policy_answer
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.runtime import publisher
from contact_ddp_ros.ros.timebase import Timebase

REPEAT = 0.5
"""Wall-clock time after which a request that nobody answers is sent again in lock-step [s]."""


class PlanClient:
    """Requests a plan once a period and returns every answer once."""

    def __init__(
        self,
        node: Node,
        inlet: Receiver,
        timebase: Timebase,
        refuse: Callable[[ContactDdpError], None],
        *,
        lockstep: bool,
    ) -> None:
        """Receive policies through `inlet`, their times in those of `timebase`.

        `refuse` is called with the error of a message that is no policy. In lock-step a policy ends a wait.
        """
        self._node, self._inlet, self._timebase, self._refuse = node, inlet, timebase, refuse
        self._requests = publisher(node, io.PLAN_REQUEST)
        self._writer = RequestWriter()
        self._sent: Answers[bytes] = Answers()
        self._answers: Answers[PolicyAnswer] = Answers()
        self._ticks = PlanTicks(0)
        self._planner_answers = True
        self._stop = Event()
        inlet.subscribe(io.POLICY, self.on_policy, raw=True, wakes=lockstep, reliable=lockstep)

    def begin(self, delay: float, stop: Event) -> None:
        """Start; policies are due `delay` [s] after their states. `stop` ends every wait."""
        self._ticks, self._stop = PlanTicks(time_ns(delay)), stop

    def ask(self, stamp: int, period: float, request: Callable[[], PlanRequest]) -> None:
        """Send the `request` of a state of that stamp [ns] if the last one is at least a `period` [s] ago."""
        if self._ticks.ask(stamp, time_ns(period)):
            message = self._writer.message(request())
            self._sent.put(stamp, message)
            self._requests.publish(message)

    def newest(self, stamp: int) -> list[PolicyAnswer]:
        """The latest new answer at a state of `stamp` [ns], if any; does not wait."""
        self._ticks.due(stamp)
        answer = self._answers.newest()
        return [] if answer is None else [answer]

    def due(self, stamp: int, timeout: float) -> list[PolicyAnswer]:
        """Wait for the answers that are due at a state of `stamp` [ns] and return them in order.

        A planner that is gone, or silent for `timeout` [s] of the wall clock, is not waited for until it answers again.
        """
        answers = (self._wait_for(request, timeout) for request in self._ticks.due(stamp))
        return [answer for answer in answers if answer is not None]

    def on_policy(self, message: bytes) -> None:
        """Process a serialised policy message."""
        try:
            answer = serialised_policy_answer(message, self._timebase.origin)
        except ContactDdpError as error:
            self._refuse(error)
            return
        self._planner_answers = answer.status != STATUS_STOPPED
        if self._planner_answers:
            self._answers.put(answer.stamp, answer)

    def _wait_for(self, request: Request, timeout: float) -> PolicyAnswer | None:
        def settled() -> bool:
            return self._answers.get(request.stamp) is not None or self._stop.is_set() or not self._planner_answers

        deadline = clock.monotonic() + timeout
        while not self._inlet.until(settled, REPEAT):
            asked = self._sent.get(request.stamp)
            if clock.monotonic() > deadline:
                self._give_planner_up("no policy within node.lockstep_timeout")
            elif self._answers.newest() is not None and not self._node.count_publishers(io.POLICY.name):
                self._give_planner_up("the planner is gone")
            elif asked is not None:
                self._requests.publish(asked)
        return self._answers.get(request.stamp)

    def _give_planner_up(self, reason: str) -> None:
        self._planner_answers = False
        self._node.get_logger().error(f"{reason}; going on without it")
