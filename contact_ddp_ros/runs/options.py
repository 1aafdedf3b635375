"""Options of one closed-loop run: declared once, for the command line, the library, studies, records and pages.

The command line, the tests and the benchmarks build a :class:`RunOptions`; the closed loop without ROS and the one
through the nodes both read it. Units are SI.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from contact_ddp_ros.base.choices import DEFAULT_ROBOT, GAIT_SUFFIXES, ROBOT_SUFFIXES, URDF_SUFFIXES, VARIANTS
from contact_ddp_ros.base.config import (
    Option,
    ParameterSpec,
    check,
    declared,
    field_of,
    number,
    parameter,
    require,
    require_finite,
)
from contact_ddp_ros.base.errors import ParameterError, did_you_mean
from contact_ddp_ros.base.parameter_file import check_sections, load_yaml
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.plants.unitree.config import UNITREE_ROBOT

TRUE, ESTIMATED = STATES = ("true", "estimated")
"""Source of the state that planner and controller get: the simulator's truth with errors, or the state estimator."""

BACKENDS = ("mujoco", "lcm", "unitree")
"""Backends of the demo's nodes: a simulator, or a robot emulator behind a robot's own messages."""

SECTIONS = ("planner", "controller", "simulator", "bridge", "unitree", "gazebo_bridge", "drives", "driver", "estimator")
"""Nodes whose parameters a run may change: their names, and those of the sections of a parameter file."""

OTHER_NODES = ("frames", "robot_state_publisher", "joy_node", "joy_teleop", "rviz2")
"""Nodes of the launch file whose sections a parameter file may have, too; no run without ROS reads them."""

SENSOR_ERRORS = {
    "simulator.imu.gyro_bias": 0.005,
    "simulator.imu.accelerometer_bias": 0.05,
    "simulator.error.joints": 0.02,
    "simulator.noise.joint_positions": 0.002,
    "simulator.noise.joint_velocities": 0.1,
}
"""Constant errors [rad/s, m/s^2, rad] and white noise [rad, rad/s] of the sensors in studies and benchmarks."""

TRUNK_ERRORS = (
    *(f"noise.{name}" for name in ("position", "orientation", "linear_velocity", "angular_velocity")),
    *(f"error.{name}" for name in ("z", "roll", "pitch", "yaw")),
)
"""Parameters of the simulated world that are errors of a measured state of the trunk; an estimated one has its own."""

MAX_SPEED = 4.0
"""Largest commanded forward speed that is accepted, either way [m/s]."""

Profile = tuple[tuple[float, float], ...]
Changes = tuple[tuple[float, str], ...]


def speed_profile(value: Any) -> Profile:
    """Breakpoints (time [s], speed [m/s]) from them, from one speed, or from a text: `"0.5"`, `"0:0,2:1"`.

    Raises:
        ParameterError: the value is no profile, times do not increase from 0, or a speed is beyond MAX_SPEED.
    """
    if isinstance(value, str) and ":" in value:
        points = [part.split(":") for part in value.split(",")]
        require(all(len(point) == 2 for point in points), f"{value!r} is not a speed profile like 0:0,2:1.0,8:0")
        value = tuple((number(time, "a time"), number(speed, "a speed")) for time, speed in points)
    elif isinstance(value, str):
        value = number(value, "a speed")
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = ((0.0, float(value)),)
    is_profile = isinstance(value, tuple | list) and all(isinstance(one, tuple | list) for one in value)
    require(is_profile, f"speed is {value!r}; allowed: a number, or breakpoints (time, speed)")
    require(bool(value), "the speed command needs at least one breakpoint")
    for point in value:
        require(len(point) == 2, f"a speed breakpoint is (time, speed), found {point}")
        require_finite("speed", *point)
        require(abs(point[1]) <= MAX_SPEED, f"speed is {point[1]} m/s; it must lie in ±{MAX_SPEED} m/s")
    times = [time for time, _ in value]
    require(times[0] == 0.0, f"the speed command begins at {times[0]} s; its first breakpoint must be at 0 s")
    increase = all(a < b for a, b in pairwise(times))
    require(increase, f"the breakpoints of the speed command are at {times} s; their times must increase")
    return tuple((time, speed) for time, speed in value)


