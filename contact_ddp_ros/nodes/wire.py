"""Serialised messages whose numbers are read and written in place.

Two messages of one type with the same names and array sizes differ, serialised, in a few numbers only: the stamp and
the values. A :class:`Template` knows where these are, from one message of the kind, and the rest must agree to the last
byte. That costs a tenth of what serialising and reading message objects does, for the messages of the control loop.

The places are found by serialising the message once with marked numbers, so nothing here depends on the encoding but
that a message begins with a stamp or a std_msgs/Header behind the four bytes of its encapsulation, that a float64 is
eight bytes, and that the numbers of a part lie one behind the other.
"""

import copy
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message

from contact_ddp_ros.nodes.timebase import NANOSECONDS

Array = NDArray[np.float64]

Fill = Callable[[Any, Array], None]
"""Writes the numbers of one part into a message."""

_ENCAPSULATION = 4
_STAMP = slice(_ENCAPSULATION, _ENCAPSULATION + 8)
_STAMP_ORDERS = (struct.Struct(">iI"), struct.Struct("<iI"))
"""A serialised stamp in big-endian and in little-endian CDR."""

_NUMBER = np.dtype("<f8")


def stamp_of(message: bytes) -> int:
    """The stamp [ns] of a serialised message that begins with a std_msgs/Header, without reading the rest."""
    seconds, nanoseconds = _STAMP_ORDERS[message[1] & 1].unpack_from(message, _ENCAPSULATION)
    return int(seconds) * NANOSECONDS + int(nanoseconds)


class Template:
    """One kind of serialised message."""

    def __init__(self, message: Any, parts: Mapping[str, tuple[int, Fill]]) -> None:
        """Learn the places of `parts`, name → (how many numbers, how they are written), from a message of the kind."""
        marked, marks = copy.deepcopy(message), {}
        for index, (name, (size, fill)) in enumerate(parts.items()):
            marks[name] = np.arange(size, dtype=np.float64) + ((index + 1) * 1e3 + np.pi)
            if size:
                fill(marked, marks[name])
        self._bytes = bytearray(serialize_message(marked))
        plain = bytes(self._bytes)
        self._parts: dict[str, tuple[int, int]] = {}
        for name, values in marks.items():
            begin = plain.index(values.astype(_NUMBER).tobytes()) if len(values) else 0
            self._parts[name] = (begin, len(values))
        self._fixed = self._fixed_slices()

    def _fixed_slices(self) -> list[tuple[slice, bytes]]:
        """What lies between stamp and parts: names, frames, sizes."""
        ends = sorted((begin, begin + _NUMBER.itemsize * size) for begin, size in self._parts.values() if size)
        slices, begin = [slice(0, _STAMP.start)], _STAMP.stop
        for first, last in ends:
            slices.append(slice(begin, first))
            begin = last
        slices.append(slice(begin, len(self._bytes)))
        return [(one, bytes(self._bytes[one])) for one in slices if one.stop > one.start]

    def fits(self, message: bytes) -> bool:
        """Whether a message differs from the kind in its stamp and its numbers only."""
        return len(message) == len(self._bytes) and all(message[one] == fixed for one, fixed in self._fixed)

    def read(self, message: bytes, part: str) -> Array:
        """The numbers of a part of a message that fits."""
        begin, size = self._parts[part]
        return np.frombuffer(message, _NUMBER, size, begin).copy()

    def written(self, stamp: int, **parts: Array) -> bytes:
        """A message of that stamp [ns] and those numbers."""
        seconds, nanoseconds = divmod(stamp, NANOSECONDS)
        _STAMP_ORDERS[1].pack_into(self._bytes, _STAMP.start, seconds, nanoseconds)
        for name, values in parts.items():
            begin, size = self._parts[name]
            self._bytes[begin : begin + _NUMBER.itemsize * size] = values.astype(_NUMBER, copy=False).tobytes()
        return bytes(self._bytes)
