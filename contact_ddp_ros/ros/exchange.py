"""Pairing of messages by stamp, answers to requests, and the waits of lock-step.

Lock-step rests on stamps. The simulator publishes the state of time t and holds time until a command stamped t has
come. The controller asks the planner, by a request with the state of t, for a policy at every planner tick, and holds
its command for t' back until each request that is due by then (t + planner delay <= t') is answered: by a policy
stamped t or by a message that there is none. Messages may so come late or in any order; nothing depends on the
machine's speed. What was lost before two endpoints had found each other is sent again: the simulator repeats a state
that nobody answers, the controller a command or a request.

Topics of the control loop that stay inside one process, where both their ends are in it.

A message through the middleware costs some 50 us more of processor time, both ends together, and wakes threads of the
middleware on the way. Where controller and robot share a process (:mod:`contact_ddp_ros.ros.composed_node`), their
messages are handed over directly, still serialised. Subscribers in other processes get them through the middleware as
usual; publishers in other processes are not received.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message

from contact_ddp_ros.ros.interfaces import Topic

Message = TypeVar("Message")

_WAITING = 16
"""Messages of a kind that wait for their counterpart."""

_CLOCK_STEP = 1_000_000_000
"""A message older than the last pair by less has been overtaken; one that is older comes of a clock set back [ns]."""

_PERIOD_SHARE = 1000
"""The part of a planner period by which a request may come early is one over this."""


class Synchroniser(Generic[Message]):
    """Pairs messages of two kinds by stamp, in any order of arrival and with any delay.

    The last few of each kind are kept until their counterpart arrives. A new pair discards all older messages. The pair
    has the stamp of the first kind.
    """

    def __init__(self, tolerance: int, depth: int = _WAITING) -> None:
        """`tolerance`: how far the stamps of a pair may differ [ns]; `depth`: messages of a kind that wait."""
        self._tolerance = tolerance
        self._waiting: tuple[OrderedDict[int, Message], OrderedDict[int, Message]] = (OrderedDict(), OrderedDict())
        self._depth = depth
        self._paired: int | None = None
        self.alone = 0
        """Messages in a row that have not met their counterpart."""

    def put(self, kind: int, stamp: int, message: Message) -> tuple[int, Message, Message] | None:
        """Add a message of kind 0 or 1; returns (stamp, first, second) if it completes a pair, else None."""
        if self._paired is not None and 0 < self._paired - stamp < _CLOCK_STEP:
            return None
        own, others = self._waiting[kind], self._waiting[1 - kind]
        other = self._counterpart(others, stamp)
        if other is None:
            own[stamp] = message
            own.move_to_end(stamp)
            while len(own) > self._depth:
                own.popitem(last=False)
            self.alone += 1
            return None
        match = others[other]
        for waiting, used in ((own, stamp), (others, other)):
            for old in [one for one in waiting if one <= used]:
                del waiting[old]
        self.alone = 0
        pair = (stamp, message, match) if kind == 0 else (other, match, message)
        self._paired = pair[0]
        return pair

    @property
    def expecting(self) -> bool:
        """True if the newest message still lacks a counterpart that should arrive next."""
        return any(self._waiting)

    def _counterpart(self, others: "OrderedDict[int, Message]", stamp: int) -> int | None:
        if stamp in others:
            return stamp
        nearest = min(others, key=lambda other: abs(other - stamp), default=None)
        return nearest if nearest is not None and abs(nearest - stamp) <= self._tolerance else None


class Answers(Generic[Message]):
    """Answers by the stamp of their request; not thread-safe."""

    def __init__(self, capacity: int = 64) -> None:
        """`capacity`: answers kept; older ones are forgotten."""
        self._answers: OrderedDict[int, Message] = OrderedDict()
        self._capacity = capacity

    def put(self, stamp: int, answer: Message) -> None:
        """Store an answer; it replaces an earlier one to the same request."""
        self._answers[stamp] = answer
        self._answers.move_to_end(stamp)
        while len(self._answers) > self._capacity:
            self._answers.popitem(last=False)

    def get(self, stamp: int) -> Message | None:
        """The answer to the request of that stamp, or None."""
        return self._answers.get(stamp)

    def newest(self) -> Message | None:
        """The answer stored last, or None."""
        return next(reversed(self._answers.values())) if self._answers else None


@dataclass(frozen=True)
class Request:
    """A request to the planner: stamp of its state [ns], and stamp of the state at which its policy is due [ns]."""

    stamp: int
    due: int


class PlanTicks:
    """Schedules the controller's plan requests and lists the policies that are due in lock-step."""

    def __init__(self, delay_ns: int) -> None:
        """`delay_ns`: modelled time between the state and the arrival of its policy."""
        self._delay = delay_ns
        self._last: int | None = None
        self._open: list[Request] = []

    def ask(self, stamp: int, period_ns: int) -> bool:
        """True if to request a plan at this stamp: the last request is a period or more ago.

        Stamps are rounded: a nanosecond less than a period is one, or the plan would come a control period late.
        """
        if self._last is not None and 0 <= stamp - self._last < period_ns - period_ns // _PERIOD_SHARE:
            return False
        self._last = stamp
        self._open.append(Request(stamp, stamp + self._delay))
        return True

    def due(self, stamp: int) -> list[Request]:
        """The requests whose policies are due by `stamp`, oldest first; each is returned once."""
        due = [request for request in self._open if request.due <= stamp]
        self._open = [request for request in self._open if request.due > stamp]
        return due


