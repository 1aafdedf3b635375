"""Bytes of LCM types and back, made from the table of definitions.

A frame is the type's fingerprint, eight bytes, then its members one after another without padding, all big-endian.
The fingerprint is a hash over the members' names and types (lcm-gen, github.com/lcm-proj/lcm); the name of the type
itself does not enter. A frame with a number that is not finite is refused in either direction.

The LCM types that travel between this package and the robot, as data: the codec is made from this table.

Two families speak of the same robot. Cheetah-Software (mit-biomimetics, `lcm-types/`) publishes joints and estimate
without time or number; walk-these-ways (Improbable-AI, `go1_gym_deploy/lcm_types/`) appends accelerations and stamps,
and has the type that commands torques. Types of both are called alike; their fingerprints tell them apart, and their
channels differ. SI units; angles in radians.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.robot.joints import N_JOINTS, N_LEGS


@dataclass(frozen=True)
class Field:
    """A member of a type: its LCM type and, of an array, the number of entries; zero for a single value."""

    name: str
    type: str
    size: int = 0


@dataclass(frozen=True)
class Definition:
    """A type: what people call it, and its members in order."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Layout:
    """Message layout of one family of robot software: types, and the channels they come on.

    Attributes:
        name: as a parameter.
        leg_data: joint positions q, velocities qd and torques tau_est (12,); feet p and their velocities v (12,) in
            frames at the abduction joints with the trunk's axes.
        estimate: position p and linear velocity vWorld of the trunk in the world, vBody and omegaBody in the trunk's
            axes, quat (w, x, y, z) from trunk to world, rpy its ZYX angles.
        leg_channel, estimate_channel: where they are published.
        imus: types of inertial units by the channels where they are published, of which a robot has one or none; empty
            where the estimate has the unit's numbers.
        command_channel: where `LEG_CONTROL_COMMAND` is, what the drives are commanded; empty where nobody tells.
    """

    name: str
    leg_data: Definition
    estimate: Definition
    leg_channel: str
    estimate_channel: str
    imus: Mapping[str, Definition]
    command_channel: str = ""


def _floats(names: str, size: int) -> tuple[Field, ...]:
    return tuple(Field(name, "float", size) for name in names.split())


def _doubles(names: str, size: int) -> tuple[Field, ...]:
    return tuple(Field(name, "double", size) for name in names.split())


_STAMPS = (Field("timestamp_us", "int64_t"), Field("id", "int64_t"), Field("robot_id", "int64_t"))
_LEG_DATA = _floats("q qd p v tau_est", N_JOINTS)
_ESTIMATE = (*_floats("p vWorld vBody rpy omegaBody omegaWorld", 3), Field("quat", "float", 4))
_ACCELERATIONS = (Field("contact_estimate", "float", N_LEGS), *_floats("aBody aWorld", 3))

MICROSTRAIN = Definition(
    "microstrain_lcmt",
    (
        Field("quat", "float", 4),
        *_floats("rpy omega acc", 3),
        *(Field(f"{one}_packets", "int64_t") for one in ("good", "bad")),
    ),
)
"""Newest numbers of the unit that Cheetah-Software reads as it is distributed, 1000 times a second, in trunk axes.

Angular velocity `omega`, specific force `acc`; packets of the unit are counted, without one the numbers repeat.
"""

VECTORNAV = Definition("vectornav_lcmt", (Field("q", "float", 4), *_floats("w a", 3)))
"""A sample of the unit that it reads where it is built without `USE_MICROSTRAIN`, 200 times a second, in trunk axes.

Attitude `q` (x, y, z, w), angular velocity `w`, specific force `a`.
"""

CHEETAH_SOFTWARE = Layout(
    "cheetah_software",
    Definition("leg_control_data_lcmt", _LEG_DATA),
    Definition("state_estimator_lcmt", _ESTIMATE),
    "leg_control_data",
    "state_estimator",
    {"microstrain": MICROSTRAIN, "hw_vectornav": VECTORNAV},
    "leg_control_command",
)

