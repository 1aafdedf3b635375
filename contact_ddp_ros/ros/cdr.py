"""Reads and writes numbers of serialised messages in place.

Two messages of one type with the same names and array sizes differ, serialised, in a few numbers only: the stamp and
the values. A :class:`Template` finds their positions in one message of the kind; the rest must be equal. For the
messages of the control loop that costs a tenth of serialising and deserialising message objects.

The encoding is plain CDR, little-endian (OMG CORBA 3.3, part 2, 9.3; DDS-RTPS 2.2, 10): behind four bytes of
encapsulation every primitive is aligned to its size, a string is its length and its characters with a zero, a sequence
its length and its elements. Bytes of padding may hold anything and are left out of every comparison.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.ros.timebase import NANOSECONDS

Array = NDArray[np.float64]

_ENCAPSULATION = 4
_STAMP = slice(_ENCAPSULATION, _ENCAPSULATION + 8)
_STAMP_ORDERS = (struct.Struct(">iI"), struct.Struct("<iI"))
"""A serialised stamp in big-endian and in little-endian CDR."""

_LENGTH = struct.Struct("<I")
_NUMBER = np.dtype("<f8")


@dataclass(frozen=True)
class Numbers:
    """Float64 fields under a name: a sequence of any length, or `size` fixed fields."""

    name: str
    size: int | None = None


TEXT, TEXTS, WORD = "text", "texts", "word"
"""A string, a sequence of strings, and four bytes that are not compared further, such as a count of points."""

Layout = Sequence[Numbers | str]
"""The fields of a message type behind its stamp."""


def stamp_of(message: bytes) -> int:
    """The stamp [ns] of a serialised message that begins with a stamp or a std_msgs/Header."""
    seconds, nanoseconds = _STAMP_ORDERS[message[1] & 1].unpack_from(message, _ENCAPSULATION)
    return int(seconds) * NANOSECONDS + int(nanoseconds)


def array_of(message: bytes) -> tuple[int, Array]:
    """`layout.data_offset` and `data`, a view if aligned, of a serialised std_msgs/Float64MultiArray.

    Raises:
        MessageError: the message is damaged.
    """
    if not message[1] & 1:
        read = deserialize_message(message, Float64MultiArray)
        return int(read.layout.data_offset), np.array(read.data, dtype=np.float64)

    def word(at: int) -> tuple[int, int]:
        at += -(at - _ENCAPSULATION) % _LENGTH.size
        return int(_LENGTH.unpack_from(message, at)[0]), at + _LENGTH.size

    try:
        dimensions, at = word(_ENCAPSULATION)
        for _ in range(dimensions):
            length, at = word(at)
            _, at = word(at + length)
            _, at = word(at)
        offset, at = word(at)
        count, at = word(at)
        at += -(at - _ENCAPSULATION) % _NUMBER.itemsize
        return offset, np.frombuffer(message, _NUMBER, count, at) if count else np.zeros(0)
    except (struct.error, ValueError) as error:
        raise MessageError(f"an array in a message of {len(message)} bytes cannot be read: {error}") from error


class Template:
    """Positions of stamp and numbers in one kind of serialised message."""

    def __init__(self, message: bytes, layout: Layout) -> None:
        """Learn the places of the fields behind the stamp from a message of the kind.

        Raises:
            MessageError: the message is big-endian, or shorter than its layout.
        """
        if not message[1] & 1:
            raise MessageError("a message in big-endian CDR has no template")
        self._bytes = bytearray(message)
        self._parts: dict[str, tuple[int, int]] = {}
        self._compared = [slice(0, _STAMP.start)]
        self._at = _STAMP.stop
        try:
            for field in layout:
                self._walk(field)
        except struct.error as error:
            raise MessageError(f"a message of {len(message)} bytes is shorter than its layout") from error
        if not self._at <= len(message):
            raise MessageError(f"a message of {len(message)} bytes is shorter than its layout")
        self._kept = struct.Struct("".join(f"{b - a}{kind}" for a, b, kind in self._pieces(len(message))))
        self._fixed = self._kept.unpack(message)

    def fits(self, message: bytes) -> bool:
        """True if a message differs from the template only in stamp, numbers and padding."""
        return len(message) == self._kept.size and self._kept.unpack(message) == self._fixed

    def size(self, part: str) -> int:
        """Count of numbers of a part."""
        return self._parts[part][1]

    def read(self, message: bytes, part: str) -> Array:
        """The numbers of a part of a message that fits."""
        begin, size = self._parts[part]
        return np.frombuffer(message, _NUMBER, size, begin).copy()

    def written(self, stamp: int, **parts: Array) -> bytes:
        """A serialised message with that stamp [ns] and those numbers."""
        seconds, nanoseconds = divmod(stamp, NANOSECONDS)
        _STAMP_ORDERS[1].pack_into(self._bytes, _STAMP.start, seconds, nanoseconds)
        for name, values in parts.items():
            begin, size = self._parts[name]
            self._bytes[begin : begin + _NUMBER.itemsize * size] = values.astype(_NUMBER, copy=False).tobytes()
        return bytes(self._bytes)

    def _walk(self, field: Numbers | str) -> None:
        if isinstance(field, Numbers):
            size = self._length() if field.size is None else field.size
            if size:
                self._align(_NUMBER.itemsize)
            self._parts[field.name] = (self._at, size)
            self._at += _NUMBER.itemsize * size
        elif field == TEXTS:
            for _ in range(self._length()):
                self._keep(self._length())
        elif field == TEXT:
            self._keep(self._length())
        else:
            self._align(_LENGTH.size)
            self._keep(_LENGTH.size)

    def _length(self) -> int:
        """A length, which belongs to the kind."""
        self._align(_LENGTH.size)
        (length,) = _LENGTH.unpack_from(self._bytes, self._at)
        self._keep(_LENGTH.size)
        return int(length)

    def _keep(self, count: int) -> None:
        before, end = self._compared[-1], self._at + count
        if before.stop == self._at:
            self._compared[-1] = slice(before.start, end)
        else:
            self._compared.append(slice(self._at, end))
        self._at = end

    def _pieces(self, length: int) -> Iterator[tuple[int, int, str]]:
        """Begin, end and kind, in the language of :mod:`struct`, of what is compared and what is skipped."""
        at = 0
        for kept in self._compared:
            yield at, kept.start, "x"
            yield kept.start, kept.stop, "s"
            at = kept.stop
        yield at, length, "x"

    def _align(self, size: int) -> None:
        self._at += -(self._at - _ENCAPSULATION) % size
