"""A policy as one atomic std_msgs/Float64MultiArray, and back.

`data` begins with the `layout.data_offset` = 21 slots of `HEADER`, followed by N + 1 rows of
w = 2 + n_x + n_u + n_u n_x + n_f columns, row after row:

    t - start | mode | state (n_x) | control (n_u) | gain (n_u n_x, row by row) | forces (n_f)

The last row is the state at the horizon's end; its other columns repeat the mode and are zero. A status other than 0
says that the planner has no policy for that state; then there is no row.
"""

from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.base.config import check, specs
from contact_ddp_ros.base.errors import MessageError, ParameterError, PolicyError
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.ros.array_codec import ArrayCodec, Part, array_message, count, stamp
from contact_ddp_ros.ros.conversions import time_ns
from contact_ddp_ros.ros.loop_messages import array_of

Array = NDArray[np.float64]

SCHEMA = 4
"""Raised whenever the layout changes."""

_HALF = 1 << 32

HEADER = ArrayCodec(
    "policy message",
    SCHEMA,
    count("sequence"),
    count("epoch"),
    stamp(),
    *(count(name) for name in ("status", "nodes", "n_x", "n_u", "n_f")),
    Part("model_hash", 2, 0.0, _HALF - 1.0, whole=True, base=_HALF),
    stamp("start"),
    count("columns"),
    Part("ground", 4),
    Part("advance"),
    count("chart", max(Chart)),
)
"""Slots before the rows: stamp of the state planned from, status, sizes, fingerprint of the model, start of the
horizon, ground that the plan counts on (the fields of :class:`Ground`), how far contact had moved the gait ahead of
its schedule [s], and chart of the attitude, of states and gains."""

DATA_OFFSET = HEADER.size

_COPIED = ("sequence", "epoch", "model_hash", "advance")
"""Slots that are attributes of a policy as they are."""

STATUS_OK = 0
STATUS_FAILED = 1
"""The solve diverged or gave a number that is not finite."""

STATUS_STOPPED = 2
"""The planner has stopped working and answers nothing until it says something else."""

_GROUND = tuple(specs(Ground()).values())

_MAX_NODES = 100_000
"""More nodes than any horizon has: a larger count is a damaged message."""


_MAX_MODES = 1000
"""More than any gait has."""


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
    rows = np.zeros((n_nodes + 1, columns(n_x, n_u, n_f)))
    parts = _parts(n_x, n_u, n_f)
    rows[:, 0] = policy.times - 1e-9 * start
    rows[:-1, 1] = policy.modes
    rows[-1, 1] = policy.modes[-1]
    rows[:, parts["state"]] = policy.states
    rows[:-1, parts["control"]] = policy.controls
    rows[:-1, parts["gain"]] = policy.gains.reshape(n_nodes, -1)
    rows[:-1, parts["force"]] = policy.forces
    return _message(
        rows,
        stamp=stamp,
        start=origin + start,
        ground=astuple(policy.ground),
        chart=policy.chart,
        **{name: getattr(policy, name) for name in _COPIED},
        nodes=n_nodes,
        n_x=n_x,
        n_u=n_u,
        n_f=n_f,
        columns=rows.shape[1],
    )


def no_policy_message(stamp: int, status: int, model_hash: int) -> Float64MultiArray:
    """A message without a policy for the state of that stamp [ns]; `status` gives the reason."""
    return _message(np.zeros((0, 0)), stamp=stamp, status=status, model_hash=model_hash, start=stamp)


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
    header, rows = HEADER.values(data)
    stamp, status = header["stamp"], header["status"]
    if status != STATUS_OK:
        return PolicyAnswer(stamp, status, None)
    n_nodes, n_x, n_u, n_f = (header[name] for name in ("nodes", "n_x", "n_u", "n_f"))
    width = columns(n_x, n_u, n_f)
    expected = DATA_OFFSET + (n_nodes + 1) * width
    if not 0 < n_nodes <= _MAX_NODES or header["columns"] != width or len(data) != expected:
        raise MessageError(
            f"policy message of {len(data)} numbers in {header['columns']} columns; {n_nodes} nodes with "
            f"n_x = {n_x}, n_u = {n_u}, n_f = {n_f} need {expected} in {width}"
        )
    start = header["start"] - origin
    return PolicyAnswer(stamp, STATUS_OK, _policy(rows.reshape(n_nodes + 1, width), header, start))


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


def _policy(rows: Array, header: dict[str, Any], start: int) -> Policy:
    n_x, n_u = header["n_x"], header["n_u"]
    parts = _parts(n_x, n_u, header["n_f"])
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
        ground=_ground(*header["ground"]),
        chart=Chart(header["chart"]),
        **{name: header[name] for name in _COPIED},
    )


def _parts(n_x: int, n_u: int, n_f: int) -> dict[str, slice]:
    """Columns of each part of a row."""
    parts, begin = {}, 2
    for name, size in (("state", n_x), ("control", n_u), ("gain", n_u * n_x), ("force", n_f)):
        parts[name] = slice(begin, begin + size)
        begin += size
    return parts


def _message(rows: Array, **header: Any) -> Float64MultiArray:
    height, width = rows.shape
    dimensions = ("node", height, rows.size), ("t,mode,state,control,gain,force", width, width)
    return array_message(HEADER.array(header, rows), DATA_OFFSET, *dimensions)