WALK_THESE_WAYS = Layout(
    "walk_these_ways",
    Definition("leg_control_data_lcmt with stamps", (*_LEG_DATA, *_STAMPS)),
    Definition("state_estimator_lcmt with accelerations and stamps", (*_ESTIMATE, *_ACCELERATIONS, *_STAMPS)),
    "leg_control_data",
    "state_estimator_data",
    {},
)

LAYOUTS = {layout.name: layout for layout in (CHEETAH_SOFTWARE, WALK_THESE_WAYS)}

LEG_CONTROL_COMMAND = Definition(
    "leg_control_command_lcmt",
    _floats("tau_ff f_ff q_des qd_des p_des v_des kp_cartesian kd_cartesian kp_joint kd_joint", N_JOINTS),
)
"""Commands of the robot's own program to the drives; Cheetah-Software publishes them and accepts none over LCM."""

PD_TAU_TARGETS = Definition(
    "pd_tau_targets_lcmt",
    (
        *_doubles("q_des qd_des tau_ff kp kd", N_JOINTS),
        *_STAMPS,
        *_doubles("se_contactState", N_LEGS),
    ),
)
"""Command of the joints: torque = tau_ff + kp (q_des - q) + kd (qd_des - qd).

`timestamp_us` is the stamp of the state that this answers, `id` counts the frames; `se_contactState` tells the robot's
estimator how far through its stance each foot is: 0.5 on the ground, 0 in the air.
"""

TARGETS_CHANNEL = "pd_plustau_targets"

EMULATOR_TICK = Definition(
    "emulator_tick",
    (
        Field("time_ns", "int64_t"),
        Field("late", "int64_t"),
        *_doubles("wall_time", 0),
        *_doubles("position", 3),
        *_doubles("orientation", 4),
        *_doubles("linear_velocity angular_velocity", 3),
        *_doubles("joint_positions joint_velocities torques", N_JOINTS),
        *_doubles("foot_heights", N_LEGS),
        *_doubles("contact_forces", 3 * N_LEGS),
    ),
)
"""Truth that only the robot emulator knows, at one instant of its own clock and in this package's conventions: for
clocks and records, never for control. It is sent before the robot's frames of the same instant."""

TICK_CHANNEL = "emulator_tick"

ROBOT_EMULATOR = "robot_emulator"
"""Name of the emulator as a program, and of its section in a parameter file."""

DEFINITIONS = (
    *(one for layout in LAYOUTS.values() for one in (layout.leg_data, layout.estimate, *layout.imus.values())),
    LEG_CONTROL_COMMAND,
    PD_TAU_TARGETS,
    EMULATOR_TICK,
)


Array = NDArray[np.float64]

_FINGERPRINT = np.dtype(">u8")
_NUMBER_TYPES = {"float": ">f4", "double": ">f8", "int64_t": ">i8"}
"""NumPy's name of each LCM type that the definitions use."""

_SEED, _BITS = 0x12345678, 64
_SIGN, _MASK = 1 << (_BITS - 1), (1 << _BITS) - 1
_CONSTANT_DIMENSION = 0
"""Mode of an array dimension whose size is a number and not another member."""


@dataclass(frozen=True)
class Frame:
    """A decoded frame: its type, and its members by name, floats as (size,) float64 or float, integers as int."""

    definition: Definition
    values: Mapping[str, Any]

    def array(self, name: str) -> Array:
        """A member that is an array."""
        values: Array = self.values[name]
        return values


def fingerprint(definition: Definition) -> int:
    """The 64-bit fingerprint that lcm-gen gives a type of these members."""
    value = _SEED
    for field in definition.fields:
        value = _hash_text(value, field.name)
        value = _hash_text(value, field.type)
        value = _hash_byte(value, _dimensions(field))
        if _dimensions(field):
            value = _hash_byte(value, _CONSTANT_DIMENSION)
            value = _hash_text(value, str(field.size))
    return ((value << 1) | (value >> (_BITS - 1))) & _MASK


