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

from contact_ddp_ros.errors import ContactDdpError, MessageError, ReplayError
from contact_ddp_ros.nodes import interfaces as io
from contact_ddp_ros.nodes.conversions import robot_state, serialised_stamp_ns, time_ns
from contact_ddp_ros.nodes.inlet import Inlet
from contact_ddp_ros.nodes.policy_message import policy_answer
from contact_ddp_ros.nodes.reports import status_values, tick_records
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.replay.comparison import RecordedSolve
from contact_ddp_ros.robot.state import RobotState

_LOOK = 0.1
"""Longest wait for a message between two looks at whether to end [s]."""

_DEPTH = 1000
"""Messages of a topic that may wait to be written."""

_PAIRING_TOLERANCE_NS = 500_000
"""How far the stamps of joint states and odometry of one instant may differ [ns]."""


class BagWriter:
    """Writes every message of some topics into a new bag, from a thread of its own. Use as a context manager.

    Most topics keep the newest message only, so what the thread does not get to in time is missing in the bag. The
    simulator's record keeps every one, so that no state is lost with it.
    """

    def __init__(self, folder: Path, node: Node, topics: Sequence[io.Topic] = io.RECORDED) -> None:
        """Raises ReplayError where the folder exists or cannot be written."""
        self._inlet, self._stop = Inlet(node), Event()
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
        """Complete the bag, whatever happened."""
        self._stop.set()
        self._thread.join()
        self._writer.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._inlet.receive(_LOOK)

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
    simulated: dict[int, RobotState] = {}
    solves: list[_Solve] = []
    policies: dict[int, Policy | None] = {}
    try:
        with AnyReader([folder], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
            for name, message in _messages(reader, folder):
                if name in states:
                    states[name][serialised_stamp_ns(message)] = message
                elif name == io.SOLVES.name:
                    solves += _solve(message)
                elif name == io.RECORD.name:
                    ticks = tick_records(deserialize_message(message, io.RECORD.type))
                    simulated.update({time_ns(tick.state.time): tick.state for tick in ticks})
                else:
                    answer = policy_answer(deserialize_message(message, io.POLICY.type))
                    policies[answer.stamp] = answer.policy
    except (AnyReaderError, OSError, MessageError) as error:
        raise ReplayError(f"cannot read the bag {folder}: {error}") from error
    found = [
        RecordedSolve(
            state,
            solve.speed,
            solve.hold,
            solve.gait_start,
            solve.solve_time,
            solve.ok,
            policies.get(solve.stamp),
        )
        for solve in solves
        for state in _state(solve.stamp, states[io.JOINT_STATES.name], states[io.ODOM.name], simulated)
    ]
    return found, len(solves) - len(found)


def _messages(reader: AnyReader, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name, without namespace, and serialised message of what a replay needs, in the order of recording."""
    wanted: dict[int, str] = {}
    for topic in (*io.REPLAYED, io.RECORD):
        found = [one for one in reader.connections if one.topic == topic.name or one.topic.endswith(f"/{topic.name}")]
        if topic is io.RECORD and not found:
            continue  # no simulator, or a recorder that left it out
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


def _state(
    stamp: int, joints: dict[int, bytes], odometry: dict[int, bytes], simulated: Mapping[int, RobotState]
) -> list[RobotState]:
    """The state of an instant as a list of one, or of none where it was not recorded."""
    found = [_nearest(stamp, messages) for messages in (joints, odometry)]
    if found[0] is None or found[1] is None:
        return [simulated[stamp]] if stamp in simulated else []
    return [
        robot_state(deserialize_message(found[0], io.JOINT_STATES.type), deserialize_message(found[1], io.ODOM.type))
    ]


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
