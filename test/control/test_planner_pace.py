"""What counts as late follows the time that the planner really takes, within bounds."""

import pytest

from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.policy_validator import PlannerPace

CONFIG = SafetyConfig()


def pace_after(*ages: float) -> PlannerPace:
    pace = PlannerPace(CONFIG)
    for age in ages:
        pace.arrived(age)
    return pace


def test_a_planner_in_time_changes_nothing() -> None:
    assert pace_after().timeout == CONFIG.policy_timeout
    assert pace_after(*[0.5 * CONFIG.planner_period] * 50).timeout == CONFIG.policy_timeout


def test_a_slower_one_is_late_after_as_many_of_its_own_periods() -> None:
    pace = pace_after(*[0.04] * 50)
    assert pace.period == pytest.approx(0.04, rel=1e-3)
    assert pace.timeout == pytest.approx(CONFIG.policy_periods * 0.04, rel=1e-3)


def test_a_planner_that_chose_a_lower_rate_is_late_after_as_many_of_its_periods() -> None:
    pace = PlannerPace(CONFIG)
    for _ in range(50):
        pace.arrived(0.006, 0.04)
    assert pace.timeout == pytest.approx(CONFIG.policy_periods * 0.04, rel=1e-3)


def test_it_is_learnt_within_a_few_policies_and_forgotten_again() -> None:
    pace = pace_after(*[0.04] * 4)
    assert pace.timeout > 0.04, "the next one is in time"
    for _ in range(20):
        pace.arrived(0.005)
    assert pace.timeout == CONFIG.policy_timeout


def test_no_policy_makes_half_a_second_normal() -> None:
    assert pace_after(*[0.5] * 100).period < 0.1
    assert pace_after(-1.0, float("nan")).timeout == CONFIG.policy_timeout, "neither is the future, nor no number"


def test_other_parameters_take_effect_at_once() -> None:
    pace = pace_after(*[0.02] * 50)
    pace.config = SafetyConfig(planner_period=0.05)
    assert pace.period == 0.05
