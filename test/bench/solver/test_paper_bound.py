"""The paper's problem: its postures stand on our ground, and every weight is in the row where it belongs."""

import numpy as np
import pytest

from benchmarks.solver.paper_bound import MODE_END_POSTURES, Heuristic, PaperBound, posture

BOUND = PaperBound()
N = BOUND.tree.n
GRID, STANCE = BOUND.grid, BOUND.contact.stance_table()
ROWS = BOUND.contact.layout.rows
X_WEIGHT = ROWS["state_weights"].start
FRONT, BACK = BOUND.contact.feet.index("front_foot"), BOUND.contact.feet.index("back_foot")


def heights(q):
    return BOUND.feet(np.concatenate([q, np.zeros(N)]))[0][:, -1]


@pytest.mark.parametrize(("mode", "foot"), [(0, BACK), (1, FRONT), (2, FRONT), (3, BACK)])
def test_the_foot_that_lands_or_leaves_is_on_the_ground_at_the_end_of_a_mode(mode, foot):
    found = heights(posture(MODE_END_POSTURES[mode]))
    assert found[foot] == pytest.approx(0.0, abs=4e-5)
    assert found[1 - foot] > 0.05, "the other one is in the air"


def test_knees_bend_the_way_they_do_on_the_robot():
    for mode_end in MODE_END_POSTURES:
        q = posture(mode_end)
        assert (q[[4, 6]] > 0.0).all() and (q[[3, 5]] < 0.0).all()
        for joint, angle in zip(BOUND.tree.joints, q, strict=True):
            assert joint.lower < angle < joint.upper


@pytest.mark.parametrize("seed", [None, 0, 1, 7])
def test_every_start_stands_still_on_the_back_foot(seed):
    x0 = BOUND.start(seed).x0
    positions, jacobian = BOUND.feet(x0)
    assert positions[BACK, -1] == pytest.approx(0.0, abs=1e-12)
    assert jacobian[BACK] @ x0[N:] == pytest.approx(np.zeros(2), abs=1e-12)
    assert positions[FRONT, -1] > 0.05


def test_the_nominal_start_moves_at_the_papers_speed():
    assert BOUND.start().x0[N] == 0.5


def test_starts_differ_by_seed_and_come_back_by_it():
    one, other = BOUND.start(0), BOUND.start(1)
    assert np.abs(one.x0 - other.x0).max() > 0.01
    assert np.abs(one.guess.us - other.guess.us).max() > 0.1
    assert (BOUND.start(0).guess.us == one.guess.us).all()


def test_the_first_trajectory_is_a_spring_in_stance_and_a_pd_in_flight():
    guess, step, heuristic = BOUND.start().guess, GRID.durations[0], Heuristic()
    assert guess.xs[1, :N] == pytest.approx(guess.xs[0, :N] + step * guess.xs[0, N:])
    k = 40
    hip, _, foot = BOUND.legs[BACK].points(guess.xs[k])
    length = np.linalg.norm(foot - hip)
    leg = BOUND.feet(guess.xs[k])[1][BACK][:, [5, 6]]
    pushed = np.linalg.solve(leg.T, guess.us[k, 2:])
    assert pushed == pytest.approx(3.0 * 2200.0 * (0.2462 - length) * (foot - hip) / length)
    assert guess.us[k, :2] == pytest.approx(0.0)
    flying = int(np.flatnonzero(GRID.modes[:-1] == 1)[20])
    q, v = guess.xs[flying, 3:N], guess.xs[flying, N + 3 :]
    assert guess.us[flying] == pytest.approx(heuristic.kp * (heuristic.target - q) - heuristic.kd * v)


def test_the_points_of_a_leg_are_where_the_kernels_put_its_foot():
    x = BOUND.start(1).x0
    for foot, leg in enumerate(BOUND.legs):
        assert leg.points(x)[2] == pytest.approx(BOUND.feet(x)[0][foot])


def test_running_weights_by_mode():
    rows = BOUND.problem.node_parameters[:-1]
    for mode, stance in enumerate(STANCE):
        row = rows[(GRID.modes[:-1] == mode) & ~GRID.switches]
        assert (row == row[0]).all(axis=0)[X_WEIGHT:].all(), "all steps of a mode are alike"
        torque = row[0, ROWS["torque_weights"]].reshape(-1, 2)
        for foot in (FRONT, BACK):
            idle = stance.any() and not stance[foot]
            assert torque[foot] == pytest.approx(5.0 if idle else 1.0)
        assert row[0, X_WEIGHT : X_WEIGHT + 3] == pytest.approx([0.0, 0.2, 0.1])
        assert row[0, ROWS["forces"]].reshape(-1, 2) == pytest.approx(np.tile([0.0, 80.9521], (2, 1)))
    weights = rows[0, ROWS["force_weights"]].reshape(-1, 2)
    assert weights[BACK] == pytest.approx(0.6) and weights[FRONT] == pytest.approx(0.3)
    assert (rows[:, ROWS["height_weights"]] == 0.0).all()


def test_mode_ends_have_their_own_posture_and_spare_the_stance_legs_rates():
    problem = BOUND.problem
    ends = np.flatnonzero(GRID.switches)
    for k, mode in zip(ends, GRID.modes[ends], strict=True):
        row = problem.node_parameters[k]
        state = row[ROWS["states"]]
        assert state[1:N] == pytest.approx(posture(MODE_END_POSTURES[mode])[1:])
        assert state[N : N + 2] == pytest.approx([0.5, 1.0 if STANCE[mode].any() else -1.0])
        rates = row[X_WEIGHT + N + 3 : X_WEIGHT + 2 * N].reshape(-1, 2)
        for foot in (FRONT, BACK):
            assert rates[foot] == pytest.approx(1.0 if STANCE[mode, foot] else 500.0)
        assert row[X_WEIGHT + 1 : X_WEIGHT + 3] == pytest.approx([2000.0, 800.0])
    assert (problem.node_parameters[-1, ROWS["state_weights"]] == 0.0).all()


def test_gait_and_limits_are_the_papers():
    assert GRID.n_nodes == 364 and GRID.switches.sum() == 4
    assert [mode.contacts for mode in BOUND.contact.schedule.modes] == [("back_foot",), (), ("front_foot",), ()]
    assert BOUND.law.friction == 0.6 and (BOUND.law.torque_limits == 33.0).all()


def test_whole_cycles_are_chained():
    two = PaperBound(cycles=2, kernels=BOUND.contact.kernels)
    assert two.grid.n_nodes == 2 * GRID.n_nodes
    weights = slice(X_WEIGHT, BOUND.contact.layout.row_size)
    one = BOUND.problem.node_parameters[:-1, weights]
    assert (two.problem.node_parameters[:-1, weights] == np.vstack([one, one])).all()
