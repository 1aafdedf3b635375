"""The LCM types that travel between this package and the robot, as data: the codec is made from this table.

Two families speak of the same robot. Cheetah-Software (mit-biomimetics, `lcm-types/`) publishes joints and estimate
without time or number; walk-these-ways (Improbable-AI, `go1_gym_deploy/lcm_types/`) appends accelerations and stamps,
and has the type that commands torques. Types of both are called alike; their fingerprints tell them apart, and their
channels differ. SI units; angles in radians.
"""

from dataclasses import dataclass

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
        command_channel: where `LEG_CONTROL_COMMAND` is, what the drives are commanded; empty where nobody tells.
    """

    name: str
    leg_data: Definition
    estimate: Definition
    leg_channel: str
    estimate_channel: str
    command_channel: str = ""


def _floats(names: str, size: int) -> tuple[Field, ...]:
    return tuple(Field(name, "float", size) for name in names.split())


def _doubles(names: str, size: int) -> tuple[Field, ...]:
    return tuple(Field(name, "double", size) for name in names.split())


_STAMPS = (Field("timestamp_us", "int64_t"), Field("id", "int64_t"), Field("robot_id", "int64_t"))
_LEG_DATA = _floats("q qd p v tau_est", N_JOINTS)
_ESTIMATE = (*_floats("p vWorld vBody rpy omegaBody omegaWorld", 3), Field("quat", "float", 4))
_ACCELERATIONS = (Field("contact_estimate", "float", N_LEGS), *_floats("aBody aWorld", 3))

CHEETAH_SOFTWARE = Layout(
    "cheetah_software",
    Definition("leg_control_data_lcmt", _LEG_DATA),
    Definition("state_estimator_lcmt", _ESTIMATE),
    "leg_control_data",
    "state_estimator",
    "leg_control_command",
)

WALK_THESE_WAYS = Layout(
    "walk_these_ways",
    Definition("leg_control_data_lcmt with stamps", (*_LEG_DATA, *_STAMPS)),
    Definition("state_estimator_lcmt with accelerations and stamps", (*_ESTIMATE, *_ACCELERATIONS, *_STAMPS)),
    "leg_control_data",
    "state_estimator_data",
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
"""What only the robot emulator knows, at one instant of its own clock and in this package's conventions: for clocks
and records, never for control. It is sent before the robot's frames of the same instant."""

TICK_CHANNEL = "emulator_tick"

ROBOT_EMULATOR = "robot_emulator"
"""Name of the emulator as a program, and of its section in a parameter file."""

DEFINITIONS = (
    *(definition for layout in LAYOUTS.values() for definition in (layout.leg_data, layout.estimate)),
    LEG_CONTROL_COMMAND,
    PD_TAU_TARGETS,
    EMULATOR_TICK,
)
