"""The last policy on a later grid: every node takes the row that owns it, and the guess from where the policy ends."""

import numpy as np
import pytest

from contact_ddp_ros.mpc.warm_start import shifted
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.policy import Policy

SWITCHES = np.array([False, False, True, False, False])
TIMES = np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.4])
MODES = np.array([0, 0, 0, 1, 1])
N_X, N_U = 2, 1


def policy():
    """Five nodes, of which the third is a switch; row k holds k, and the states of a switch's two sides differ."""
    rows = np.arange(6.0)
    controls = np.where(SWITCHES, 0.0, 10.0 + rows[:-1])[:, None]
    gains = np.where(SWITCHES, 0.0, 100.0 + rows[:-1])[:, None, None] * np.ones((1, N_U, N_X))
    return Policy(TIMES, np.column_stack([rows, -rows]), controls, gains, MODES, np.zeros((5, 1)))


def grid(times, switches):
    return KnotGrid(
        np.array(times), np.diff(times), np.zeros(len(times), dtype=np.int64), np.array(switches, dtype=bool), 0
    )


def beyond(n):
    return Guess(np.full((n + 1, N_X), 7.0), np.full((n, N_U), 8.0), np.full((n, N_U, N_X), 9.0))


def test_the_same_grid_gives_the_policy_and_the_guess_at_its_end():
    last = policy()
    guess = shifted(last, grid(TIMES, SWITCHES), beyond(5))
    assert guess.xs[:-1] == pytest.approx(last.states[:-1]) and (guess.xs[-1] == 7.0).all()
    assert guess.us == pytest.approx(last.controls) and guess.gains == pytest.approx(last.gains)


def test_a_later_grid_takes_each_nodes_own_row_and_the_guess_beyond_the_end():
    guess = shifted(policy(), grid([0.1, 0.2, 0.2, 0.3, 0.4, 0.4, 0.5], [0, 1, 0, 0, 1, 0]), beyond(6))
    assert guess.xs[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 7.0, 7.0, 7.0]
    assert guess.us.ravel().tolist() == [11.0, 0.0, 13.0, 14.0, 0.0, 8.0]
    assert guess.gains[:, 0, 0].tolist() == [101.0, 0.0, 103.0, 104.0, 0.0, 9.0]


@pytest.mark.parametrize("rounding", [-2e-8, 2e-8])
def test_times_that_are_equal_but_for_rounding_are_equal(rounding):
    times = np.array([0.1, 0.2, 0.2, 0.3, 0.4, 0.5]) + rounding
    guess = shifted(policy(), grid(times, [0, 1, 0, 0, 0]), beyond(5))
    assert guess.xs[1:, 0].tolist() == [2.0, 3.0, 4.0, 7.0, 7.0]
    assert guess.us.ravel().tolist() == [11.0, 0.0, 13.0, 14.0, 8.0]


def test_the_first_state_is_interpolated_and_its_feedback_held():
    guess = shifted(policy(), grid([0.05, 0.1, 0.2, 0.2], [0, 0, 1]), beyond(3))
    assert guess.xs[:, 0] == pytest.approx([0.5, 1.0, 2.0, 7.0])
    assert guess.us.ravel().tolist() == [10.0, 11.0, 0.0]


def test_a_switch_at_the_start_keeps_the_state_before_it():
    guess = shifted(policy(), grid([0.2, 0.2, 0.3], [1, 0]), beyond(2))
    assert guess.xs[:, 0].tolist() == [2.0, 3.0, 7.0]
    assert guess.us.ravel().tolist() == [0.0, 13.0]


def test_nothing_of_a_policy_that_has_ended_is_left_and_the_guess_is_not_changed():
    given = beyond(2)
    guess = shifted(policy(), grid([0.4, 0.5, 0.6], [0, 0]), given)
    assert (guess.xs == 7.0).all() and (guess.us == 8.0).all() and (guess.gains == 9.0).all()
    shifted(policy(), grid([0.1, 0.2, 0.2], [0, 1]), given)
    assert (given.us == 8.0).all() and (given.xs == 7.0).all() and (given.gains == 9.0).all()
