"""The sketch of a motion: reference of small weight and first guess of its optimisation.

The trunk goes forward at one speed from the first take-off to the last touchdown, ballistically in each flight, with
the legs drawn in more the longer the flight is. In the longest one it turns and goes to the left, leaning into the turn
from the touchdown before, or the beginning, and upright again at the take-off after, or the end. A trunk that
begins elsewhere is at the stand's height at the first take-off, and legs that do move to the stand's in the longest
flight.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.motion_controller import start_coordinates, turning_index
from contact_ddp_ros.mpc.planar_reference import PlanarLeg
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.motion import MotionSpec
from contact_ddp_ros.robot.tree import GRAVITY

Array = NDArray[np.float64]
Span = tuple[float, float]

_FOLDED_HIP, _FOLDED_KNEE = -1.25, 2.5
"""Joint angles of a leg drawn in [rad]."""


def sketch(task: MotionSpec, model: Model, times: Array, *, rise: float, tilt: float, tuck: float) -> Array:
    """States of the model (N, 2n), from the beginning on.

    Args:
        task: the motion.
        model: that it is planned with.
        times: (N,) from the beginning [s].
        rise: of the ground on which it lands after the longest flight [m].
        tilt: about the axis that the motion turns about, on that ground [rad].
        tuck: how far legs fold in the longest flight, from 0 (as they stand) to 1.
    """
    stand, n, longest = model.state(model.robot.standing_state()), model.tree.n, task.flight
    xs = np.tile(stand, (len(times), 1))
    up, start = model.height, start_coordinates(task, model)
    if task.start:
        joints, lifted = list(model.tree.actuated), _progress(times, (0.0, task.flights[0][0]))
        xs[:, joints] += (1.0 - _progress(times, longest))[:, None] * (start - stand)[joints]
        xs[:, up] += (1.0 - lifted) * (start[up] - stand[up])
    ways = (task.displacement, (task.flights[0][0], task.flights[-1][1])), (task.left, longest)
    for axis, (way, span) in enumerate(ways[:up]):
        xs[:, axis] += way * _progress(times, span)
        xs[:, n + axis] = np.where(_inside(times, span), way / (span[1] - span[0]), 0.0)
    for span in task.flights:
        _fly(xs, model, stand, times, span, rise * (span == longest), tuck * _relative(span, longest) ** 2)
    _turn(xs, model, times, task, tilt)
    xs[:, turning_index(model)] += task.start_turn
    return xs


def _fly(xs: Array, model: Model, stand: Array, times: Array, span: Span, rise: float, tuck: float) -> None:
    """Height and legs of one flight."""
    n, up, duration = model.tree.n, model.height, span[1] - span[0]
    s, flying = _progress(times, span), _inside(times, span)
    xs[:, up] += rise * s + 0.5 * GRAVITY * duration**2 * s * (1.0 - s)
    speeds = (rise + 0.5 * GRAVITY * duration**2 * (1.0 - 2.0 * s)) / duration
    xs[flying, n + up] = speeds[flying]
    fold = tuck * np.sin(np.pi * s) ** 2
    for leg in (PlanarLeg.of_tree(model.tree, point.name) for point in model.tree.contacts):
        for joint, folded in ((leg.hip, _FOLDED_HIP), (leg.knee, _FOLDED_KNEE)):
            xs[:, joint] += fold * (folded - stand[joint])


def _turn(xs: Array, model: Model, times: Array, task: MotionSpec, tilt: float) -> None:
    """Angle and rate about the axis of the turn, the last of the trunk's."""
    n, (begin, end) = model.tree.n, task.flight
    turning = turning_index(model)
    ends, begins = [span[1] for span in task.flights], [span[0] for span in task.flights]
    before = _progress(times, (max((one for one in ends if one < begin), default=0.0), begin))
    after = _progress(times, (end, min((one for one in begins if one > end), default=task.duration)))
    first, landing = task.take_off_pitch + task.take_off_roll, task.landing_pitch + task.landing_roll
    last = task.turns + tilt + landing
    xs[:, turning] = first * before**2 + (last - first) * _progress(times, (begin, end))
    xs[:, turning] -= landing * (1.0 - (1.0 - after) ** 2) * (times >= end)
    xs[:, n + turning] = np.where(_inside(times, (begin, end)), (last - first) / (end - begin), 0.0)


def _progress(times: Array, span: Span) -> Array:
    """(N,) from 0 before the span to 1 after it."""
    return np.clip((times - span[0]) / max(span[1] - span[0], 1e-9), 0.0, 1.0)


def _inside(times: Array, span: Span) -> NDArray[np.bool_]:
    return np.asarray((times > span[0]) & (times < span[1]))


def _relative(span: Span, longest: Span) -> float:
    """Duration over that of the longest."""
    return (span[1] - span[0]) / (longest[1] - longest[0])