_topics: set[str] = set()
"""Names of the local topics: of the process, as its middleware is."""

_boxes: dict[str, dict[str, "Mailbox"]] = {}
"""Mailboxes by resolved name of a topic and by full name of a node; a later subscription replaces an earlier one."""


def keep_local(topics: Iterable[Topic]) -> None:
    """Keep these topics within this process from now on."""
    _topics.update(topic.name for topic in topics)


def is_local(topic: Topic) -> bool:
    """True if a topic stays in this process."""
    return topic.name in _topics


class Mailbox:
    """Queue of one topic's messages for one node."""

    def __init__(
        self,
        node: Node,
        topic: Topic,
        callback: Callable[[Any], None],
        wake: Callable[[], None],
        *,
        raw: bool,
        depth: int,
    ) -> None:
        """`callback` gets each message, serialised where `raw`; `wake` ends the wait of whoever reads.

        `depth` messages wait to be read.
        """
        self._messages: deque[bytes] = deque(maxlen=depth)
        self._type = None if raw else topic.type
        self._callback, self._wake = callback, wake
        boxes = _boxes.setdefault(node.resolve_topic_name(topic.name), {})
        boxes[node.get_fully_qualified_name()] = self

    def put(self, message: bytes) -> None:
        """Append a message, from any thread; a full queue drops its oldest one."""
        self._messages.append(message)
        self._wake()

    def drain(self) -> None:
        """Call back for every message."""
        while self._messages:
            message = self._messages.popleft()
            self._callback(message if self._type is None else deserialize_message(message, self._type))


class LocalPublisher:
    """A publisher of a local topic, in place of the middleware's own."""

    def __init__(self, node: Node, topic: Topic, publisher: Publisher) -> None:
        """`publisher` serves others."""
        self._boxes = _boxes.setdefault(node.resolve_topic_name(topic.name), {})
        self._publisher = publisher

    def publish(self, message: Any) -> None:
        """Publish a message, serialised or not."""
        if not isinstance(message, bytes):
            message = serialize_message(message)
        for box in tuple(self._boxes.values()):
            box.put(message)
        if self._publisher.get_subscription_count():
            self._publisher.publish(message)

    def get_subscription_count(self) -> int:
        """Number of subscriptions in this and other processes."""
        return len(self._boxes) + int(self._publisher.get_subscription_count())

    def wait_for_all_acked(self, timeout: Duration) -> bool:
        """Wait until subscribers in other processes have acknowledged all messages; those here already have them."""
        return bool(self._publisher.wait_for_all_acked(timeout))
