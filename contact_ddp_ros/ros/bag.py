"""Bags: what `ros2 bag` records, written where there is no `ros2 bag`, and read back for a replay.

A bag is a folder with messages as they were serialised. :mod:`rosbags` reads and writes the folder; the messages
themselves are serialised and read by the same code as in the nodes.
"""

import copy
import time as clock
from collections.abc import Iterator, Sequence
from dataclasses import replace
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

from contact_ddp_ros.base.errors import MessageError, ReplayError
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import BodyPose
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.estimate_messages import PlanRequest, plan_request
from contact_ddp_ros.ros.policy_message import serialised_policy_answer
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import status_values
from contact_ddp_ros.ros.timebase import Timebase
from contact_ddp_ros.runs.replay import RecordedSolve

_LOOK = 0.1
"""Longest wait for a message between two looks at whether to end [s]."""

_DEPTH = 1000
"""Messages of a topic that may wait to be written."""


class BagWriter:
    """Writes every message of some topics into a new bag, from a thread of its own. Use as a context manager.

    Subscriptions to most topics keep the newest message only, so messages that the thread does not read in time are
    missing in the bag. Requests to the planner are queued for half a second, so that no state that was planned from is
    lost.
    """

    def __init__(self, folder: Path, node: Node, topics: Sequence[io.Topic] = io.RECORDED) -> None:
        """Raises ReplayError where the folder exists or cannot be written."""
        self._inlet, self._stop = Receiver(node), Event()
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


def recorded_solves(folder: Path) -> tuple[list[RecordedSolve], int]:
    """The solves of a recorded run, in order, each with its state and, where there is one, its policy.

    Times count from the first request. Returns the solves and the number of those whose request was not recorded.

    Topics are recognised by the end of their names: a bag of any namespace can be read, but of one robot only.

    Raises:
        ReplayError: the bag cannot be read, lacks a topic, or holds it of several namespaces.
    """
    if not folder.exists():
        raise ReplayError(f"there is no bag {folder}")
    requests: dict[int, PlanRequest] = {}
    solves: list[dict[str, str]] = []
    answers: list[bytes] = []
    timebase = Timebase()
    try:
        with AnyReader([folder], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
            for name, message in _messages(reader, folder):
                if name == io.PLAN_REQUEST.name:
                    request = plan_request(message)
                    timebase.seconds(request.stamp)
                    requests.setdefault(request.stamp, request)
                elif name == io.SOLVES.name:
                    solves.append(status_values(deserialize_message(message, io.SOLVES.type)))
                else:
                    answers.append(message)
        # a topic may have come to the bag before another: what time begins with is known only now
        policies = {one.stamp: one.policy for one in (serialised_policy_answer(x, timebase.origin) for x in answers)}
        found = [one for values in solves for one in _solve(values, requests, policies, timebase)]
    except (AnyReaderError, OSError, MessageError) as error:
        raise ReplayError(f"cannot read the bag {folder}: {error}") from error
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


def _solve(
    values: dict[str, str], requests: dict[int, PlanRequest], policies: dict[int, Policy | None], timebase: Timebase
) -> list[RecordedSolve]:
    """Solve of the planner as a list of one, or of none where its request was not recorded."""
    try:
        request = requests.get(int(values["stamp"]))
        if request is None:
            return []
        return [
            RecordedSolve(
                state=replace(request.state, time=timebase.seconds(request.stamp)),
                speed=float(values["speed"]),
                felt=request.felt,
                hold=values["hold"] == "True",
                gait=values["gait"],
                gait_start=timebase.seconds(int(values["gait_start"])),
                solve_time=1e-3 * float(values["solve_ms"]),
                allowed=int(values["allowed"]),
                ok=values["ok"] == "True",
                policy=policies.get(request.stamp),
                left=float(values["left"]),
                turn=float(values["turn"]),
                pose=BodyPose(*(float(values[name]) for name in ("height", "roll", "pitch"))),
            )
        ]
    except (KeyError, ValueError) as error:
        raise ReplayError(f"a report of the planner cannot be read ({error}); is the bag of this version?") from error


def _type_name(topic: io.Topic) -> str:
    package = topic.type.__module__.split(".")[0]
    return f"{package}/msg/{topic.type.__name__}"
