"""The gait's clock against plans of one flight and one stance."""

import numpy as np
import pytest

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.gait_clock import GaitClock
from contact_ddp_ros.robot.policy import Policy

CONFIG = EstimationConfig(timing=True, early_before=0.08, late_after=0.012, late_longest=0.06)
TICK = 0.002
GROUPS = ((0, 1), (2, 3))
AIR, BACK = (False,) * 4, (False, False, True, True)
TOUCHDOWN = 0.1


def plan(start: float, advance: float = 0.0, touchdown: float = TOUCHDOWN) -> Policy:
    """Flight until `touchdown` on the gait's clock, then the back feet; knots of 10 ms, from `start` on."""
    end = touchdown + 0.2
    times = np.unique(np.concatenate([np.arange(start + advance, end, 0.01), [touchdown, end]]))
    times = times[times >= start + advance - 1e-12]
    stance = times[:-1] >= touchdown - 1e-9
    forces = np.zeros((len(times) - 1, 4))
    forces[stance, 3] = 90.0
    n = len(forces)
    zeros = np.zeros((n, 4)), np.zeros((n, 4, 14))
    return Policy(times - advance, np.zeros((n + 1, 14)), *zeros, stance.astype(int), forces, advance=advance)


def follow(clock: GaitClock, policy: Policy, until: float, felt_from: float, replan: bool = False) -> float:
    """Advance tick by tick; the first time at which the clock is in stance."""
    entered = np.inf
    for k in range(round(until / TICK) + 1):
        now = k * TICK
        if replan and k % 5 == 0:
            policy = plan(now, clock.advance)
        felt = BACK if now >= felt_from - 1e-9 else AIR
        clock.follow(policy, now, felt, CONFIG)
        if policy.sample(clock.time(policy, now)).forces.any():
            entered = min(entered, now)
    return entered


def test_on_time_the_clock_stays() -> None:
    clock = GaitClock(GROUPS, 2)
    assert follow(clock, plan(0.0), 0.15, TOUCHDOWN + 0.004) == pytest.approx(TOUCHDOWN)
    assert clock.advance == 0.0


@pytest.mark.parametrize("replan", [False, True])
def test_an_early_foot_lands_now(replan: bool) -> None:
    clock = GaitClock(GROUPS, 2)
    assert follow(clock, plan(0.0), 0.15, 0.06, replan) == pytest.approx(0.06)
    assert clock.advance == pytest.approx(0.04)


def test_a_foot_that_has_just_left_is_not_early() -> None:
    clock, policy = GaitClock(GROUPS, 2), plan(0.0)
    clock.follow(policy, 0.01, BACK, CONFIG)
    assert clock.advance == 0.0


def test_a_short_flight_is_not_cut_shorter_by_the_foot_that_has_just_left() -> None:
    clock, policy = GaitClock(GROUPS, 2), plan(0.0, touchdown=0.05)
    for now in (0.0, 0.002, 0.004):
        clock.follow(policy, now, BACK, CONFIG)
    assert clock.advance == 0.0
    clock.follow(policy, 0.006, AIR, CONFIG)
    clock.follow(policy, 0.03, BACK, CONFIG)
    assert clock.advance == pytest.approx(0.02)


def test_feet_that_do_not_land_next_are_not_early() -> None:
    clock, policy = GaitClock(GROUPS, 2), plan(0.0)
    clock.follow(policy, 0.058, AIR, CONFIG)
    clock.follow(policy, 0.06, (True, True, False, False), CONFIG)
    assert clock.advance == 0.0


@pytest.mark.parametrize("replan", [False, True])
def test_a_late_foot_is_waited_for(replan: bool) -> None:
    clock = GaitClock(GROUPS, 2)
    follow(clock, plan(0.0), 0.2, 0.14, replan)
    assert clock.advance == pytest.approx(-0.04, abs=1.5 * TICK)


def test_no_wait_is_longer_than_allowed() -> None:
    clock = GaitClock(GROUPS, 2)
    follow(clock, plan(0.0), 0.3, np.inf)
    assert clock.advance == pytest.approx(-(CONFIG.late_longest + CONFIG.late_after), abs=2 * TICK)


def test_the_wait_stands_before_the_touchdown() -> None:
    clock, policy = GaitClock(GROUPS, 2), plan(0.0)
    for k in range(round(0.13 / TICK)):
        clock.follow(policy, k * TICK, AIR, CONFIG)
    assert not policy.sample(clock.time(policy, 0.13 - TICK)).forces.any()
    assert TOUCHDOWN - 0.005 < clock.time(policy, 0.13 - TICK) < TOUCHDOWN


def test_without_timing_nothing_moves() -> None:
    clock, policy = GaitClock(GROUPS, 2), plan(0.0)
    clock.follow(policy, 0.06, BACK, EstimationConfig(timing=False))
    assert clock.advance == 0.0


@pytest.mark.parametrize("ahead", [-0.02, 0.04])
def test_lateness_counts_on_the_gaits_clock(ahead: float) -> None:
    """A gait that early feet have moved ahead waits for a late one as soon as any other does."""
    clock, policy = GaitClock(GROUPS, 2), plan(0.0, ahead)
    clock.advance = ahead
    touchdown = TOUCHDOWN - ahead
    ticks = np.arange(0.0, touchdown + CONFIG.late_after + 0.02, TICK)
    for now in ticks:
        clock.follow(policy, float(now), AIR, CONFIG)
        standing = not policy.sample(clock.time(policy, float(now))).forces.any()
        late = now - touchdown
        assert standing == (late < -1e-9 or late > CONFIG.late_after - 1e-9)


@pytest.mark.parametrize("flown", [False, True])
def test_a_gait_that_begins_in_stance_waits_for_nothing(flown: bool) -> None:
    clock, policy = GaitClock(GROUPS, 2), plan(0.0)
    if flown:
        for now in (0.0, 0.05):
            clock.follow(policy, now, AIR, CONFIG)
        clock.restart()
    for now in np.arange(TOUCHDOWN, TOUCHDOWN + 0.1, TICK):
        clock.follow(policy, float(now), AIR, CONFIG)
    assert clock.advance == 0.0