def gait_sequence(text: str) -> Changes:
    """Changes of the gait (time [s], name or file) from a text: `"pronk"`, `"0:bound,4:my.yaml"`.

    Raises:
        ParameterError: the text is no such sequence, or does not begin at 0 s.
    """
    if Path(text).exists() or ":" not in text:
        return ((0.0, text),)
    points = [part.split(":", 1) for part in text.split(",")]
    require(all(len(point) == 2 for point in points), f"{text!r} is not a sequence of gaits like 0:bound,4:pronk")
    changes = tuple((number(time, "a time"), name) for time, name in points)
    require(changes[0][0] == 0.0, f"{text!r} does not begin with the gait at 0 s, like 0:bound,4:pronk")
    return changes


def _gait(value: Any) -> str:
    require(isinstance(value, str | Path), f"gait is {value!r}; allowed: a packaged gait's name or the path of a file")
    is_sequence = ":" in str(value) and not Path(value).exists()
    return str(value) if is_sequence else _in_full(value, GAIT_SUFFIXES)


def _changes(value: Any) -> Changes:
    pairs = isinstance(value, tuple | list) and all(isinstance(one, tuple | list) and len(one) == 2 for one in value)
    require(pairs, f"gaits are {value!r}; allowed: (time, name) of each change")
    times = [time for time, _ in value]
    require_finite("gaits", *times)
    increase = all(a < b for a, b in pairwise([0.0, *times]))
    require(increase, f"the gait changes at {times} s; times must increase from 0 s")
    return tuple((time, _gait(name)) for time, name in value)


def _pushes(value: Any) -> Any:
    """Push from a text, as the command line gives one; several as they are."""
    if isinstance(value, str):
        parts = value.split(",")
        fits = len(parts) in (5, 8)
        require(fits, f"{value!r} has {len(parts)} numbers; a push is T,FX,FY,FZ,DT[,TX,TY,TZ]")
        return Push.from_numbers([number(part) for part in parts])
    several = isinstance(value, tuple | list) and all(isinstance(push, Push) for push in value)
    require(several, f"pushes are {value!r}; allowed: a tuple of Push")
    return tuple(value)


def _terrain(value: Any) -> str:
    require(isinstance(value, str), f"terrain is {value!r}; allowed: a text")
    if value != "flat":
        from contact_ddp_ros.plants.terrain.shapes import SCENE_SUFFIX
        from contact_ddp_ros.plants.terrain.words import parse_terrain

        parse_terrain(value)
        return _in_full(value, (SCENE_SUFFIX,))
    return str(value)


def _robot(value: Any) -> str:
    require(isinstance(value, str | Path), f"robot is {value!r}; allowed: a packaged robot's name or a path")
    return _in_full(value, ROBOT_SUFFIXES + URDF_SUFFIXES)


def _in_full(value: str | Path, suffixes: tuple[str, ...]) -> str:
    """A name as it is; the path of a file made absolute, as nodes and reports may be elsewhere."""
    return str(Path(value).absolute()) if Path(value).suffix in suffixes else str(value)


def _of_simulator(name: str, metavar: str = "", **changes: Any) -> Any:
    """The field of an option that is short for a parameter of the simulated world, which declares it."""
    group = "simulated" if name in ("friction", "trunk_mass_scale", "terrain") else "engine"
    flag = changes.pop("flag", "")
    option = Option(changes.pop("group", group), metavar, flag=flag, sets=f"simulator.{name}")
    return field_of(replace(declared(SimOptions)[name], optional=True, option=option, **changes))


