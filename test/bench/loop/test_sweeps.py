"""Both variants meet the same conditions, each condition says what its name says, and chance comes from the seed."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from benchmarks.loop.budget import StageCosts
from benchmarks.loop.cases import CYCLE, RECOVERY
from benchmarks.loop.sweeps import GROUPS, IMPULSES, QUICK, SPEEDS, VARIED, SweepExtent, SweepSettings, draw
from benchmarks.loop.trials import PushSearch, SpeedSearch, Trial
from benchmarks.solver.case import VARIANTS

COSTS = StageCosts(0.2, 0.65, 0.4, 0.15)
SETTINGS = SweepSettings(COSTS, seed=4)


def of(group, settings=SETTINGS, extent=QUICK):
    return GROUPS[group](settings, extent)


def trials(group, values=None, samples=QUICK.samples):
    extent = replace(QUICK, samples=samples, values={**QUICK.values, **({} if values is None else {group: values})})
    return [job for job in of(group, extent=extent) if isinstance(job, Trial)]


@pytest.mark.parametrize("extent", [QUICK, SweepExtent()])
def test_names_are_unique(extent):
    names = [job.name for group in GROUPS for job in of(group, extent=extent)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("group", GROUPS)
def test_variants_meet_the_same_conditions_on_the_same_budget(group):
    first, second = ([job for job in of(group) if job.arm.variant == variant] for variant in VARIANTS)
    assert first
    assert [replace(job, arm=replace(job.arm, variant="ilqr")) for job in first] == second


@pytest.mark.parametrize("group", VARIED)
def test_a_sample_does_not_depend_on_how_many_there_are(group):
    few, many = (
        {job.name: asdict(job.options) for job in trials(group, samples=samples) if job.sample < 2}
        for samples in (2, 5)
    )
    assert few == many


@pytest.mark.parametrize("group", GROUPS)
def test_settings_reach_every_run(group):
    settings = SweepSettings(COSTS, seed=4, overrides={"planner.weight.pitch": 41.0, "simulator.noise.position": 0.0})
    for job in of(group, settings):
        assert job.options.overrides["planner.weight.pitch"] == 41.0
        assert job.options.overrides["simulator.noise.position"] == 0.0
        assert job.options.overrides["simulator.noise.orientation"] > 0.0
        assert job.options.lockstep


def test_draws_follow_the_seed_and_lie_within_their_ranges():
    assert draw(4, 1) == draw(4, 1) != draw(5, 1)
    samples = [draw(0, i) for i in range(200)]
    impulses = np.array([np.linalg.norm(one.push.force) * one.push.duration for one in samples])
    assert IMPULSES[0] <= impulses.min() < impulses.max() <= IMPULSES[1]
    assert all(SPEEDS[0] <= one.speed <= SPEEDS[1] for one in samples)
    directions = np.arctan2(*np.array([one.push.force[:2] for one in samples]).T)
    assert directions.min() < -2.5 and directions.max() > 2.5
    times = np.array([one.push.time for one in samples])
    assert np.ptp(times) == pytest.approx(CYCLE, rel=0.05)
    assert len({one.noise_seed for one in samples}) == len(samples)


def test_a_pushed_run_lasts_until_the_robot_may_have_recovered():
    for job in trials("friction"):
        (push,) = job.options.pushes
        assert job.options.duration == pytest.approx(push.end + RECOVERY)


@pytest.mark.parametrize(
    ("group", "values", "field"),
    [
        ("friction", (0.3, 0.9), "friction"),
        ("mass", (0.7, 1.3), "trunk_mass_scale"),
        ("delay", (0.0, 0.03), "planner_delay"),
    ],
)
def test_what_a_group_varies_reaches_the_run(group, values, field):
    jobs = trials(group, values)
    assert {job.value for job in jobs} == set(values)
    assert all(getattr(job.options, field) == job.value for job in jobs)


def test_a_step_lies_ahead_and_there_is_no_push():
    jobs = trials("step", (-0.02, 0.03), samples=10)
    for job in jobs:
        position, rise = map(float, job.options.terrain.removeprefix("step:").split(","))
        assert rise == job.value
        assert 0.25 < position < job.options.speed[0][1] * job.options.duration
        assert not job.options.pushes
    assert len({job.options.terrain.partition(",")[0] for job in jobs}) == 10


def test_speeds_are_searched_with_plenty_of_time_and_little():
    jobs = [job for job in of("speeds", extent=SweepExtent()) if isinstance(job, SpeedSearch)]
    for job in jobs:
        rate = job.options.parameters("planner").get("rate", 100.0)
        assert job.arm.budget.ddp_iterations * rate == pytest.approx(job.iterations)
    assert {job.iterations for job in jobs} == {20.0, 200.0}


def test_a_budget_below_one_iteration_a_period_lowers_the_rate():
    for job in trials("iterations", (20.0, 100.0, 300.0)):
        rate = job.options.parameters("planner").get("rate", 100.0)
        assert rate == min(job.value, 100.0)
        assert job.arm.budget.ddp_iterations * rate == pytest.approx(job.value)


def test_pushes_cover_one_cycle_in_every_direction():
    jobs = [job for job in of("pushes", extent=SweepExtent()) if isinstance(job, PushSearch)]
    times = sorted({job.time for job in jobs})
    assert len(times) == 12
    assert times[-1] - times[0] == pytest.approx(CYCLE * 11 / 12)
    for job in jobs:
        (push,) = job.pushed(6.0).pushes
        assert np.allclose(np.array(push.force[:2]) * push.duration, 6.0 * np.array(job.axis))
        assert push.time == job.time


def test_speeds_are_searched_either_way():
    jobs = [job for job in of("speeds") if isinstance(job, SpeedSearch)]
    assert {job.commanded(2.0).speed for job in jobs} == {((0.0, 2.0),), ((0.0, -2.0),)}
    for job in jobs:
        assert job.options.parameters("planner")["reference.speed_limit"] >= job.high
