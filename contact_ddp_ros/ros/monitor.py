"""Counts and durations since the last diagnostics report; written by the working thread, read by another.

Warnings about publishers whose messages a node does not get, since their quality of service offers too little.

The middleware connects a subscription that asks for `reliable`, say, to no publisher that offers `best_effort`, and no
message says so where one is missed. rclpy's events of incompatible qualities are for an executor, which does not attend
to the subscriptions of an :class:`~contact_ddp_ros.ros.receiver.Inlet`; the middleware's graph tells of all of them.
"""

import time as clock
from dataclasses import dataclass

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

_PERIOD = 1.0
"""Time between two looks at the graph [s]."""

_TOO_LITTLE = (
    ("reliability", ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE),
    ("durability", DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL),
)
"""Policies, with what is offered and what is asked for where the two do not meet."""


class QosWatch:
    """Looks once a second for publishers that a node's subscriptions do not hear, and logs each of them once."""

    def __init__(self, node: Node) -> None:
        """The node's executor looks."""
        self._node = node
        self._told: set[tuple[str, str]] = set()
        node.create_timer(_PERIOD, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def look(self) -> None:
        """Log a warning for every publisher that has become known, and whose messages do not arrive."""
        for subscription in list(self._node.subscriptions):
            topic = subscription.topic_name
            for other in self._node.get_publishers_info_by_topic(topic):
                lacking = missing(other.qos_profile, subscription.qos_profile)
                publisher = f"{other.node_namespace.rstrip('/')}/{other.node_name}"
                if lacking and (topic, publisher) not in self._told:
                    self._told.add((topic, publisher))
                    text = f"{topic}: nothing that {publisher} publishes arrives; it offers {', '.join(lacking)}"
                    self._node.get_logger().warning(text)


def missing(offered: QoSProfile, wanted: QoSProfile) -> list[str]:
    """Policies of which a publisher offers less than a subscription wants, with what it should offer instead."""
    return [
        f"{name} {low.name.lower()} (publish it with {name} {high.name.lower()})"
        for name, low, high in _TOO_LITTLE
        if getattr(offered, name) == low and getattr(wanted, name) == high
    ]


class Recent:
    """Growth of a count between two reports."""

    def __init__(self) -> None:
        """The count is zero."""
        self._before = 0

    def growth(self, count: int) -> int:
        """Increase of `count` since the last call."""
        growth, self._before = count - self._before, count
        return growth


@dataclass(frozen=True)
class LoopReport:
    """The rounds since the last report.

    Attributes:
        rate: rounds per second of the wall clock [Hz].
        mean, longest: duration of a round [s]; zero where there was none.
        overruns: rounds that took longer than available.
        total_overruns: the same since the beginning.
    """

    rate: float
    mean: float
    longest: float
    overruns: int
    total_overruns: int

    def values(self, noun: str) -> dict[str, float]:
        """Key-value pairs for diagnostics; `noun` names a round."""
        return {
            f"{noun} rate [Hz]": round(self.rate, 1),
            f"mean {noun} [ms]": round(1e3 * self.mean, 3),
            f"longest {noun} [ms]": round(1e3 * self.longest, 3),
            "overruns": self.total_overruns,
        }


class LoopMonitor:
    """Counts and times the rounds of one loop."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._began = clock.monotonic()
        self._rounds: list[float] = []
        self._overruns = 0
        self._total_overruns = 0

    def round(self, duration: float, available: float) -> None:
        """Record a round that took `duration` of `available` [s]."""
        self._rounds.append(duration)
        if duration > available:
            self._overruns += 1

    def report(self) -> LoopReport:
        """Summary since the last report; resets the counts."""
        now = clock.monotonic()
        rounds, self._rounds = self._rounds, []
        overruns, self._overruns = self._overruns, 0
        elapsed, self._began = now - self._began, now
        self._total_overruns += overruns
        count = len(rounds)
        return LoopReport(
            rate=count / elapsed if elapsed > 0.0 else 0.0,
            mean=sum(rounds) / count if count else 0.0,
            longest=max(rounds, default=0.0),
            overruns=overruns,
            total_overruns=self._total_overruns,
        )
