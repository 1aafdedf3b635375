"""The contract between planner and controller: a time-stamped, locally optimal feedback policy.

Rows are the nodes of the planner's grid. A reset map (touchdown, take-off) is a node of zero duration: its row holds
the state before the reset and the next row, at the same time, the state after it. Interpolating within one row's
interval therefore never crosses a mode switch.

    u(t) = controls[k] + gains[k] (x - xbar(t)),   times[k] <= t < times[k + 1]

See eq. (22) of docs/mathematics.md.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import PolicyError
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.attitude import Chart, change_derivative, changed
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.rotation import COMPILED, READ, READ_2D, WRITTEN

Array = NDArray[np.float64]


_MODES = nb.types.Array(nb.int64, 1, "A", readonly=True)

SWITCH_TOLERANCE = 1e-9
"""An instant this close before a node counts as the node's own: clocks are sums of floating-point steps [s]."""


NUMBERS = ("times", "states", "controls", "gains", "forces")
"""The fields of a policy that hold floating-point numbers."""

CHECKED = tuple(nb.types.Array(nb.float64, n_dims, "C", readonly=True) for n_dims in (1, 2, 2, 3, 2))
"""Their types in compiled checks."""

_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class PolicySample:
    """The policy at one instant.

    Attributes:
        state: (n_x,) nominal state.
        control: (n_u,) nominal control [N m].
        gain: (n_u, n_x) feedback gain.
        mode: index into the gait's modes.
        forces: (n_f,) planned contact forces [N].
        time_to_switch: time until the mode ends or the horizon does [s].
        ground: that the plan counts on.
        chart: of the attitude, of state and gain.
    """

    state: Array
    control: Array
    gain: Array
    mode: int
    forces: Array
    time_to_switch: float
    ground: Ground = field(default_factory=Ground)
    chart: Chart = Chart.YAW_PITCH_ROLL