class Codec:
    """Encodes one type and decodes it."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.fingerprint = fingerprint(definition)
        self._members = np.dtype([_member(field) for field in definition.fields])
        self._prefix = np.array(self.fingerprint, _FINGERPRINT).tobytes()

    @property
    def size(self) -> int:
        """Bytes after the fingerprint."""
        return self._members.itemsize

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """A frame; members that are left out are zero.

        Raises:
            LinkError: a member is unknown, of another size or not finite.
        """
        record = np.zeros((), self._members)
        for name, value in values.items():
            if name not in (self._members.names or ()):
                raise LinkError(f"{self.definition.name} has no member {name!r}; allowed: {self._members.names}")
            shape = self._members[name].shape
            if np.shape(value) != shape:
                raise LinkError(f"{self.definition.name}.{name} has shape {np.shape(value)}; allowed: {shape}")
            record[name] = value
        self._require_finite(record)
        return self._prefix + record.tobytes()

    def decode(self, data: bytes) -> Frame:
        """The members of a frame whose fingerprint is known to be this type's.

        Raises:
            LinkError: the length is another, or a number is not finite.
        """
        found = len(data) - _FINGERPRINT.itemsize
        if found != self.size:
            raise LinkError(f"{self.definition.name} of {found} bytes; allowed: {self.size}")
        record = np.frombuffer(data, self._members, 1, _FINGERPRINT.itemsize)[0]
        self._require_finite(record)
        values: dict[str, Any] = {}
        for field in self.definition.fields:
            value = record[field.name]
            values[field.name] = value.astype(np.float64) if field.size else value.item()
        return Frame(self.definition, values)

    def _require_finite(self, record: Any) -> None:
        for field in self.definition.fields:
            if not np.isfinite(record[field.name]).all():
                text = f"{self.definition.name}.{field.name} holds {record[field.name]}; allowed: finite numbers"
                raise LinkError(" ".join(text.split()))


def encode(definition: Definition, values: Mapping[str, Any]) -> bytes:
    """A frame of one of the table's types; see :meth:`Codec.encode`."""
    return _BY_DEFINITION[definition].encode(values)


def decode(data: bytes, allowed: Sequence[Definition]) -> Frame:
    """A frame of one of the `allowed` types, told apart by their fingerprints.

    Raises:
        LinkError: it has no fingerprint, that of an unknown type or of one that is not allowed here, another length,
            or a number that is not finite.
    """
    if len(data) < _FINGERPRINT.itemsize:
        raise LinkError(f"frame of {len(data)} bytes; allowed: a fingerprint of {_FINGERPRINT.itemsize} and a type")
    found = int.from_bytes(data[: _FINGERPRINT.itemsize], "big")
    codec = CODECS.get(found)
    if codec is None or codec.definition not in allowed:
        known = ", ".join(f"{fingerprint(one):016x} ({one.name})" for one in allowed)
        kind = "of an unknown type" if codec is None else f"of {codec.definition.name}"
        raise LinkError(f"frame {kind}, fingerprint {found:016x}; allowed: {known}")
    return codec.decode(data)


def _member(field: Field) -> tuple[str, str, tuple[int, ...]]:
    return field.name, _NUMBER_TYPES[field.type], (field.size,) if field.size else ()


def _dimensions(field: Field) -> int:
    return 1 if field.size else 0


def _hash_text(value: int, text: str) -> int:
    value = _hash_byte(value, len(text))
    for character in text.encode():
        value = _hash_byte(value, character)
    return value


def _hash_byte(value: int, byte: int) -> int:
    """v = ((v << 8) ^ (v >> 55)) + c on signed 64-bit numbers, whose right shift repeats the sign."""
    signed = value - (1 << _BITS) if value & _SIGN else value
    return (((value << 8) ^ (signed >> 55)) + byte) & _MASK


CODECS = {codec.fingerprint: codec for codec in map(Codec, DEFINITIONS)}
"""Codecs by fingerprint."""

_BY_DEFINITION = {codec.definition: codec for codec in CODECS.values()}
