"""Unitree's messages byte for byte and checksum for checksum, by numbers that its own Python package computed.

`unitree_package.json` holds, of a thousand messages of each type, the checksums of its `CRC` and the SHA-256 of what
its types serialise to (package of 2026-07-02 with cyclonedds 11.0.1).
"""

import base64
import hashlib
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from plants.unitree.random_messages import random_message

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.unitree.messages import LOW_CMD, LOW_STATE, Struct, checksum

THEIRS = json.loads((Path(__file__).parent / "unitree_package.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "struct"), [("LowCmd", LOW_CMD), ("LowState", LOW_STATE)])
def test_a_thousand_messages_and_checksums_are_those_of_unitrees_package(name: str, struct: Struct) -> None:
    checksums = np.frombuffer(zlib.decompress(base64.b85decode(THEIRS[name]["checksums"])), "<u4")
    digest = hashlib.sha256()
    for seed, theirs in enumerate(checksums):
        record = random_message(struct, seed)
        assert checksum(record) == theirs
        data = struct.encode(record)
        digest.update(data)
        assert struct.encode(struct.decode(data)) == data
    assert digest.hexdigest() == THEIRS[name]["sha256"]


def test_sizes_are_those_of_the_c_structs() -> None:
    assert (LOW_CMD.dtype.itemsize, LOW_STATE.dtype.itemsize) == (812, 1180)


@pytest.mark.parametrize("damaged", [b"", LOW_CMD.encode(LOW_CMD.new())[:-8], b"\0\0\0\0" + bytes(808)])
def test_messages_of_another_length_or_byte_order_are_refused(damaged: bytes) -> None:
    with pytest.raises(LinkError, match=r"LowCmd_ of \d+ bytes .* allowed: 808 bytes of little-endian CDR"):
        LOW_CMD.decode(damaged)
