"""Searches ask for the right runs and judge them; physics is replaced by made-up outcomes, except in one short run."""

from dataclasses import replace

import pytest

from benchmarks.loop import trials
from benchmarks.loop.budget import Budget, StageCosts
from benchmarks.loop.outcome import Outcome
from benchmarks.loop.trials import Arm, PushSearch, SpeedSearch, Trial, paced_run, perform
from contact_ddp_ros.runs.options import RunOptions

ARM = Arm("ilqr", Budget(1.0, StageCosts(0.2, 0.65, 0.4, 0.15)))
OPTIONS = RunOptions(duration=0.1, video=False)
PUSH = PushSearch("left", ARM, OPTIONS, 0.0, 16.0, 6, (0.0, 1.0), 1, 12, 3.0)
SPEED = SpeedSearch("backward", ARM, OPTIONS, 0.5, 4.0, 5, -1.0, 0, 200.0)


@pytest.fixture
def world(monkeypatch):
    """Replaces a run by what a function of its options says."""

    def put(outcome_of):
        monkeypatch.setattr(trials, "paced_run", lambda options, arm: (outcome_of(options), 1.0))

    return put


def test_the_push_limit_is_found(world):
    world(lambda options: Outcome("", "", fell=options.pushes[0].force[1] * options.pushes[0].duration > 7.3))
    result = perform(PUSH)
    assert result["held"] <= 7.3 < result["lost"]
    assert result["lost"] - result["held"] == pytest.approx(0.25)


def test_a_speed_counts_only_where_it_is_kept(world):
    def outcome_of(options):
        speed = -options.speed[0][1]
        return Outcome("", "", fell=speed > 3.0, speed_error=0.01 if speed < 2.0 else 0.3 * speed)

    world(outcome_of)
    result = perform(SPEED)
    assert result["held"] < 2.0 <= result["lost"]


def test_a_speed_error_that_is_not_known_is_none_that_is_kept(world):
    world(lambda options: Outcome("", "", fell=False))
    assert perform(SPEED)["held"] == 0.5


@pytest.mark.parametrize(
    ("outcome", "sign"),
    [
        (Outcome("", "", fell=False), ""),
        (Outcome("", "", fall="3.42 s: fault: tilt: pitch is 0.51 rad; allowed: ±0.50"), "tilt"),
        (Outcome("", "", fall="3.42 s: trunk below 0.15 m"), "trunk below 0.15 m"),
        (Outcome("", "", failed="no kernels"), "run failed"),
    ],
)
def test_falls_are_sorted_by_their_sign(world, outcome, sign):
    world(lambda options: outcome)
    result = perform(Trial("mass", 1.3, 0, ARM, OPTIONS))
    assert result["sign"] == sign
    assert result["survived"] == (not outcome.fell and not outcome.failed)


def test_names_tell_jobs_apart():
    trial = Trial("mass", 1.3, 0, ARM, OPTIONS)
    other = replace(ARM, variant="ddp")
    jobs = [PUSH, SPEED, trial, *(replace(job, arm=other) for job in (PUSH, SPEED, trial)), replace(trial, sample=1)]
    assert len({job.name for job in jobs}) == len(jobs)
    assert PUSH.cost == pytest.approx(7 * OPTIONS.duration)


def test_a_run_ends_with_the_fall_and_repeats_itself():
    """A robot that is thrown over as soon as it bounds."""
    search = replace(PUSH, time=1.7, options=replace(OPTIONS, duration=4.0))
    options = search.pushed(90.0)
    (first, spent), (second, _) = (paced_run(options, ARM) for _ in range(2))
    assert first.fell and not first.survived
    assert first == second or str(first) == str(second)
    assert spent == pytest.approx(1.0, abs=0.2)
    assert float(first.fall.split(" s:")[0]) < 3.0


def test_an_unusable_run_counts_as_a_fall():
    outcome, _ = paced_run(replace(OPTIONS, overrides={"planner.no_such_name": 1.0}), ARM)
    assert "no_such_name" in outcome.failed
    assert not outcome.survived
