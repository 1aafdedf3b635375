"""How far Gazebo is let run: with commands, without, after a pause of somebody else's."""

from contact_ddp_ros.gazebo.leash import Leash

MS = 1_000_000


def test_it_runs_ahead_of_the_last_answered_state_by_its_length() -> None:
    leash = Leash(0.01)
    leash.granted(leash.begin(100 * MS), now=0.0)
    leash.answered(104 * MS, now=0.0)
    assert leash.goal(105 * MS, heard=0.0, silent=False, now=0.0) is None, "moved on by half its length at least"
    leash.answered(106 * MS, now=0.0)
    assert leash.goal(108 * MS, heard=0.0, silent=False, now=0.0) == 116 * MS


def test_a_world_whose_states_nobody_answers_waits_and_then_goes_on() -> None:
    leash = Leash(0.01)
    leash.answered(100 * MS, now=1.0)
    leash.granted(110 * MS, now=1.0)
    assert leash.goal(110 * MS, heard=1.01, silent=False, now=1.05) is None
    goal = leash.goal(110 * MS, heard=1.01, silent=False, now=1.3)
    assert goal is not None
    assert goal > 110 * MS


def test_it_is_tightened_as_soon_as_commands_come() -> None:
    leash = Leash(0.01)
    loose = leash.goal(0, heard=0.0, silent=True, now=0.0)
    assert loose is not None
    assert loose > 50 * MS
    leash.granted(loose, now=0.0)
    leash.answered(3 * MS, now=0.0)
    assert leash.goal(4 * MS, heard=0.0, silent=False, now=0.0) == 13 * MS


def test_a_world_that_stands_although_it_may_run_is_asked_again() -> None:
    """Somebody has paused it, or the request got lost."""
    leash = Leash(0.01)
    leash.answered(102 * MS, now=1.0)
    leash.granted(112 * MS, now=1.0)
    assert leash.goal(103 * MS, heard=1.0, silent=False, now=1.05) is None
    assert leash.goal(103 * MS, heard=1.0, silent=False, now=1.15) == 112 * MS
    leash.granted(112 * MS, now=1.15)
    assert leash.goal(103 * MS, heard=1.0, silent=False, now=1.16) is None


def test_without_length_it_never_waits() -> None:
    leash = Leash(0.0)
    assert leash.begin(5 * MS) == 0
    assert leash.goal(5 * MS, heard=0.0, silent=False, now=99.0) is None
