"""From results to figures: by group, by value, by variant, pair by pair."""

import pytest

from benchmarks.loop import closed_loop_figure
from benchmarks.loop.comparison import compare, verdict
from benchmarks.loop.sweeps import GROUPS, QUICK
from benchmarks.loop.trials import PushSearch, SpeedSearch
from contact_ddp_ros.runs.study.statistics import Paired, wilson
from test.bench.loop.test_sweeps import SETTINGS

JOBS = [job for build in GROUPS.values() for job in build(SETTINGS, QUICK)]


def result(job):
    """DDP takes 1 N s more, is 0.5 m/s slower, and survives where iLQR falls in every first sample."""
    better = job.arm.variant == "ddp"
    if isinstance(job, PushSearch):
        return {"held": 6.0 + better, "lost": None if better else 9.0, "tried": []}
    if isinstance(job, SpeedSearch):
        return {"held": 3.0 - 0.5 * better, "lost": 3.5, "tried": []}
    survived = better or job.sample > 0
    figures = {"speed_error": 0.0, "roll_max": 0.1 if better else 0.2, "pitch_max": None, "touchdown_height": 0.3}
    return {"survived": survived, "sign": "" if survived else "tilt", "spent": 1.0 if better else None} | figures


@pytest.fixture(scope="module")
def comparison():
    return compare(JOBS, [result(job) for job in JOBS])


def test_envelopes_hold_every_phase(comparison):
    assert [one.direction for one in comparison.envelopes] == list(QUICK.directions)
    for one in comparison.envelopes:
        assert one.phases == (0.0, 0.5)
        assert one.held == {"ddp": (7.0, 7.0), "ilqr": (6.0, 6.0)}
        assert one.open == {"ddp": (True, True), "ilqr": (False, False)}
        assert one.advantage == 1.0
        assert one.paired == Paired(2, 0, 0)


def test_speeds_are_apart_by_direction(comparison):
    assert [(one.direction, one.iterations) for one in comparison.speeds] == [("forward", 20.0), ("backward", 20.0)]
    assert comparison.speeds[0].held == {"ddp": (2.5,), "ilqr": (3.0,)}


def test_curves_count_runs_and_pairs(comparison):
    curves = {curve.group: curve for curve in comparison.curves}
    assert list(curves) == ["iterations", "friction", "mass", "delay", "step"]
    budget = curves["iterations"]
    assert budget.values == QUICK.values["iterations"]
    assert budget.survived["ilqr"] == (wilson(1, 2), wilson(1, 2))
    assert budget.paired == (Paired(1, 0, 1), Paired(1, 0, 1))
    assert budget.total == Paired(2, 0, 2)
    assert budget.overall("ddp") == wilson(4, 4)
    assert budget.falls == {"ddp": {}, "ilqr": {"tilt": 2}}
    assert budget.spent["ddp"] == 1.0


def test_figures_are_compared_where_both_survived(comparison):
    roll, height = comparison.qualities
    pairs = sum(one.equal for curve in comparison.curves for one in curve.paired)
    assert (roll.measure, roll.ratio.median, roll.paired) == ("roll_max", 0.5, Paired(pairs, 0, 0))
    assert (height.measure, height.ratio.median, height.paired) == ("touchdown_height", 1.0, Paired(0, 0, pairs))


def test_a_verdict_needs_evidence():
    assert verdict(Paired(3, 0, 10)) == "no difference seen"
    assert verdict(Paired(9, 1, 0)) == "DDP better"
    assert verdict(Paired(1, 9, 0)) == "iLQR better"


@pytest.mark.parametrize("groups", [tuple(GROUPS), ("mass",), ("pushes",), ("speeds",)])
def test_the_figure_is_drawn_of_whatever_there_is(comparison, groups, tmp_path):
    jobs = [job for name in groups for job in GROUPS[name](SETTINGS, QUICK)]
    path = tmp_path / "figure.png"
    closed_loop_figure.draw(compare(jobs, [result(job) for job in jobs]), path)
    assert path.read_bytes().startswith(b"\x89PNG")