@dataclass(frozen=True)
class RunOptions:
    """Options of a closed-loop run, and the parameters that it changes.

    Every field says what it is, its unit and what is allowed: see `run` in docs/parameters.md. Those that are short for
    a parameter of a node are None where the parameter file and the defaults decide.

    Raises:
        ParameterError: a value is not allowed, or one parameter is given twice with different values.
    """

    duration: float = parameter(
        10.0, low=0.001, unit="s", description="simulated time", option=Option("course", metavar="S")
    )
    speed: Profile = parameter(
        ((0.0, 0.5),),
        convert=speed_profile,
        description="forward speed [m/s], or breakpoints time:speed, each held until the next; 0.5 by default",
        option=Option("course", metavar="V|T:V,..."),
    )
    left: float = parameter(0.0, unit="m/s", description="velocity to the left", option=Option("course", metavar="V"))
    turn: float = parameter(0.0, unit="rad/s", description="rate of the heading", option=Option("course", metavar="W"))
    gait: str | None = parameter(
        "bound",
        convert=_gait,
        optional=True,
        description="bound, pronk or another of config/gaits, or the path of a .yaml file; or changes time:name, each "
        "at the end of a cycle: 0:bound,4:pronk",
        option=Option("parameters", "NAME|T:NAME,...", sets="planner.gait.name"),
    )
    gaits: Changes = parameter(
        (), convert=_changes, description="changes of the gait: (time [s], name or file) of each"
    )
    ramp: bool = parameter(
        False, description="change the speed linearly between the breakpoints instead", option=Option("course")
    )
    variant: str | None = parameter(
        VARIANTS[0],
        choices=VARIANTS,
        optional=True,
        description="solver",
        option=Option("parameters", sets="planner.variant"),
    )
    robot: str = parameter(
        DEFAULT_ROBOT,
        convert=_robot,
        description="a robot of config/robots, a .yaml file like those, or a .urdf, .xacro or .xml (MJCF) file",
        option=Option("robot", metavar="NAME"),
    )
    backend: str = parameter(
        BACKENDS[0],
        choices=BACKENDS,
        description="of the nodes: lcm or unitree goes through the bridge to such a robot, with an emulator of it",
        option=Option("nodes"),
    )
    composed: bool = parameter(
        False,
        description="run controller and simulator (or bridge) in one process, which saves processor time",
        option=Option("nodes"),
    )
    lockstep: bool = parameter(
        True,
        description="physics waits for planner and controller: deterministic (default)",
        option=Option("course", flag="--lockstep", off=("--realtime", "follow the wall clock")),
    )
    pushes: tuple[Push, ...] = parameter(
        (),
        convert=_pushes,
        description="from time T [s], push the trunk with a force [N] (x forward, y left, z up) for DT [s], and a "
        "moment [N m] about the same axes; repeatable",
        option=Option("world", "T,FX,FY,FZ,DT[,TX,TY,TZ]", "--push", repeated=True),
    )
    seed: int | None = _of_simulator("seed", "N", group="course", description="seed of all random numbers")
    engine: str | None = _of_simulator("engine")
    friction: float | None = _of_simulator("friction", "MU", description="friction coefficient of the simulated ground")
    trunk_mass_scale: float | None = _of_simulator(
        "trunk_mass_scale", "X", description="simulated trunk mass over the nominal one"
    )
    terrain: str | None = _of_simulator("terrain", "SHAPE", flag="--ground", convert=_terrain)
    planner_delay: float = parameter(
        0.0,
        low=0.0,
        high=0.1,
        unit="s",
        description="age of a policy when the controller gets it, in lock-step",
        option=Option("world", metavar="S"),
    )
    state: str = parameter(
        ESTIMATED,
        choices=STATES,
        description="state that planner and controller get: the estimate from IMU and joints alone, or the simulator's",
        option=Option("world"),
    )
    stand_time: float = parameter(
        0.0, low=0.0, unit="s", description="time until which the robot stands at least", option=Option("course", "S")
    )
    stop_time: float | None = parameter(
        0.0,
        low=0.0,
        unit="s",
        optional=True,
        description="time at which the robot is to stand again (default: never)",
        option=Option("course", metavar="S"),
    )
    recover: bool = parameter(
        False, description="a robot that has fallen gets up and moves on", option=Option("course")
    )
    record_plans: int = parameter(
        50,
        low=0,
        description="keep the plan (states, torques, gains) of every Nth solve and the cost by term of all; 1 takes "
        "5 MB per second of the run, 0 keeps neither",
        option=Option("output", metavar="N"),
    )
    video: bool = parameter(
        True,
        description="render a video after the run",
        option=Option("output", off=("--no-video", "do not render a video")),
    )
    out: Path | None = parameter(
        "",
        convert=Path,
        optional=True,
        description="new or empty folder (default: out/JOB-<time>)",
        option=Option("output", metavar="FOLDER"),
    )
    config: Path | None = parameter(
        "",
        convert=Path,
        optional=True,
        description="ROS parameter file on top of the packaged one",
        option=Option("parameters", metavar="FILE"),
    )
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Parameters as "section.name" → value on top of the file, sections being :data:`SECTIONS`."""

    def __post_init__(self) -> None:
        """Raises ParameterError naming the first option that is out of its range."""
        if isinstance(self.gait, str):
            (_, first), *changes = gait_sequence(self.gait)
            object.__setattr__(self, "gait", first)
            object.__setattr__(self, "gaits", tuple(changes) or self.gaits)
        for name, spec in OPTIONS.items():
            object.__setattr__(self, name, check(spec, getattr(self, name)))
        if self.backend == "unitree" and self.robot == DEFAULT_ROBOT:
            object.__setattr__(self, "robot", UNITREE_ROBOT)
        require(isinstance(self.overrides, Mapping), f"overrides are {self.overrides!r}; allowed: values by name")
        require(
            self.backend != "lcm" or self.robot == DEFAULT_ROBOT,
            f"robot is {self.robot!r}; behind the backend lcm there is always a {DEFAULT_ROBOT}",
        )
        require(
            self.lockstep or self.planner_delay == 0.0,
            "planner_delay models the planner's time in lock-step; in real time the planner takes its own",
        )
        for name in self.overrides:
            section, _, parameter = name.partition(".")
            require(
                section in SECTIONS and bool(parameter),
                f"parameter {name!r} has no known section; write SECTION.NAME, {did_you_mean(section, SECTIONS)}",
            )
            backend = {"bridge": "lcm", "unitree": "unitree"}.get(section, self.backend)
            require(self.backend == backend, f"parameter {name!r} needs the backend {backend}")
        for target, value in self._short().items():
            if self.overrides.get(target, value) != value:
                raise ParameterError(
                    f"{target} is {value} by an option and {self.overrides[target]} by --set; allowed: one of them"
                )

    def speed_at(self, time: float) -> float:
        """The commanded forward speed at an instant [m/s]; a breakpoint's own instant has its speed."""
        before = [point for point in self.speed if point[0] <= time]
        if not before:
            return self.speed[0][1]
        (t0, v0), later = before[-1], self.speed[len(before) :]
        if not self.ramp or not later:
            return v0
        t1, v1 = later[0]
        return v0 + (v1 - v0) * (time - t0) / (t1 - t0)

    def parameters(self, section: str) -> dict[str, Any]:
        """Parameters that a run sets for one of :data:`SECTIONS`, by dotted name without the section: file < given.

        Raises:
            ParameterError: the file cannot be read, is not a ROS parameter file, or speaks to a node that is unknown.
        """
        values = {}
        if self.config is not None:
            check_sections(self.config, (*SECTIONS, *OTHER_NODES))
            values = load_yaml(self.config, section)
        prefix = f"{section}."
        given = {**self._short(), **self.overrides}
        return values | {name.removeprefix(prefix): one for name, one in given.items() if name.startswith(prefix)}

    def changed(self, values: Mapping[str, Any]) -> "RunOptions":
        """Copy of the options with parameters "section.name" changed, by their short options if any."""
        options = {name: values[target] for name, target in SHORT_FOR.items() if target in values}
        kept = {name: value for name, value in self.overrides.items() if name not in values}
        added = {name: value for name, value in values.items() if name not in SHORT_FOR.values()}
        return replace(self, overrides={**kept, **added}, **options)

    def in_effect(self, name: str) -> Any:
        """Value of an option in this run; short options give the value of their parameter."""
        section, _, parameter = SHORT_FOR.get(name, "").partition(".")
        if not section:
            return getattr(self, name)
        return self.parameters(section).get(parameter, OPTIONS[name].default)

    def _short(self) -> dict[str, Any]:
        """Parameters that options which are short for them set, by "section.name"."""
        values = {target: getattr(self, name) for name, target in SHORT_FOR.items()}
        return {target: value for target, value in values.items() if value is not None}


OPTIONS: Final[Mapping[str, ParameterSpec]] = declared(RunOptions)
"""Declarations of the options by their field's name."""

SHORT_FOR: Final = {name: one.option.sets for name, one in OPTIONS.items() if one.option and one.option.sets}
"""Parameters "section.name" by the option that is short for them."""
