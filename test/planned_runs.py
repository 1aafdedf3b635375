"""The made-up run with plans that were kept, for tests of what is made from plans."""

from dataclasses import replace

import numpy as np
from synthetic import Gait, bounding_recorder

from contact_ddp_ros.robot.models.planar import PLANAR_JOINT_NAMES
from contact_ddp_ros.runs.recording import Recording

NODES, PERIOD = 40, 0.3
"""Of a plan, and how long it is [s]."""

BEGINS = (0.6, 0.8, 1.4)
"""When the plans were made: the second before the first ends, the third after the second has [s]."""


def planned_recording(**options: object) -> Recording:
    """Its plans are the measured motion, 1 cm higher."""
    recording = bounding_recorder(Gait(duration=2.0), **options).finish()
    ticks = recording.ticks
    rows = [int(np.searchsorted(recording.solves["time"], begin - 1e-9)) for begin in BEGINS]
    times = np.array([begin + np.linspace(0.0, PERIOD, NODES + 1) for begin in BEGINS])
    pairs = np.array([[1, 4], [2, 5], [7, 10], [8, 11]])
    columns = [ticks["position"][:, 0], ticks["position"][:, 2] + 0.01, recording.rpy[:, 1]]
    columns += [ticks["joint_positions"][:, pair].mean(axis=1) for pair in pairs]
    columns += [np.zeros(len(ticks["time"]))] * 3
    columns += [ticks["joint_velocities"][:, pair].mean(axis=1) for pair in pairs]
    states = np.stack([np.interp(times, ticks["time"], column) for column in columns], axis=-1)
    plans = {
        "solve": np.array(rows),
        "nodes": np.full(len(BEGINS), NODES),
        "times": times,
        "states": states,
        "controls": np.zeros((len(BEGINS), NODES, 4)),
        "gains": np.zeros((len(BEGINS), NODES, 4, 14)),
        "modes": np.zeros((len(BEGINS), NODES), dtype=np.int64),
        "forces": np.full((len(BEGINS), NODES, 4), 50.0),
    }
    terms = np.tile([3.0, 1.0, 0.0], (len(recording.solves["time"]), 1))
    info = replace(
        recording.info,
        foot_names=tuple(f"{foot}_foot" for foot in recording.info.foot_names),
        mode_feet=tuple(tuple(f"{foot}_foot" for foot in feet) for feet in recording.info.mode_feet),
        plan_coordinates=PLANAR_JOINT_NAMES,
        cost_terms=("state", "torque", "touchdown"),
        parameters={"planner": {"gait.name": "bound"}},
    )
    solves = {**recording.solves, "cost_terms": terms, "theta": np.linspace(0.0, 1.0, len(terms))}
    return Recording(info, ticks, solves, recording.events, plans)
