"""A planner between the closed loop and the real one, for benchmarks that listen to it or tell it what to do."""

from typing import Any

from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.mpc.planner import PlanResult
from contact_ddp_ros.robot.state import RobotState


class PlannerProxy:
    """Passes everything on; subclasses override :meth:`solve`, which sees the plans of the bound only."""

    def __init__(self, planner: Any) -> None:
        self.planner = planner

    def plan(self, state: RobotState, speed: float, *, hold: bool = False) -> PlanResult:
        """As the planner's."""
        result: PlanResult = self.planner.plan(state, speed, hold=True) if hold else self.solve(state, speed)
        return result

    def solve(self, state: RobotState, speed: float) -> PlanResult:
        """One plan of the bound."""
        result: PlanResult = self.planner.plan(state, speed, hold=False)
        return result

    def listen(self, loop: ClosedLoop) -> None:
        """Take the planner's place in a loop."""
        loop.planner = self  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.planner, name)
