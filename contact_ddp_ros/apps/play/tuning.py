"""Parameters of a running loop: checked together, then applied together, or refused with the reason.

Everything may change while the robot moves but what shapes compiled or allocated things: that needs the loop to be
built again, and the robot to be at rest.
"""

import dataclasses
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from contact_ddp_ros.base.config import ParameterSpec, Value, check, flatten, replace, specs
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError, did_you_mean
from contact_ddp_ros.base.safe_ranges import shown
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.planner import Prepared
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.live.commands import Answer
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.robot_scaling import controller_config, planner_config, policy_timing, simulator_options

LIVE_VARIANTS = ("ddp", "ilqr")
"""Variants of the solver that share their kernels, so that one takes over from the other between two solves."""

_WITH_THE_LOOP = ("planner.rate",)
"""Parameters that the nodes change while running, but on which the lock-step loop is built."""

Loops = Callable[[], tuple[ClosedLoop, ...]]


@dataclass(frozen=True)
class Change:
    """Configurations that have been checked and wait to be applied; `prepared` is what the planner takes over."""

    planner: PlannerConfig
    controller: ControllerConfig
    simulator: SimOptions
    values: Mapping[str, Value]
    prepared: Prepared | None = None


def declared(options: RunOptions, robot: Robot) -> dict[str, Value]:
    """The values of a run of this robot that has no options, by "section.name"."""
    plain = RunOptions(robot=options.robot)
    planner = planner_config(plain, robot)
    controller = controller_config(plain, robot, policy_timing(plain, planner))
    configs = {"planner": planner, "controller": controller, "simulator": simulator_options(plain, robot)}
    return {
        f"{section}.{name}": value for section, config in configs.items() for name, value in flatten(config).items()
    }


class Tuner:
    """Changes the parameters of one loop; a gait that must be compiled first is prepared while the loop runs on."""

    def __init__(self, options: RunOptions, robot: Robot, loops: Loops, tell: Callable[[Answer], None]) -> None:
        """`loops` gives the loops to change, the running one first; `tell` gets what became of a change."""
        self.options = options
        """The run's, with every change so far."""
        self._robot, self._loops, self._tell = robot, loops, tell
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gait")
        self._preparing: tuple[Future[Prepared], Change] | None = None
        self._later: deque[Mapping[str, Any]] = deque()

    def table(self) -> dict[str, ParameterSpec]:
        """Every parameter by "section.name", with its present value as the default."""
        loop, found = self._loops()[0], {}
        configs = {
            "planner": loop.planner.config,
            "controller": loop.controller.config,
            "simulator": self._world(),
        }
        for section, config in configs.items():
            for name, spec in specs(config).items():
                full = f"{section}.{name}"
                structural = spec.structural or full in _WITH_THE_LOOP
                found[full] = dataclasses.replace(spec, name=full, structural=structural)
        return found

    def needs_rebuild(self, values: Mapping[str, Any]) -> list[str]:
        """The names of the values that cannot be applied to a loop that is built.

        Raises:
            ParameterError: a name is unknown, or a value of the wrong kind or out of its range.
        """
        known, found = self.table(), []
        for name, value in values.items():
            if name not in known:
                raise ParameterError(f"unknown parameter {name}; {did_you_mean(name, known)}")
            check(known[name], value)
            between = name == "planner.variant" and {value, known[name].default} <= set(LIVE_VARIANTS)
            if known[name].structural and not between:
                found.append(name)
        return found

    def change(self, values: Mapping[str, Any]) -> None:
        """Apply values that need no rebuild, from the next tick on, or once their gait is compiled.

        Raises:
            ContactDdpError: one of them is not allowed; nothing has changed then.
        """
        if self._preparing is not None:
            self._later.append(values)
            return
        change = self._checked(values)
        planner = self._loops()[0].planner
        if change.planner.gait == planner.config.gait:
            self._apply(change)
            return
        self._tell(Answer(True, f"preparing the gait {change.planner.gait.name}"))
        self._preparing = (self._pool.submit(planner.prepared, change.planner), change)

    def look(self) -> None:
        """Apply what has become ready."""
        if self._preparing is None or not self._preparing[0].done():
            return
        (future, change), self._preparing = self._preparing, None
        self._say_why_not(lambda: self._apply(dataclasses.replace(change, prepared=future.result())))
        while self._later and self._preparing is None:
            values = self._later.popleft()
            self._say_why_not(partial(self.change, values))

    def _say_why_not(self, change: Callable[[], None]) -> None:
        try:
            change()
        except ContactDdpError as error:
            self._tell(Answer(False, str(error)))

    def _world(self) -> SimOptions:
        return simulator_options(self.options, self._robot)

    def _checked(self, values: Mapping[str, Any]) -> Change:
        """The configurations with these values, nothing being changed yet."""
        loop = self._loops()[0]

        def of(section: str) -> dict[str, Any]:
            return {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{section}.")}

        planner = replace(loop.planner.config, of("planner"))
        controller = replace(loop.controller.config, of("controller"))
        simulator = replace(self._world(), of("simulator"))
        configs = {"planner": planner, "controller": controller, "simulator": simulator}
        now = {f"{section}.{name}": value for section, one in configs.items() for name, value in flatten(one).items()}
        return Change(planner, controller, simulator, {name: now[name] for name in values})

    def _apply(self, change: Change) -> None:
        for loop in self._loops():
            apply(loop, change)
        self.options = with_values(self.options, change.values)
        self._tell(Answer(True, f"set {said(change.values)}", change.values))


def apply(loop: ClosedLoop, change: Change) -> None:
    """Put a change into effect from the next tick on.

    Raises:
        ContactDdpError: the planner or the controller refuses it; the planner is asked first.
    """
    controller = loop.controller.config
    loop.controller.configure(change.controller)
    try:
        loop.planner.configure(change.planner, change.prepared)
    except ParameterError:
        loop.controller.configure(controller)
        raise
    simulator: Any = loop.plant
    simulator.tune(loop.controller.drive_gains, change.simulator)


def with_values(options: RunOptions, values: Mapping[str, Any]) -> RunOptions:
    """Options with parameters on top; the variant is an option of its own."""
    variant = values.get("planner.variant", options.variant)
    rest = {name: value for name, value in values.items() if name != "planner.variant"}
    return dataclasses.replace(options, variant=variant, overrides={**options.overrides, **rest})


def said(values: Mapping[str, Any]) -> str:
    """Values for people."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())