@dataclass(frozen=True)
class Policy:
    """A policy over a horizon of N nodes.

    Attributes:
        times: (N + 1,) non-decreasing node times on the clock of the states [s].
        states: (N + 1, n_x) nominal states.
        controls: (N, n_u) nominal controls [N m]; zero rows at resets.
        gains: (N, n_u, n_x) feedback gains; zero at resets.
        modes: (N,) index into the gait's modes; a reset belongs to the mode that it ends.
        forces: (N, n_f) planned contact forces in the world frame [N], zero where a foot is in the air.
        sequence: counts the planner's solves.
        epoch: changes whenever the planner (re)starts its gait; policies of another epoch never mix.
        model_hash: fingerprint of the planner's model.
        ground: that the plan counts on.
        advance: how far the gait was ahead of its schedule when this was planned [s].
        chart: of the attitude, of states and gains; a model without one has the default.
    """

    times: Array
    states: Array
    controls: Array
    gains: Array
    modes: NDArray[np.int64]
    forces: Array
    sequence: int = 0
    epoch: int = 0
    model_hash: int = 0
    ground: Ground = field(default_factory=Ground)
    advance: float = 0.0
    chart: Chart = Chart.YAW_PITCH_ROLL

    def __post_init__(self) -> None:
        """Raises PolicyError where shapes disagree, numbers are not finite or times run backwards."""
        n = len(self.controls)
        n_x, n_u = self.states.shape[-1], self.controls.shape[-1]
        shapes = {
            "times": (self.times.shape, (n + 1,)),
            "states": (self.states.shape, (n + 1, n_x)),
            "controls": (self.controls.shape, (n, n_u)),
            "gains": (self.gains.shape, (n, n_u, n_x)),
            "modes": (self.modes.shape, (n,)),
            "forces": (self.forces.shape, (n, self.forces.shape[-1])),
        }
        for name, (found, allowed) in shapes.items():
            if found != allowed:
                raise PolicyError(f"policy {name} has shape {found}, expected {allowed}")
        if n and _is_sound(*self.numbers()):
            return
        for name in NUMBERS:
            if not np.isfinite(getattr(self, name)).all():
                raise PolicyError(f"policy {name} holds a number that is not finite")
        raise PolicyError("policy times must be at least two and must not decrease")

    def numbers(self) -> tuple[Array, ...]:
        """The arrays of NUMBERS, for compiled checks: C-contiguous and of float64."""
        return tuple([np.ascontiguousarray(getattr(self, name), np.float64) for name in NUMBERS])

    @cached_property
    def start(self) -> float:
        """First instant covered [s]."""
        return float(self.times[0])

    @cached_property
    def end(self) -> float:
        """Instant where the horizon ends [s]."""
        return float(self.times[-1])

    def until(self, node: int | None) -> "Policy":
        """The policy up to a node, itself where that is None."""
        if node is None:
            return self
        cut = {name: getattr(self, name)[:node] for name in ("controls", "gains", "modes", "forces")}
        return replace(self, times=self.times[: node + 1], states=self.states[: node + 1], **cut)

    def node(self, time: float) -> int:
        """Index of the node whose interval holds `time`; a switch instant belongs to the later mode."""
        return int(_look_up(self.times, self.states, self.modes, time)[0])

    def sample(self, time: float) -> PolicySample:
        """Look the policy up: control and gain held, state interpolated; clamped to the horizon's ends."""
        k, state, switch = _look_up(self.times, self.states, self.modes, time)
        node = self.controls[k], self.gains[k], int(self.modes[k]), self.forces[k]
        return PolicySample(state, *node, switch - time, self.ground, self.chart)

    @property
    def shown(self) -> "Policy":
        """Copy with states in the default Euler convention, for recordings and displays."""
        return self.in_chart(Chart.YAW_PITCH_ROLL)

    def in_chart(self, chart: Chart) -> "Policy":
        """Copy with states and gains in another Euler convention, of states (x, y, z, angles, ...) and their rates.

        A gain multiplies the difference of the new coordinates by the derivative of the change back.
        """
        if chart is self.chart:
            return self
        states = np.empty_like(self.states)
        near = None
        for k, x in enumerate(self.states):
            states[k] = near = changed(x, self.chart, chart, near)
        gains = np.array(
            [gain @ change_derivative(x, chart, self.chart) for gain, x in zip(self.gains, states[:-1], strict=True)]
        )
        return replace(self, states=states, gains=gains, chart=chart)


@njit(nb.types.Tuple((nb.int64, WRITTEN, nb.float64))(READ, READ_2D, _MODES, nb.float64), **COMPILED)
def _look_up(times, states, modes, time):  # type: ignore[no-untyped-def]
    """The node of an instant, the state interpolated there, and when the node's mode ends or the horizon does [s]."""
    n = len(modes)
    k = np.searchsorted(times, time + SWITCH_TOLERANCE, side="right") - 1
    k = min(max(k, 0), n - 1)
    span = times[k + 1] - times[k]
    ratio = min(max((time - times[k]) / span, 0.0), 1.0) if span > 0.0 else 0.0
    later = k
    while later < n and modes[later] == modes[k]:
        later += 1
    return k, (1.0 - ratio) * states[k] + ratio * states[k + 1], times[later]


@njit(nb.boolean(nb.types.Array(nb.float64, 1, "C", readonly=True), nb.float64), **COMPILED)
def all_within(values, limit):  # type: ignore[no-untyped-def]
    """True if every value lies in ± a limit; a NaN does not."""
    inside = True
    for value in values:
        inside &= abs(value) <= limit
    return inside


@njit(nb.boolean(*CHECKED), **COMPILED)
def _is_sound(times, states, controls, gains, forces):  # type: ignore[no-untyped-def]
    """True if all numbers are finite and the times do not decrease."""
    sound = all_within(times, _LARGEST) and all_within(states.ravel(), _LARGEST)
    sound &= all_within(controls.ravel(), _LARGEST) and all_within(gains.ravel(), _LARGEST)
    sound &= all_within(forces.ravel(), _LARGEST)
    for k in range(len(times) - 1):
        sound &= times[k] <= times[k + 1]
    return sound
