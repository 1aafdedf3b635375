"""Bags: what `ros2 bag` records, written where there is no `ros2 bag`, and read back for a replay.

A bag is a folder with messages as they were serialised. :mod:`rosbags` reads and writes the folder; the messages
themselves are serialised and read by the same code as in the nodes.
"""

import copy
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rosbags.highlevel import AnyReader, AnyReaderError
from rosbags.rosbag2 import StoragePlugin, Writer, WriterError
from rosbags.typesys import Stores, get_typestore

from contact_ddp_ros.errors import ContactDdpError, ReplayError
from contact_ddp_ros.nodes import interfaces as io
from contact_ddp_ros.nodes.conversions import robot_state, serialised_stamp_ns, time_ns
from contact_ddp_ros.nodes.inlet import Inlet
from contact_ddp_ros.nodes.policy_message import policy_answer
from contact_ddp_ros.nodes.reports import status_values
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.replay.comparison import RecordedSolve

_LOOK = 0.1
"""Longest wait for a message between two looks at whether to end [s]."""

_DEPTH = 1000
"""Messages of a topic that may wait to be written."""

_PAIRING_TOLERANCE_NS = 500_000
"""How far the stamps of joint states and odometry of one instant may differ [ns]."""


class BagWriter:
    """Writes every message of some topics into a new bag, from a thread of its own. Use as a context manager.

    Most topics keep the newest message only, so what the thread does not get to in time is missing in the bag.
    """

    def __init__(self, folder: Path, node: Node, topics: Sequence[io.Topic] = io.RECORDED) -> None:
        """Raises ReplayError where the folder exists or cannot be written."""
        self._inlet, self._stop = Inlet(node), Event()
        self._folder, self._logger = folder, node.get_logger()
        self._failure: Exception | None = None
        self._thread = Thread(target=self._run, name="bag", daemon=True)
        self._store = get_typestore(Stores.ROS2_JAZZY)
        try:
            self._writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
            self._writer.open()
        except (WriterError, OSError) as error:
            raise ReplayError(f"cannot write a bag to {folder}: {error}") from error
        for topic in topics:
            name = node.resolve_topic_name(topic.name)
            connection = self._writer.add_connection(name, _type_name(topic), typestore=self._store)
            patient = replace(topic, qos=copy.copy(topic.qos))
            patient.qos.depth = _DEPTH
            self._inlet.subscribe(patient, partial(self._write, connection), raw=True)

    def __enter__(self) -> "BagWriter":
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the bag, whatever happened within the context. One that lacks messages gets no metadata.

        Raises:
            ReplayError: the bag could not be written whole, on a full disk for one.
        """
        self._stop.set()
        self._thread.join()
        try:
            if self._failure is not None:
                raise self._failure
            self._writer.close()
        except Exception as failure:
            if error is None:
                raise ReplayError(f"the bag {self._folder} is not whole: {failure}") from failure

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._inlet.receive(_LOOK)
        except Exception as failure:  # noqa: BLE001  (an error for who closes the bag)
            self._failure = failure
            self._logger.error(f"recording into {self._folder} has ended: {failure}")

    def _write(self, connection: Any, message: bytes) -> None:
        self._writer.write(connection, clock.time_ns(), message)


@dataclass(frozen=True)
class _Solve:
    """What the planner said about one solve."""

    stamp: int
    speed: float
    hold: bool
    gait_start: float
    solve_time: float
    ok: bool


def recorded_solves(folder: Path) -> tuple[list[RecordedSolve], int]:
    """The solves of a recorded run, in order, each with its state and, where there is one, its policy.

    The number of those whose state was not recorded comes second.

    Topics are known by the end of their names, so that a bag of any namespace can be read, but of one robot only.

    Raises:
        ReplayError: the bag cannot be read, lacks a topic, or holds it of several namespaces.
    """
    if not folder.exists():
        raise ReplayError(f"there is no bag {folder}")
    states: dict[str, dict[int, bytes]] = {topic.name: {} for topic in (io.JOINT_STATES, io.ODOM)}
    solves: list[_Solve] = []
    policies: dict[int, Policy | None] = {}
    try:
        with AnyReader([folder], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
            for name, message in _messages(reader, folder):
                if name in states:
                    states[name][serialised_stamp_ns(message)] = message
                elif name == io.SOLVES.name:
                    solves += _solve(message)
                else:
                    answer = policy_answer(deserialize_message(message, io.POLICY.type))
                    policies[answer.stamp] = answer.policy
    except (AnyReaderError, OSError) as error:
        raise ReplayError(f"cannot read the bag {folder}: {error}") from error
    found = [
        RecordedSolve(
            robot_state(deserialize_message(joints, io.JOINT_STATES.type), deserialize_message(odometry, io.ODOM.type)),
            solve.speed,
            solve.hold,
            solve.gait_start,
            solve.solve_time,
            solve.ok,
            policies.get(solve.stamp),
        )
        for solve in solves
        for joints, odometry in _pair(solve.stamp, *states.values())
    ]
    return found, len(solves) - len(found)


def _messages(reader: AnyReader, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name, without namespace, and serialised message of what a replay needs, in the order of recording."""
    wanted: dict[int, str] = {}
    for topic in io.REPLAYED:
        found = [one for one in reader.connections if one.topic == topic.name or one.topic.endswith(f"/{topic.name}")]
        if len({one.topic for one in found}) != 1:
            names = ", ".join(sorted({one.topic for one in found})) or "none"
            raise ReplayError(f"the bag {folder} holds {names} for the topic {topic.name}; a replay needs exactly one")
        if found[0].msgtype != _type_name(topic):
            raise ReplayError(f"{found[0].topic} is of type {found[0].msgtype}; allowed: {_type_name(topic)}")
        wanted.update({one.id: topic.name for one in found})
    connections = [one for one in reader.connections if one.id in wanted]
    for connection, _, message in reader.messages(connections=connections):
        yield wanted[connection.id], bytes(message)


def _solve(message: bytes) -> list[_Solve]:
    """A planner's report as a list of one, or of none where it is not one of ours."""
    values = status_values(deserialize_message(message, io.SOLVES.type))
    try:
        names = ("time", "speed", "gait_start", "solve_ms")
        time, speed, gait_start, milliseconds = (float(values[name]) for name in names)
        return [
            _Solve(
                time_ns(time), speed, values["hold"] == "True", gait_start, 1e-3 * milliseconds, values["ok"] == "True"
            )
        ]
    except (KeyError, ValueError, ContactDdpError) as error:
        raise ReplayError(f"a report of the planner cannot be read ({error}); is the bag of this version?") from error


def _pair(stamp: int, joints: dict[int, bytes], odometry: dict[int, bytes]) -> list[tuple[bytes, bytes]]:
    """Joint states and odometry of an instant as a list of one pair, or of none where one was not recorded."""
    found = [_nearest(stamp, messages) for messages in (joints, odometry)]
    return [(found[0], found[1])] if found[0] is not None and found[1] is not None else []


def _nearest(stamp: int, messages: Mapping[int, bytes]) -> bytes | None:
    """The message of that stamp, or the one nearest to it within the tolerance."""
    if stamp in messages:
        return messages[stamp]
    nearest = min(messages, key=lambda other: abs(other - stamp), default=None)
    close = nearest is not None and abs(nearest - stamp) <= _PAIRING_TOLERANCE_NS
    return messages[nearest] if close and nearest is not None else None


def _type_name(topic: io.Topic) -> str:
    package = topic.type.__module__.split(".")[0]
    return f"{package}/msg/{topic.type.__name__}"
