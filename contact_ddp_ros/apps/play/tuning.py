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

from contact_ddp_ros.base.config import ParameterSpec, Value, check
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError, did_you_mean
from contact_ddp_ros.base.safe_ranges import shown
from contact_ddp_ros.mpc.planner import Prepared
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.live.commands import Answer
from contact_ddp_ros.runs.scenario import Scenario

LIVE_VARIANTS = ("ddp", "ilqr")
"""Variants of the solver that share their kernels, so that one takes over from the other between two solves."""

_WITH_THE_LOOP = ("planner.rate",)
"""Parameters that the nodes change while running, but on which the lock-step loop is built."""

Loops = Callable[[], tuple[ClosedLoop, ...]]


@dataclass(frozen=True)
class Change:
    """A scenario that has been checked and waits to be applied; `prepared` is what the planner takes over."""

    scenario: Scenario
    values: Mapping[str, Value]
    prepared: Prepared | None = None


class Tuner:
    """Changes the parameters of one loop; a gait that must be compiled first is prepared while the loop runs on."""

    def __init__(self, scenario: Scenario, loops: Loops, tell: Callable[[Answer], None]) -> None:
        """`loops` gives the loops to change, the running one first; `tell` gets what became of a change."""
        self.scenario = scenario
        """The run's, with every change so far."""
        self._loops, self._tell = loops, tell
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gait")
        self._preparing: tuple[Future[Prepared], Change] | None = None
        self._later: deque[Mapping[str, Any]] = deque()

    def table(self) -> dict[str, ParameterSpec]:
        """Every parameter by "section.name", with its present value as the default."""
        return {
            name: dataclasses.replace(spec, structural=spec.structural or name in _WITH_THE_LOOP)
            for name, spec in self.scenario.specs().items()
        }

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
        new, planner = self.scenario.changed(values), self._loops()[0].planner
        known = new.specs()
        change = Change(new, {name: known[name].default for name in values})
        if new.planner.gait == planner.config.gait:
            self._apply(change)
            return
        self._tell(Answer(True, f"preparing the gait {new.planner.gait.name}"))
        self._preparing = (self._pool.submit(planner.prepared, new.planner), change)

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

    def _apply(self, change: Change) -> None:
        for loop in self._loops():
            apply(loop, change)
        self.scenario = change.scenario
        self._tell(Answer(True, f"set {said(change.values)}", change.values))


def apply(loop: ClosedLoop, change: Change) -> None:
    """Put a change into effect from the next tick on.

    Raises:
        ContactDdpError: the planner or the controller refuses it; the planner is asked first.
    """
    controller = loop.controller.config
    loop.controller.configure(change.scenario.controller)
    try:
        loop.planner.configure(change.scenario.planner, change.prepared)
    except ParameterError:
        loop.controller.configure(controller)
        raise
    simulator: Any = loop.plant
    simulator.tune(loop.controller.drive_gains, change.scenario.simulator)


def said(values: Mapping[str, Any]) -> str:
    """Values for people."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())
