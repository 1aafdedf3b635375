"""Options of one closed-loop run, checked once at the edge.

The command line, the tests and the benchmarks build a :class:`RunOptions`; the closed loop without ROS and the one
through the nodes both read it. Units are SI.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.choices import DEFAULT_ROBOT, VARIANTS
from contact_ddp_ros.base.config import check_sections, load_yaml, require, require_finite
from contact_ddp_ros.base.errors import did_you_mean
from contact_ddp_ros.plants.pushes import Push

TRUE, ESTIMATED = STATES = ("true", "estimated")
"""Source of the state that planner and controller get: the simulator's truth with noise, or the state estimator."""

BACKENDS = ("mujoco", "lcm")
"""Backends of the demo's nodes: a simulator, or a robot emulator behind the robot's own LCM link."""

SECTIONS = ("planner", "controller", "simulator", "bridge", "gazebo_bridge", "drives")
"""Nodes whose parameters a run may change: their names, and those of the sections of a parameter file."""

OTHER_NODES = ("frames", "robot_state_publisher", "joy_node", "joy_teleop", "rviz2")
"""Nodes of the launch file whose sections a parameter file may have, too; no run without ROS reads them."""

SENSOR_NOISE = {
    "simulator.noise.position": 0.002,
    "simulator.noise.orientation": 0.005,
    "simulator.noise.linear_velocity": 0.03,
    "simulator.noise.angular_velocity": 0.05,
    "simulator.noise.joint_positions": 0.002,
    "simulator.noise.joint_velocities": 0.1,
}
"""Standard deviations of the measured state that studies and benchmarks have: about what a good estimator on the robot
leaves [m, rad, m/s, rad/s]."""

MAX_SPEED = 4.0
"""Largest commanded forward speed that is accepted, either way [m/s]."""


