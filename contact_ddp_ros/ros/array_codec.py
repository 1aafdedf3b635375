"""Codec of data in a std_msgs/Float64MultiArray: the parts of an array are declared once, with their ranges.

An array begins with the number of its schema, which is raised whenever the declaration changes, and with one or more
slots for each part; what follows the declared parts belongs to the message. Integers below 2^53 are exact in a float64.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from contact_ddp_ros.base.config import specs
from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.ros.conversions import doubles
from contact_ddp_ros.ros.timebase import NANOSECONDS

Array = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Part:
    """A part of an array: finite numbers, or with `whole` whole ones, each between `low` and `high`.

    Where it is `optional`, a slot before it is 0 if the part is None, else 1. With a `base` it is an integer in two
    slots: quotient and remainder.
    """

    name: str
    size: int = 1
    low: float | Sequence[float] = -_LARGEST
    high: float | Sequence[float] = _LARGEST
    whole: bool = False
    optional: bool = False
    base: int = 0

    @property
    def slots(self) -> Array:
        """(n, 3) least, largest, and whether whole, of each slot."""
        own = np.array([np.broadcast_to(bound, self.size) for bound in (self.low, self.high, self.whole)], dtype=float)
        return np.concatenate([np.array([[0.0, 1.0, 1.0]] * self.optional).reshape(-1, 3), own.T])


def count(name: str, high: float = 2.0**53) -> Part:
    """A whole number from 0."""
    return Part(name, 1, 0.0, high, whole=True)


def stamp(name: str = "stamp") -> Part:
    """A stamp [ns], as seconds and nanoseconds."""
    return Part(name, 2, 0.0, (2.0**31 - 1.0, NANOSECONDS - 1.0), whole=True, base=NANOSECONDS)


def fields(name: str, config: Any, names: Sequence[str]) -> Part:
    """Some parameters of a configuration within their bounds, or None."""
    low, high = ([getattr(specs(config)[one], side) for one in names] for side in ("low", "high"))
    return Part(name, len(names), low, high, optional=True)


class ArrayCodec:
    """Writes and reads arrays of one declaration."""

    def __init__(self, what: str, schema: int, *parts: Part) -> None:
        """`what` names the message in errors."""
        self._what, self._parts = what, (count("schema"), *parts)
        self._schema, slots = schema, [part.slots for part in self._parts]
        self._ends = np.cumsum([len(one) for one in slots]).tolist()
        self._low, self._high, whole = np.concatenate(slots).T
        self._low[0] = self._high[0] = schema
        self._whole = whole.astype(bool)
        self.size = self._ends[-1]

    def array(self, values: Mapping[str, Any], rest: Array | None = None) -> Array:
        """(n,) the parts by name, zero where there is none, then the rest of the message."""
        data = np.zeros(self.size + (0 if rest is None else rest.size))
        for part, end in zip(self._parts, self._ends):
            value = self._schema if part.name == "schema" else values.get(part.name)
            if value is not None:
                data[end - part.size : end] = divmod(value, part.base) if part.base else value
                if part.optional:
                    data[end - part.size - 1] = 1.0
        if rest is not None:
            data[self.size :] = rest.ravel()
        return data

    def values(self, data: Array) -> tuple[dict[str, Any], Array]:
        """The parts of an array by name, and what follows them: numbers, integers where whole, tuples of several.

        Raises:
            MessageError: there are too few numbers, the schema is another, or a number is out of its range.
        """
        if len(data) < self.size:
            raise MessageError(f"{self._what} has {len(data)} numbers; allowed: {self.size} or more")
        own, numbers = data[: self.size], data[: self.size].tolist()
        bad = ~((own >= self._low) & (own <= self._high)) | (self._whole & (own != np.floor(own)))
        if bad.any():
            slot = int(np.argmax(bad))
            name = next(part.name for part, end in zip(self._parts, self._ends) if slot < end)
            allowed = f"{'whole numbers ' * bool(self._whole[slot])}from {self._low[slot]:g} to {self._high[slot]:g}"
            raise MessageError(f"{self._what}: {name} is {own[slot]:g} in slot {slot}; allowed: {allowed}")
        ends = zip(self._parts, self._ends)
        return {part.name: _value(part, numbers[:end]) for part, end in ends}, data[self.size :]


def _value(part: Part, before: list[float]) -> Any:
    """Value of the part at the end of some numbers."""
    found: list[Any] = before[-part.size :]
    if part.optional and not before[-part.size - 1]:
        return None
    if part.whole:
        found = list(map(int, found))
    if part.base:
        return found[0] * part.base + found[1]
    return tuple(found) if part.size > 1 else found[0]


def array_message(data: Array, header: int, *dimensions: tuple[str, int, int]) -> Float64MultiArray:
    """The message of an array whose first numbers are its header; label, size and stride of the others' dimensions."""
    message = Float64MultiArray(data=doubles(data))
    message.layout.data_offset = header
    message.layout.dim = [MultiArrayDimension(label=label, size=n, stride=stride) for label, n, stride in dimensions]
    return message
