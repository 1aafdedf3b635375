"""Unitree's messages over DDS (CycloneDDS), as the robot's computer and `unitree_mujoco` speak them.

The participant is one of its own, whatever middleware ROS 2 uses: both may run on one network interface, and neither
sees the other's topics as ROS topics of its own.
"""

import socket
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.core import (
    DDSException,
    InstanceState,
    Policy,
    Qos,
    ReadCondition,
    SampleState,
    ViewState,
    WaitSet,
)
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import annotations, make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.unitree.config import UnitreeLinkOptions
from contact_ddp_ros.plants.unitree.messages import Struct

LOW_CMD_TOPIC, LOW_STATE_TOPIC, TICK_TOPIC = "rt/lowcmd", "rt/lowstate", "rt/contact_ddp/tick"

_CONFIG = """<CycloneDDS><Domain Id="any"><General><Interfaces>
<NetworkInterface name="{interface}" priority="default" multicast="default"/>
</Interfaces></General></Domain></CycloneDDS>"""
"""Configuration of a domain: nothing but the interface, as in Unitree's own packages."""

_TAKEN, _ENDPOINTS = 32, 1000
"""Samples that are taken at once, of a topic and of the list of all endpoints."""


class UnitreeLink:
    """Participant with writers and readers of Unitree's topics; read in one thread, written in another one."""

    def __init__(self, options: UnitreeLinkOptions) -> None:
        """Raises LinkError where the interface is not usable."""
        names = [name for _, name in socket.if_nameindex()]
        if options.interface not in names:
            raise LinkError(f"no network interface {options.interface!r}; there are {', '.join(names)}")
        self.where = f"DDS domain {options.chosen_domain}, {options.interface}"
        try:
            self._domain = _domain(options.chosen_domain, options.interface)
            self._participant = DomainParticipant(options.chosen_domain)
        except DDSException as error:
            raise LinkError(f"{self.where} cannot be opened: {error.msg}") from error
        self._waiting = WaitSet(self._participant)
        self._readers: list[tuple[Any, Callable[[Any], None]]] = []

    def subscribe(self, topic: str, kind: Any, callback: Callable[[Any], None], *, strangers: bool = False) -> None:
        """Have :meth:`receive` call `callback` with every message of a topic; `strangers`: with others' alone.

        A message of a :class:`Struct` is its CDR encoding.
        """
        policies = [Policy.IgnoreLocal.Participant] if strangers else []
        qos = Qos(*policies, Policy.History.KeepLast(_TAKEN))
        reader = DataReader(self._participant, Topic(self._participant, topic, _idl(kind)), qos=qos)
        self._waiting.attach(ReadCondition(reader, ViewState.Any | InstanceState.Any | SampleState.Any))
        self._readers.append((reader, callback))

    def publisher(self, topic: str, kind: Any) -> Callable[[Any], None]:
        """Function that publishes a message of a topic: the encoding of a :class:`Struct`, or an object of the type.

        It raises LinkError where the network refuses.
        """
        writer = DataWriter(self._participant, Topic(self._participant, topic, _idl(kind)))
        return partial(_write, topic, writer, _idl(kind) if isinstance(kind, Struct) else lambda message: message)

    def receive(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] for a message, then call back for all that have come; whether there was one."""
        self._waiting.wait(duration(seconds=timeout))
        found = False
        for reader, callback in self._readers:
            while samples := reader.take(_TAKEN):
                for sample in samples:
                    if sample.sample_info.valid_data:
                        found = True
                        callback(getattr(sample, "encoding", sample))
        return found

    def types(self, topic: str, *, read: bool = False) -> set[str]:
        """Types under which others publish a topic, or with `read` subscribe to it; empty where nobody does."""
        kind = BuiltinTopicDcpsSubscription if read else BuiltinTopicDcpsPublication
        found = BuiltinDataReader(self._participant, kind).take(_ENDPOINTS)
        own = self._participant.guid
        return {one.type_name for one in found if one.topic_name == topic and one.participant_key != own}


def _write(topic: str, writer: Any, wrap: Callable[[Any], Any], message: Any) -> None:
    try:
        writer.write(wrap(message))
    except DDSException as error:
        raise LinkError(f"cannot send on {topic}: {error.msg}") from error


@cache
def _domain(domain: int, interface: str) -> Domain:
    """The domain on an interface: a process has it once."""
    return Domain(domain, _CONFIG.format(interface=interface))


_KINDS = {
    "u1": types.uint8,
    "<u2": types.uint16,
    "<u4": types.uint32,
    "<i2": types.int16,
    "<i4": types.int32,
    "<i8": types.int64,
    "<f4": types.float32,
    "<f8": types.float64,
}


@cache
def _idl(kind: Any) -> Any:
    """Type as cyclonedds has it; objects of a :class:`Struct`'s are nothing but an `encoding`."""
    if not isinstance(kind, Struct):
        return kind
    fields = {name: _field(part, count) for name, part, count in kind.fields}
    made: Any = make_idl_struct(kind.name.rpartition(".")[2], kind.name, fields, dataclassify=False)
    annotations.final(made)
    annotations.autoid("sequential")(made)
    made.__init__ = _keep
    made.serialize = lambda self, *_, **__: self.encoding
    made.deserialize = classmethod(lambda cls, data, *_, **__: cls(data))
    made.deserialize_key = classmethod(lambda cls, *_, **__: cls(b""))  # of a writer that has left
    return made


def _keep(self: Any, encoding: bytes) -> None:
    self.encoding = encoding


def _field(kind: Any, count: int) -> Any:
    array: Any = types.array
    single = _idl(kind) if isinstance(kind, Struct) else _KINDS[kind]
    return array[single, count] if count else single
