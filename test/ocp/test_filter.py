"""The filter: what counts as progress, and which iterates enter it."""

from contact_ddp_ros.ocp.trial_run import Filter


def test_where_the_descent_is_small_either_less_violation_or_less_cost_will_do():
    judge, now = Filter(1.0), (1.0, 5.0)
    for trial, wanted in (((0.9, 9.0), True), ((1.0, 4.0), True), ((1.0, 5.0), False), ((1.5, 5.1), False)):
        assert judge.accepts(now, trial, -1e-3, 1.0) is wanted


def test_near_feasibility_the_cost_must_fall_as_armijo_says():
    judge, now = Filter(1.0), (1e-8, 5.0)
    assert not judge.accepts(now, (0.0, 5.0 - 1e-6), -1.0, 1.0), "less violation alone is no progress here"
    assert judge.accepts(now, (2e-8, 4.9), -1.0, 1.0)


def test_the_violation_is_bounded():
    judge = Filter(1.0)
    assert judge.accepts((1.0, 5.0), (9e3, 0.0), -1e-3, 1.0)
    assert not judge.accepts((1.0, 5.0), (2e4, 0.0), -1e-3, 1.0)


def test_what_an_entry_dominates_is_refused():
    judge, now, trial = Filter(1.0), (1.0, 5.0), (0.5, 6.0)
    judge.add(now, trial, -1e-3, 1.0)
    assert len(judge.entries) == 1
    assert not judge.accepts(trial, (1.0, 5.5), -1e-3, 1.0), "worse than the iterate that was left, in both"
    assert judge.accepts(trial, (0.4, 7.0), -1e-3, 1.0)


def test_a_step_that_descends_on_the_cost_adds_no_entry():
    judge, now = Filter(1.0), (1e-8, 5.0)
    judge.add(now, (1e-8, 4.0), -1.0, 1.0)
    assert judge.entries == []
