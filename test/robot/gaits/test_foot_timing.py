"""Foot timing along gaits that follow each other, beside stances and swings counted step by step."""

from itertools import pairwise, product

import numpy as np
import pytest

from contact_ddp_ros.robot.gaits.gait import load_gait
from contact_ddp_ros.robot.gaits.sequence import FootTiming, GaitSequence, Section

STEP = 0.01
FEET = ("fr_foot", "fl_foot", "hr_foot", "hl_foot")
NAMES = ("walk", "pronk", "bound", "trot", "pace", "gallop")
SCHEDULES = {
    name: load_gait(name)
    .merged({foot: (foot.removesuffix("_foot"),) for foot in FEET}, "whole_body")
    .schedule(STEP, 0.0)
    for name in NAMES
}


def sequence_of(*names: str) -> GaitSequence:
    """One cycle of each but the first and the last, which go on for ever."""
    gaits = tuple((name, SCHEDULES[name]) for name in names)
    starts = np.cumsum([0, *(round(SCHEDULES[name].period / STEP) for name in names)])
    return GaitSequence(gaits, STEP, tuple(Section(k, int(start)) for k, start in enumerate(starts[:-1])))


@pytest.mark.parametrize(
    "names", [*product(NAMES, NAMES), ("walk", "pronk", "bound"), ("pronk", "walk", "trot"), ("trot", "bound", "walk")]
)
def test_every_stance_and_swing_knows_its_neighbours_durations(names):
    sequence = sequence_of(*names)
    timing = FootTiming(sequence, FEET)
    steps = np.arange(-400, 600)
    for foot, name in enumerate(FEET):
        down = np.array([name in mode.contacts for mode in sequence.modes])
        stands = down[sequence.modes_of_steps(steps, STEP)]
        edges = np.flatnonzero(np.diff(stands)) + 1
        runs = list(pairwise(edges))
        lengths = [STEP * (last - first) for first, last in runs]
        for own, (begin, end) in enumerate(runs[1:-1], start=1):
            if not -150 < steps[begin] < 350:
                continue
            times = STEP * (steps[begin] + np.array([0.0, 0.3, 0.7]) * (end - begin))
            found = timing.phases(times, foot)
            assert (found.swinging != stands[begin]).all()
            assert found.progress == pytest.approx([0.0, 0.3, 0.7], abs=1e-6)
            around = (lengths[own],) * 2 if stands[begin] else (lengths[own - 1], lengths[own + 1])
            assert found.before == pytest.approx([around[0]] * 3)
            assert found.after == pytest.approx([around[1]] * 3)
