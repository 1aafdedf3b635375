"""A policy as one atomic std_msgs/Float64MultiArray, and back.

`data` begins with `layout.data_offset` = 21 header slots,

    0 schema  1 sequence  2 epoch  3, 4 stamp of the state planned from: seconds, nanoseconds  5 status
    6 N nodes  7 n_x  8 n_u  9 n_f  10, 11 fingerprint of the model: upper and lower 32 bits
    12, 13 start of the horizon: seconds, nanoseconds  14 number of columns w
    15 to 18 ground that the plan counts on: height at the origin of odom [m], friction coefficient, slopes along x, y
    19 how far contact had moved the gait ahead of its schedule [s]  20 chart of the attitude, of states and gains

followed by N + 1 rows of w = 2 + n_x + n_u + n_u n_x + n_f columns, row after row:

    t - start | mode | state (n_x) | control (n_u) | gain (n_u n_x, row by row) | forces (n_f)

The last row is the state at the horizon's end; its other columns repeat the mode and are zero. A status other than 0
says that the planner has no policy for that state; then there is no row. Integers below 2^53 are exact in a float64.
"""

from dataclasses import astuple, dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from contact_ddp_ros.base.config import check, specs
from contact_ddp_ros.base.errors import MessageError, ParameterError, PolicyError
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.ros.cdr import array_of
from contact_ddp_ros.ros.conversions import doubles, time_ns
from contact_ddp_ros.ros.timebase import NANOSECONDS

Array = NDArray[np.float64]

SCHEMA = 4
"""Raised whenever the layout changes."""

HEADER = (
    "schema",
    "sequence",
    "epoch",
    "stamp_sec",
    "stamp_nanosec",
    "status",
    "nodes",
    "n_x",
    "n_u",
    "n_f",
    "model_high",
    "model_low",
    "start_sec",
    "start_nanosec",
    "columns",
)
"""Slots of the header that hold whole numbers."""

GROUND = ("ground_height", "friction", "slope_x", "slope_y")
"""Slots after them, in the order of the fields of :class:`Ground`; the gait's advance and the chart come last."""

_GROUND_END = len(HEADER) + len(GROUND)
DATA_OFFSET = _GROUND_END + 2

STATUS_OK = 0
STATUS_FAILED = 1
"""The solve diverged or gave a number that is not finite."""

STATUS_STOPPED = 2
"""The planner has stopped working and answers nothing until it says something else."""

_GROUND = tuple(specs(Ground()).values())

_HALF = 1 << 32
_MAX_NODES = 100_000
"""More nodes than any horizon has: a larger count is a damaged message."""


_MAX_MODES = 1000
"""More than any gait has."""

_LARGEST_WHOLE = 2.0**53
"""Whole number from which on not every one is a float64."""


@dataclass(frozen=True)
class PolicyAnswer:
    """The planner's answer for the state of stamp `stamp` [ns]: a policy, or None with the reason as status."""

    stamp: int
    status: int
    policy: Policy | None


def policy_message(policy: Policy, stamp: int, origin: int = 0) -> Float64MultiArray:
    """A policy planned from the state of that stamp [ns]; its times count from the stamp `origin` [ns]."""
    n_nodes, n_u, n_x = policy.gains.shape
    n_f = policy.forces.shape[1]
    start = time_ns(policy.start)
    begin = origin + start
    rows = np.zeros((n_nodes + 1, columns(n_x, n_u, n_f)))
    parts = _parts(n_x, n_u, n_f)
    rows[:, 0] = policy.times - 1e-9 * start
    rows[:-1, 1] = policy.modes
    rows[-1, 1] = policy.modes[-1]
    rows[:, parts["state"]] = policy.states
    rows[:-1, parts["control"]] = policy.controls
    rows[:-1, parts["gain"]] = policy.gains.reshape(n_nodes, -1)
    rows[:-1, parts["force"]] = policy.forces
    header = _header(policy.sequence, policy.epoch, stamp, STATUS_OK, policy.model_hash, begin)
    header[6:10] = n_nodes, n_x, n_u, n_f
    header[14] = rows.shape[1]
    header[len(HEADER) :] = *astuple(policy.ground), policy.advance, policy.chart
    return _message(header, rows)


def no_policy_message(stamp: int, status: int, model_hash: int) -> Float64MultiArray:
    """A message without a policy for the state of that stamp [ns]; `status` gives the reason."""
    return _message(_header(0, 0, stamp, status, model_hash, stamp), np.zeros((0, 0)))


def policy_answer(message: Float64MultiArray, origin: int = 0) -> PolicyAnswer:
    """The answer of a policy message, its times in seconds since the stamp `origin` [ns].

    Raises:
        MessageError: the message is of another schema or damaged.
        PolicyError: the policy is invalid (a number that is not finite, times that decrease).
    """
    data = np.frombuffer(memoryview(message.data), dtype=np.float64) if len(message.data) else np.zeros(0)
    return _answer(data, message.layout.data_offset, origin)


def serialised_policy_answer(message: bytes, origin: int = 0) -> PolicyAnswer:
    """Answer of :func:`policy_answer` from the serialised message, whose numbers are not copied into an object first.

    Raises:
        MessageError, PolicyError: as :func:`policy_answer`.
    """
    offset, data = array_of(message)
    return _answer(data, offset, origin)


