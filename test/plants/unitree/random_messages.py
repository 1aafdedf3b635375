"""Random messages of Unitree's types, the same on every machine."""

from random import Random
from typing import Any

import numpy as np

from contact_ddp_ros.plants.unitree.messages import Struct


def random_message(struct: Struct, seed: int) -> Any:
    """A record of numbers that survive single precision; bytes stay below 128, as Unitree's checksum packs them."""
    random, record = Random(f"{struct.name} {seed}"), struct.new()
    _fill(record, random)
    return record


def _fill(record: Any, random: Random) -> None:
    for name in record.dtype.names:
        part = record[name]
        if record.dtype[name].base.names:
            for one in np.atleast_1d(part).view(np.ndarray) if record.dtype[name].shape else [part]:
                _fill(one, random)
        else:
            kind, shape = record.dtype[name].base, record.dtype[name].shape
            values = [_number(kind, random) for _ in range(int(np.prod(shape)))]
            record[name] = np.reshape(values, shape)


def _number(kind: np.dtype[Any], random: Random) -> float:
    if kind.kind == "f":
        return random.randrange(-32000, 32000) / 64.0
    largest = {1: 127, 2: 32767}.get(kind.itemsize, 2**31 - 1)
    return random.randint(0 if kind.kind == "u" else -largest - 1, largest)
