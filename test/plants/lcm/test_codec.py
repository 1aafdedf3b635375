"""Frames as lcm-gen makes them: fingerprints, sizes, bytes; nothing malformed is decoded."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.lcm.codec import (
    CHEETAH_SOFTWARE,
    DEFINITIONS,
    LEG_CONTROL_COMMAND,
    MICROSTRAIN,
    PD_TAU_TARGETS,
    VECTORNAV,
    WALK_THESE_WAYS,
    Codec,
    Definition,
    decode,
    encode,
    fingerprint,
)

PUBLISHED = [
    (CHEETAH_SOFTWARE.leg_data, 0x4FA4EEB480FBD94F, 240),
    (CHEETAH_SOFTWARE.estimate, 0x86530874C8755CB7, 88),
    (MICROSTRAIN, 0xE21531EA1392FAAA, 68),
    (VECTORNAV, 0xEAF20DBD97EFD7B9, 40),
    (LEG_CONTROL_COMMAND, 0x277F792B531376CF, 480),
    (PD_TAU_TARGETS, 0xDB10251DE2523982, 536),
    (WALK_THESE_WAYS.estimate, 0xD50F90505DFFCB6D, 152),
]
"""Type, fingerprint and bytes after it, as lcm-gen gives them for the definitions of the robot's software."""


def random_values(definition: Definition, seed: int) -> dict[str, Any]:
    """Numbers that a float of the type holds exactly."""
    random = np.random.default_rng(seed)
    values: dict[str, Any] = {}
    for field in definition.fields:
        numbers = random.normal(scale=100.0, size=max(field.size, 1)).astype(np.float32).astype(np.float64)
        entry = numbers if field.size else float(numbers[0])
        values[field.name] = int(random.integers(-(2**62), 2**62)) if field.type == "int64_t" else entry
    return values


@pytest.mark.parametrize(("definition", "number", "size"), PUBLISHED, ids=lambda value: getattr(value, "name", None))
def test_fingerprints_and_sizes_are_the_published_ones(definition: Definition, number: int, size: int) -> None:
    assert fingerprint(definition) == number
    assert Codec(definition).size == size


def test_fingerprints_tell_all_types_apart() -> None:
    assert len({fingerprint(definition) for definition in DEFINITIONS}) == len(DEFINITIONS)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_encoded_is_decoded(definition: Definition, seed: int) -> None:
    values = random_values(definition, seed)
    frame = decode(encode(definition, values), [definition])
    assert frame.definition == definition
    for name, value in values.items():
        np.testing.assert_array_equal(frame.values[name], value)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
def test_bytes_are_those_of_generated_code(definition: Definition, tmp_path: Path) -> None:
    values = random_values(definition, seed=1)
    generated = _generated(definition, tmp_path).probe()
    for name, value in values.items():
        setattr(generated, name, value.tolist() if isinstance(value, np.ndarray) else value)
    assert encode(definition, values) == generated.encode()


@given(st.binary(max_size=700))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(LinkError):
        decode(data, DEFINITIONS)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
@given(length=st.integers(0, 700), tail=st.binary(max_size=3))
def test_frames_of_another_length_are_refused(definition: Definition, length: int, tail: bytes) -> None:
    frame = encode(definition, random_values(definition, seed=2))
    damaged = frame[:length] + tail
    if len(damaged) == len(frame):
        return
    with pytest.raises(LinkError, match=f"bytes; allowed: {Codec(definition).size}" if length >= 8 else "allowed"):
        decode(damaged, [definition])


@given(seed=st.integers(0, 2**32 - 1), flips=st.lists(st.integers(0, 8 * 544 - 1), min_size=1, max_size=40))
def test_flipped_bits_give_finite_numbers_or_an_error(seed: int, flips: list[int]) -> None:
    frame = bytearray(encode(PD_TAU_TARGETS, random_values(PD_TAU_TARGETS, seed)))
    for bit in flips:
        frame[bit // 8] ^= 1 << (bit % 8)
    try:
        values = decode(bytes(frame), [PD_TAU_TARGETS]).values
    except LinkError:
        return
    assert all(np.isfinite(value).all() for value in values.values())


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_in_both_directions(number: float) -> None:
    values = random_values(PD_TAU_TARGETS, seed=3)
    values["tau_ff"][7] = number
    with pytest.raises(LinkError, match=r"tau_ff.*finite"):
        encode(PD_TAU_TARGETS, values)
    frame = bytearray(encode(PD_TAU_TARGETS, {}))
    at = 8 + 2 * 12 * 8 + 7 * 8
    frame[at : at + 8] = np.array(number, ">f8").tobytes()
    with pytest.raises(LinkError, match=r"tau_ff.*finite"):
        decode(bytes(frame), [PD_TAU_TARGETS])


def test_an_error_says_which_types_are_known() -> None:
    with pytest.raises(LinkError, match=r"0102030405060708.*4fa4eeb480fbd94f \(leg_control_data_lcmt\)"):
        decode(bytes(range(1, 100)), [CHEETAH_SOFTWARE.leg_data])
    with pytest.raises(LinkError, match=r"of pd_tau_targets_lcmt.*leg_control_data_lcmt"):
        decode(encode(PD_TAU_TARGETS, {}), [CHEETAH_SOFTWARE.leg_data])


def test_members_that_do_not_fit_are_refused() -> None:
    with pytest.raises(LinkError, match="no member 'torque'"):
        encode(PD_TAU_TARGETS, {"torque": np.zeros(12)})
    with pytest.raises(LinkError, match=r"shape \(3,\); allowed: \(12,\)"):
        encode(PD_TAU_TARGETS, {"tau_ff": np.zeros(3)})


def _generated(definition: Definition, folder: Path) -> ModuleType:
    """What lcm-gen makes of the definition."""
    program = shutil.which("lcm-gen", path=Path(sys.executable).parent) or shutil.which("lcm-gen")
    if program is None:
        pytest.skip("lcm-gen is not installed")
    members = "\n".join(f"{f.type} {f.name}{f'[{f.size}]' if f.size else ''};" for f in definition.fields)
    source = folder / "probe.lcm"
    source.write_text(f"struct probe {{\n{members}\n}}\n")
    subprocess.run([program, "--python", "--ppath", str(folder), str(source)], check=True, capture_output=True)
    spec = importlib.util.spec_from_file_location("probe", folder / "probe.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
