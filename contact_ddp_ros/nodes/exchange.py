"""What nodes keep between messages: the newest of each kind, who answered what, and how lock-step waits.

Lock-step rests on stamps. The simulator publishes the state of time t and holds time until a command stamped t has
come. The controller asks the planner, by a request stamped t, for a policy at every planner tick, and holds its command
for t' back until each request that is due by then (t + planner delay <= t') is answered: by a policy stamped t or
by the word that there is none. Messages may so come late or in any order; nothing depends on the machine's speed. What
was lost before two endpoints had found each other is sent again: the simulator repeats a state that nobody answers, the
controller a command or a request.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Message = TypeVar("Message")

_PERIOD_SHARE = 1000
"""The part of a planner period by which a request may come early is one over this."""


class Pairing:
    """Joins the joint states and the odometry of one instant, in whatever order they arrive."""

    def __init__(self, tolerance_ns: int) -> None:
        """`tolerance_ns`: how far the two stamps may differ."""
        self._tolerance = tolerance_ns
        self._waiting: list[tuple[int, Any] | None] = [None, None]

    def joints(self, stamp: int, message: Any) -> tuple[Any, Any] | None:
        """Take joint states; the pair (joint states, odometry) if that completes one."""
        return self._take(0, stamp, message)

    def odometry(self, stamp: int, message: Any) -> tuple[Any, Any] | None:
        """Take odometry; the pair (joint states, odometry) if that completes one."""
        return self._take(1, stamp, message)

    def _take(self, kind: int, stamp: int, message: Any) -> tuple[Any, Any] | None:
        other = self._waiting[1 - kind]
        if other is None or abs(other[0] - stamp) > self._tolerance:
            self._waiting[kind] = (stamp, message)
            return None
        self._waiting = [None, None]
        return (message, other[1]) if kind == 0 else (other[1], message)


class Answers(Generic[Message]):
    """Answers by the stamp of the question; for one thread."""

    def __init__(self, capacity: int = 64) -> None:
        """`capacity`: answers kept; older ones are forgotten."""
        self._answers: OrderedDict[int, Message] = OrderedDict()
        self._capacity = capacity

    def put(self, stamp: int, answer: Message) -> None:
        """Keep an answer; the newest of several to one question counts."""
        self._answers[stamp] = answer
        self._answers.move_to_end(stamp)
        while len(self._answers) > self._capacity:
            self._answers.popitem(last=False)

    def get(self, stamp: int) -> Message | None:
        """The answer to the question of that stamp, or None."""
        return self._answers.get(stamp)

    def newest(self) -> Message | None:
        """The answer put last, or None."""
        return next(reversed(self._answers.values())) if self._answers else None


@dataclass(frozen=True)
class Request:
    """A question to the planner: the stamp of its state [ns] and when its policy is due at the controller [ns]."""

    stamp: int
    due: int


class PlanTicks:
    """When the controller asks for a plan, and which answers it waits for in lock-step."""

    def __init__(self, delay_ns: int) -> None:
        """`delay_ns`: modelled time between the state and the arrival of its policy."""
        self._delay = delay_ns
        self._last: int | None = None
        self._open: list[Request] = []

    def ask(self, stamp: int, period_ns: int) -> bool:
        """Whether a plan is to be asked for at this stamp, the last request being a period or more ago.

        Stamps are rounded: a nanosecond less than a period is one, or the plan would come a control period late.
        """
        if self._last is not None and 0 <= stamp - self._last < period_ns - period_ns // _PERIOD_SHARE:
            return False
        self._last = stamp
        self._open.append(Request(stamp, stamp + self._delay))
        return True

    def due(self, stamp: int) -> list[Request]:
        """The requests whose policies are to be there by `stamp`, oldest first; each is given once."""
        due = [request for request in self._open if request.due <= stamp]
        self._open = [request for request in self._open if request.due > stamp]
        return due
