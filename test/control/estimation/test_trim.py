from math import pi, sin

import pytest

from contact_ddp_ros.robot.joint_pd import ClampedIntegrator, SteadyStateError


def test_it_grows_with_what_is_missing_and_stays_within_its_bound() -> None:
    trim = ClampedIntegrator()
    assert trim.follow(0.1, 2.0, 0.5, 0.1) == pytest.approx(0.02)
    for _ in range(1000):
        trim.follow(0.1, 2.0, 0.5, 0.1)
    assert trim.value == 0.5
    assert trim.follow(-0.1, 2.0, 0.5, 0.1) == pytest.approx(0.48), "it turns round at once"
    trim.reset()
    assert trim.value == 0.0


CYCLE, STEP = 0.36, 0.01


def ramp(time: float) -> float:
    """1 m/s up within half a second from 2 s on."""
    return min(max(2.0 * (time - 2.0), 0.0), 1.0)


@pytest.mark.parametrize("delay", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("offset", [0.0, -0.05, 0.08])
def test_what_lasts_is_told_from_a_response_that_takes_its_time(delay: float, offset: float) -> None:
    """A speed follows a ramp late, swings within each cycle, and is off by a constant."""
    errors, seen = SteadyStateError(), []
    for k in range(500):
        time = STEP * k
        speed = ramp(time - delay) + offset + 0.2 * sin(2.0 * pi * time / CYCLE)
        seen.append(errors.follow(ramp(time), speed, time, CYCLE))
    assert not any(seen[: round(2.0 * CYCLE / STEP)]), "not before two cycles"
    assert seen[190] == pytest.approx(-offset, abs=1e-9)
    assert seen[-1] == pytest.approx(-offset, abs=1e-9)
    assert min(0.0, -offset) - 1e-9 <= min(seen) and max(seen) <= max(0.0, -offset) + 1e-9


def test_it_is_forgotten_with_a_reset_and_a_clock_that_is_set_back() -> None:
    errors = SteadyStateError()

    def after_two_cycles(begin: float) -> list[float]:
        return [errors.follow(0.5, 0.4, begin + STEP * k, CYCLE) for k in range(80)]

    for begin in (7.0, 0.0):
        seen = after_two_cycles(begin)
        assert seen[70] == 0.0 and seen[-1] == pytest.approx(0.1)
    errors.reset()
    assert after_two_cycles(9.0)[70] == 0.0