def _answer(data: Array, offset: int, origin: int) -> PolicyAnswer:
    if len(data) < DATA_OFFSET or offset != DATA_OFFSET:
        raise MessageError(
            f"policy message of {len(data)} numbers, {offset} of them header; allowed: {DATA_OFFSET} header slots"
        )
    header = _checked_header(data[: len(HEADER)])
    stamp = header["stamp_sec"] * NANOSECONDS + header["stamp_nanosec"]
    if header["status"] != STATUS_OK:
        return PolicyAnswer(stamp, header["status"], None)
    n_nodes, n_x, n_u, n_f = (header[name] for name in ("nodes", "n_x", "n_u", "n_f"))
    width = columns(n_x, n_u, n_f)
    expected = DATA_OFFSET + (n_nodes + 1) * width
    if not 0 < n_nodes <= _MAX_NODES or header["columns"] != width or len(data) != expected:
        raise MessageError(
            f"policy message of {len(data)} numbers in {header['columns']} columns; {n_nodes} nodes with "
            f"n_x = {n_x}, n_u = {n_u}, n_f = {n_f} need {expected} in {width}"
        )
    start = header["start_sec"] * NANOSECONDS + header["start_nanosec"] - origin
    model_hash = header["model_high"] * _HALF + header["model_low"]
    rows = data[DATA_OFFSET:].reshape(n_nodes + 1, width)
    ground, advance = _ground(*data[len(HEADER) : _GROUND_END].tolist()), float(data[_GROUND_END])
    if not abs(advance) < _LARGEST_WHOLE:
        raise PolicyError(f"the gait of a policy is {advance} s ahead of its schedule; allowed: finite")
    chart = float(data[_GROUND_END + 1])
    if chart not in tuple(Chart):
        raise PolicyError(f"a policy is in chart {chart:g} of the attitude; allowed: {', '.join(map(str, Chart))}")
    policy = _policy(rows, n_x, n_u, n_f, start, header, model_hash, ground, advance)
    return PolicyAnswer(stamp, STATUS_OK, replace(policy, chart=Chart(int(chart))))


def columns(n_x: int, n_u: int, n_f: int) -> int:
    """Number of columns of a row."""
    return 2 + n_x + n_u + n_u * n_x + n_f


@lru_cache
def _ground(*values: float) -> Ground:
    try:
        for spec, value in zip(_GROUND, values):
            check(spec, value)
    except ParameterError as error:
        raise PolicyError(f"the ground of a policy: {error}") from error
    return Ground(*values)


def _policy(
    rows: Array,
    n_x: int,
    n_u: int,
    n_f: int,
    start: int,
    header: dict[str, int],
    model_hash: int,
    ground: Ground,
    advance: float,
) -> Policy:
    parts = _parts(n_x, n_u, n_f)
    modes = rows[:-1, 1]
    if not ((modes == np.floor(modes)) & (modes >= 0) & (modes < _MAX_MODES)).all():
        raise PolicyError(f"policy modes must be whole numbers from 0 to {_MAX_MODES - 1}")
    return Policy(
        times=rows[:, 0] + 1e-9 * start,
        states=rows[:, parts["state"]].copy(),
        controls=rows[:-1, parts["control"]].copy(),
        gains=rows[:-1, parts["gain"]].reshape(-1, n_u, n_x).copy(),
        modes=modes.astype(np.int64),
        forces=rows[:-1, parts["force"]].copy(),
        sequence=header["sequence"],
        epoch=header["epoch"],
        model_hash=model_hash,
        ground=ground,
        advance=advance,
    )


def _parts(n_x: int, n_u: int, n_f: int) -> dict[str, slice]:
    """Columns of each part of a row."""
    parts, begin = {}, 2
    for name, size in (("state", n_x), ("control", n_u), ("gain", n_u * n_x), ("force", n_f)):
        parts[name] = slice(begin, begin + size)
        begin += size
    return parts


def _header(sequence: int, epoch: int, stamp: int, status: int, model_hash: int, start: int) -> Array:
    header = np.zeros(DATA_OFFSET)
    header[:6] = SCHEMA, sequence, epoch, *divmod(stamp, NANOSECONDS), status
    header[10:12] = divmod(model_hash, _HALF)
    header[12:14] = divmod(start, NANOSECONDS)
    return header


def _checked_header(values: Array) -> dict[str, int]:
    numbers = values.tolist()
    if not all(0.0 <= number <= _LARGEST_WHOLE and number.is_integer() for number in numbers):
        raise MessageError(f"policy header {numbers}; allowed: whole numbers from 0 to 2^53")
    header = dict(zip(HEADER, map(int, numbers)))
    if header["schema"] != SCHEMA:
        raise MessageError(f"policy message of schema {header['schema']}; this controller reads schema {SCHEMA}")
    return header


def _message(header: Array, rows: Array) -> Float64MultiArray:
    message = Float64MultiArray()
    message.layout.data_offset = len(header)
    message.layout.dim = [
        MultiArrayDimension(label="node", size=rows.shape[0], stride=rows.size),
        MultiArrayDimension(label="t,mode,state,control,gain,force", size=rows.shape[1], stride=rows.shape[1]),
    ]
    message.data = doubles(np.concatenate([header, rows.ravel()]))
    return message
