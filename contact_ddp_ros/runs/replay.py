"""Run a planner again on the states of a run and compare its policies with the recorded ones.

The planner warm-starts each solve from its last, so it is given every solve of the run in order. A recording that
begins in the middle of a run, or that misses states, makes the first plans after the gap differ until the warm starts
have met; a recording that is whole gives the same policies to the last bit, on the same machine and versions.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ReplayError
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.robot.ground import TerrainEstimate
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import BodyPose, RobotState

Array = NDArray[np.float64]

_SAME_GAIT = 1e-6
"""Beginnings of a gait that differ by no more are the same [s]."""


@dataclass(frozen=True)
class RecordedSolve:
    """One solve of a run.

    Attributes:
        state: what it was made from.
        speed: commanded [m/s].
        felt: what contact had taught the controller.
        hold: whether the gait was held at its beginning.
        gait: that was to be followed, as the planner's parameter names it.
        gait_start: when the gait had begun [s].
        solve_time: how long it took [s].
        allowed: DDP iterations that its deadline left it.
        ok: whether a policy came of it.
        policy: that policy, where it was recorded.
        left, turn: commanded velocity to the left [m/s] and rate of the heading [rad/s].
        pose: how the trunk was to be held; None: as the planner's parameters say.
    """

    state: RobotState
    speed: float
    felt: TerrainEstimate
    hold: bool
    gait: str
    gait_start: float
    solve_time: float
    allowed: int
    ok: bool
    policy: Policy | None
    left: float = 0.0
    turn: float = 0.0
    pose: BodyPose | None = None


@dataclass(frozen=True)
class Comparison:
    """The recorded and the repeated policies of n solves, (n,) each; NaN where one of a pair is missing.

    Attributes:
        times: of the states [s].
        torque: largest difference of a control [N m].
        state: largest difference of a state [m, rad, m/s, rad/s].
        gain: largest difference of a gain, as a share of the largest gain.
        recorded_time, repeated_time: of the solves [s].
        recorded_ok, repeated_ok: whether a policy came of it.
    """

    times: Array
    torque: Array
    state: Array
    gain: Array
    recorded_time: Array
    repeated_time: Array
    recorded_ok: NDArray[np.bool_]
    repeated_ok: NDArray[np.bool_]

    @property
    def disagreeing(self) -> int:
        """Number of solves of which only one of the two gave a policy."""
        return int((self.recorded_ok != self.repeated_ok).sum())

    def agrees(self, tolerance: float) -> bool:
        """True if there are pairs of policies, none with only one half, and no control differs by more [N m]."""
        pairs = self.torque[~np.isnan(self.torque)]
        return bool(pairs.size) and self.disagreeing == 0 and bool((pairs <= tolerance).all())


def replay(
    planner: Planner, solves: Sequence[RecordedSolve], progress: Callable[[float], None] | None = None
) -> Comparison:
    """Repeat every recorded solve with a planner, in order.

    Raises:
        ReplayError: nothing was recorded, or for another model of the robot.
    """
    if not solves:
        raise ReplayError("the recording holds no solve whose state was recorded too")
    foreign = {one.policy.model_hash for one in solves if one.policy is not None} - {planner.model_hash}
    if foreign:
        found = ", ".join(f"{value:x}" for value in sorted(foreign))
        raise ReplayError(f"the recorded policies are of model {found}; this planner's is {planner.model_hash:x}")
    rows = []
    for k, one in enumerate(solves):
        config = planner.config
        if one.gait != config.gait.name:
            planner.configure(dataclasses.replace(config, gait=dataclasses.replace(config.gait, name=one.gait)))
        if not one.hold and abs(planner.gait_start - one.gait_start) > _SAME_GAIT:
            planner.reset(one.gait_start)
        result = planner.plan(
            *(one.state, one.speed),
            lateral=one.left,
            turn=one.turn,
            hold=one.hold,
            iterations=one.allowed,
            felt=one.felt,
            pose=one.pose,
        )
        differences = _differences(one.policy, result.policy)
        oks = one.ok, result.policy is not None
        rows.append((one.state.time, *differences, one.solve_time, result.solve_time, *oks))
        if progress is not None:
            progress((k + 1) / len(solves))
    times, torque, state, gain, recorded, repeated, recorded_ok, repeated_ok = map(np.array, zip(*rows, strict=True))
    return Comparison(times, torque, state, gain, recorded, repeated, recorded_ok, repeated_ok)


def _differences(recorded: Policy | None, repeated: Policy | None) -> tuple[float, float, float]:
    """Differences of controls, states and gains; infinite for policies on different grids."""
    if recorded is None or repeated is None:
        return np.nan, np.nan, np.nan
    same = recorded.gains.shape == repeated.gains.shape and np.allclose(recorded.times, repeated.times, atol=1e-6)
    if not same:
        return np.inf, np.inf, np.inf
    scale = max(float(np.abs(recorded.gains).max()), 1e-12)
    return (
        float(np.abs(recorded.controls - repeated.controls).max()),
        float(np.abs(recorded.states - repeated.states).max()),
        float(np.abs(recorded.gains - repeated.gains).max()) / scale,
    )
