"""Doubles of the gz.msgs types that the bridge uses: same attributes, same bytes on the wire.

The tables state names, field numbers and types as gz.msgs documents them, as far as they are used here; unknown fields
are skipped in reading, as protobuf does. Where Gazebo is installed its own types are used, never these.

The wire format is protobuf's: a key (field number, wire type) before each value; varints for integers and booleans,
eight bytes for a double, length and bytes for text and messages; what has its default value is left out.
"""

import struct
from collections.abc import Iterator
from typing import Any, Final

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

TABLES: Final[dict[str, tuple[tuple[int, str, str], ...]]] = {
    "Time": ((1, "sec", "int"), (2, "nsec", "int")),
    "Header": ((1, "stamp", "Time"),),
    "Vector3d": ((2, "x", "double"), (3, "y", "double"), (4, "z", "double")),
    "Quaternion": ((2, "x", "double"), (3, "y", "double"), (4, "z", "double"), (5, "w", "double")),
    "Pose": ((4, "position", "Vector3d"), (5, "orientation", "Quaternion")),
    "Twist": ((2, "linear", "Vector3d"), (3, "angular", "Vector3d")),
    "Axis": ((10, "position", "double"), (11, "velocity", "double"), (12, "force", "double")),
    "Joint": ((2, "name", "text"), (10, "axis1", "Axis")),
    "Model": ((1, "header", "Header"), (2, "name", "text"), (5, "pose", "Pose"), (6, "joint", "Joint*")),
    "Odometry": ((1, "header", "Header"), (2, "pose", "Pose"), (3, "twist", "Twist")),
    "IMU": (
        (1, "header", "Header"),
        (3, "orientation", "Quaternion"),
        (5, "angular_velocity", "Vector3d"),
        (7, "linear_acceleration", "Vector3d"),
    ),
    "Double": ((1, "header", "Header"), (2, "data", "double")),
    "Boolean": ((1, "header", "Header"), (2, "data", "bool")),
    "WorldReset": ((2, "all", "bool"),),
    "WorldControl": ((2, "pause", "bool"), (4, "multi_step", "int"), (5, "reset", "WorldReset")),
    "Entity": ((3, "name", "text"), (4, "type", "int")),
    "Wrench": ((2, "force", "Vector3d"), (3, "torque", "Vector3d")),
    "EntityWrench": ((2, "entity", "Entity"), (3, "wrench", "Wrench")),
}
"""Field number, name and type of each message; a star marks a repeated field."""

_DEFAULTS = {"double": 0.0, "int": 0, "bool": False, "text": ""}


class Message:
    """Common to all doubles; fields are attributes, those that are messages come into being when they are read."""

    KIND: str
    KINDS: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        """The default of a field that has not been set."""
        kind = self.KINDS.get(name)
        if kind is None:
            raise AttributeError(f"gz.msgs.{self.KIND} has no field {name!r}")
        if kind in _DEFAULTS:
            return _DEFAULTS[kind]
        value = Repeated(TYPES[kind[:-1]]) if kind.endswith("*") else TYPES[kind]()
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """As protobuf, a field of the table with a number or a text only."""
        if self.KINDS.get(name) not in _DEFAULTS:
            raise AttributeError(f"gz.msgs.{self.KIND} has no field {name!r} that can be assigned")
        self.__dict__[name] = value

    def SerializeToString(self) -> bytes:
        """The bytes on the wire."""
        parts: list[bytes] = []
        for number, name, kind in TABLES[self.KIND]:
            value = self.__dict__.get(name)
            if value is None:
                continue
            for entry in value if kind.endswith("*") else (value,):
                parts += _encoded(number, kind.rstrip("*"), entry)
        return b"".join(parts)

    def ParseFromString(self, data: bytes) -> int:
        """Become the message that the bytes say; the number of bytes."""
        self.__dict__.clear()
        fields = {number: (name, kind) for number, name, kind in TABLES[self.KIND]}
        for number, value in _entries(data):
            if number not in fields:
                continue
            name, kind = fields[number]
            if kind == "double":
                self.__dict__[name] = struct.unpack("<d", value)[0]
            elif kind == "text":
                self.__dict__[name] = value.decode()
            elif kind == "bool":
                self.__dict__[name] = bool(value)
            elif kind == "int":
                self.__dict__[name] = value - (1 << 64) if value >> 63 else value
            elif kind.endswith("*"):
                getattr(self, name).add().ParseFromString(value)
            else:
                getattr(self, name).ParseFromString(value)
        return len(data)


class Repeated(list[Any]):
    """A repeated field of messages."""

    def __init__(self, kind: type[Message]) -> None:
        super().__init__()
        self._kind = kind

    def add(self) -> Any:
        """A new message at the end."""
        self.append(self._kind())
        return self[-1]


TYPES: Final[dict[str, type[Message]]] = {
    name: type(name, (Message,), {"KIND": name, "KINDS": {field: kind for _, field, kind in table}})
    for name, table in TABLES.items()
}


def _encoded(number: int, kind: str, value: Any) -> list[bytes]:
    if kind in _DEFAULTS and value == _DEFAULTS[kind]:
        return []
    if kind == "double":
        return [_varint(number << 3 | _FIXED64), struct.pack("<d", value)]
    if kind in ("int", "bool"):
        return [_varint(number << 3 | _VARINT), _varint(int(value) & (1 << 64) - 1)]
    content = value.encode() if kind == "text" else value.SerializeToString()
    return [_varint(number << 3 | _LENGTH), _varint(len(content)), content]


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _entries(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field number and raw value of everything in a message."""
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            digit = data[place]
            place += 1
            value |= (digit & 0x7F) << shift
            shift += 7
            if digit < 0x80:
                return value

    while place < len(data):
        key = varint()
        wire_type = key & 7
        if wire_type == _VARINT:
            yield key >> 3, varint()
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(wire_type)
        size = varint() if size is None else size
        yield key >> 3, data[place : place + size]
        place += size