@dataclass(frozen=True)
class RunOptions:
    """Everything about a closed-loop run that is not a parameter of the planner or the controller.

    Attributes:
        duration: simulated time [s].
        speed: breakpoints (time [s], forward speed [m/s]) of the speed command, times increasing from 0.
        left, turn: commanded velocity to the left [m/s] and rate of the heading [rad/s].
        gaits: changes of the gait, (time [s], name or file), times increasing; the planner's parameter is the first.
        ramp: whether the command is linear between breakpoints; otherwise each holds until the next.
        variant: one of :data:`VARIANTS`.
        robot: name of a packaged robot, or the path of a .yaml file.
        backend: one of :data:`BACKENDS`, where there are nodes.
        composed: whether the controller shares a process with what plays the robot, where there are nodes.
        lockstep: physics waits for planner and controller; otherwise the run follows the wall clock.
        pushes: disturbances on the trunk.
        seed: of everything random in the run.
        friction: coefficient of the simulated ground, which the planner does not know.
        trunk_mass_scale: simulated trunk mass over nominal, which the planner does not know.
        terrain: word for the shape of the simulated ground, in the words of :mod:`contact_ddp_ros.plants.terrain`; the
            planner does not know it.
        planner_delay: age of a policy when the controller first sees it, in lock-step [s].
        state: one of :data:`STATES`.
        stand_time: the bound begins once the robot stands, but not before this time [s].
        stop_time: when the robot is asked to come back to a stand [s]; None for never.
        recover: whether a robot that has fallen is told to get up and move on.
        record_plans: of so many solves one has its plan recorded, and every one its cost by term; 0 for neither.
        video: whether a video is rendered after the run.
        out: output folder; None picks a new one.
        config: ROS parameter file on top of the packaged configuration; None for none.
        overrides: parameters as "section.name" → value on top of both, sections being :data:`SECTIONS`.
    """

    duration: float = 10.0
    speed: tuple[tuple[float, float], ...] = ((0.0, 0.5),)
    left: float = 0.0
    turn: float = 0.0
    gaits: tuple[tuple[float, str], ...] = ()
    ramp: bool = False
    variant: str = "ddp"
    robot: str = DEFAULT_ROBOT
    backend: str = BACKENDS[0]
    composed: bool = False
    lockstep: bool = True
    pushes: tuple[Push, ...] = ()
    seed: int = 0
    friction: float = 0.8
    trunk_mass_scale: float = 1.0
    terrain: str = "flat"
    planner_delay: float = 0.0
    state: str = TRUE
    stand_time: float = 0.0
    stop_time: float | None = None
    recover: bool = False
    record_plans: int = 50
    video: bool = True
    out: Path | None = None
    config: Path | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ParameterError naming the first option that is out of its range."""
        require_finite("duration", self.duration)
        require(isinstance(self.overrides, Mapping), f"overrides are {self.overrides!r}; allowed: values by name")
        require(
            all(isinstance(push, Push) for push in self.pushes), f"pushes are {self.pushes!r}; allowed: a tuple of Push"
        )
        for name in ("planner_delay", "stand_time", "seed", "record_plans"):
            require_finite(name, getattr(self, name))
        require(self.duration > 0.0, f"duration is {self.duration} s; it must be positive")
        _check_profile(self.speed)
        _check_changes(self.gaits)
        require(self.variant in VARIANTS, f"variant is {self.variant!r}; choose one of {', '.join(VARIANTS)}")
        require(self.backend in BACKENDS, f"backend is {self.backend!r}; choose one of {', '.join(BACKENDS)}")
        require(
            self.backend != "lcm" or self.robot == DEFAULT_ROBOT,
            f"robot is {self.robot!r}; behind the backend lcm there is always a {DEFAULT_ROBOT}",
        )
        require(self.state in STATES, f"state is {self.state!r}; choose one of {', '.join(STATES)}")
        require_finite("left", self.left)
        require_finite("turn", self.turn)
        require(self.seed >= 0, f"seed is {self.seed}; it must not be negative")
        for name, low, high in (("friction", 0.05, 5.0), ("trunk_mass_scale", 0.1, 10.0)):
            value = getattr(self, name)
            require_finite(name, value)
            require(low <= value <= high, f"{name} is {value}; it must lie in [{low}, {high}]")
        require(0.0 <= self.planner_delay <= 0.1, f"planner_delay is {self.planner_delay} s; it must lie in [0, 0.1] s")
        require(
            self.lockstep or self.planner_delay == 0.0,
            "planner_delay models the planner's time in lock-step; in real time the planner takes its own",
        )
        require(self.record_plans >= 0, f"record_plans is {self.record_plans}; it must not be negative")
        require(self.stand_time >= 0.0, f"stand_time is {self.stand_time} s; it must not be negative")
        require(
            self.stop_time is None or self.stop_time >= 0.0, f"stop_time is {self.stop_time} s; it must not be negative"
        )
        for name in self.overrides:
            section, _, parameter = name.partition(".")
            require(
                section in SECTIONS and bool(parameter),
                f"parameter {name!r} has no known section; write SECTION.NAME, {did_you_mean(section, SECTIONS)}",
            )
            require(section != "bridge" or self.backend == "lcm", f"parameter {name!r} needs the backend lcm")

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
        """Parameters that `config` and `overrides` set for one of :data:`SECTIONS`, by dotted name without the section.

        Raises:
            ParameterError: the file cannot be read, is not a ROS parameter file, or speaks to a node that is unknown.
        """
        values = {}
        if self.config is not None:
            check_sections(self.config, (*SECTIONS, *OTHER_NODES))
            values = load_yaml(self.config, section)
        prefix = f"{section}."
        own = {name: value for name, value in self.overrides.items() if name.startswith(prefix)}
        return values | {name.removeprefix(prefix): value for name, value in own.items()}

    def simulator_parameters(self) -> dict[str, Any]:
        """The world as parameters of the simulator by dotted name: the options', and on top what `parameters` says.

        Raises:
            ParameterError: as :meth:`parameters`.
        """
        return {
            "friction": self.friction,
            "trunk_mass_scale": self.trunk_mass_scale,
            "seed": self.seed,
            "terrain": self.terrain,
            **self.parameters("simulator"),
        }


def _check_profile(points: tuple[tuple[float, float], ...]) -> None:
    require(bool(points), "the speed command needs at least one breakpoint")
    for point in points:
        require(len(point) == 2, f"a speed breakpoint is (time, speed), found {point}")
        require_finite("speed", *point)
        require(abs(point[1]) <= MAX_SPEED, f"speed is {point[1]} m/s; it must lie in ±{MAX_SPEED} m/s")
    times = [time for time, _ in points]
    require(times[0] == 0.0, f"the speed command begins at {times[0]} s; its first breakpoint must be at 0 s")
    require(
        all(a < b for a, b in pairwise(times)),
        f"the breakpoints of the speed command are at {times} s; their times must increase",
    )


def _check_changes(changes: tuple[tuple[float, str], ...]) -> None:
    pairs = all(isinstance(one, tuple | list) and len(one) == 2 for one in changes)
    require(pairs, f"gaits are {changes!r}; allowed: (time, name) of each change")
    times = [time for time, _ in changes]
    require_finite("gaits", *times)
    require(
        all(a < b for a, b in pairwise([0.0, *times])), f"the gait changes at {times} s; times must increase from 0 s"
    )
