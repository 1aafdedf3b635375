"""The contest of solvers: who counts as having reached what, and that all reach one optimum of the bare problem."""

import casadi as cs
import numpy as np
import pytest

from benchmarks.peers import CYCLE, comparison, contestants, peers, peers_figure
from benchmarks.peers.bound_nlp import BoundNlp
from benchmarks.peers.comparison import (
    ACCURACIES,
    BARE,
    CONSTRAINED,
    CSQP,
    DDP,
    DDP_HASTY,
    DDP_PENALTIES,
    FATROP,
    FDDP,
    ILQR,
    IPOPT,
    LIMITED,
    PENALISED,
    WARM,
    Contest,
    SolverComparison,
    StartCondition,
    _timed,
)
from benchmarks.peers.contestants import HASTY, OFFLINE, Course
from benchmarks.peers.scaling import EXACT, LEAN, Scaling
from benchmarks.solver.case import long_case, mpc_cold, shared_cold, solver_of
from benchmarks.solver.iteration import ITERATION, Stages
from benchmarks.timing import Spread, Times
from contact_ddp_ros.mpc import layout as at

SPEED = 0.5
NODES = 8


def _course(costs, violations=None) -> Course:
    costs = np.array(costs, dtype=float)
    violations = np.zeros(costs.size) if violations is None else np.array(violations)
    return Course(costs, violations, np.zeros((NODES + 1, 14)), np.zeros((NODES, 4)), costs.size - 1)


def _comparison(statement: str, costs: dict[str, list[float]], times: dict[str, float]) -> SolverComparison:
    courses = {name: _course(one) for name, one in costs.items()}
    parts = {
        name: {f"{accuracy:.0e}": np.full(3, time) for accuracy in ACCURACIES[statement]}
        for name, time in times.items()
    }
    reached = {name: dict.fromkeys(ACCURACIES[statement], 1) for name in costs}
    return SolverComparison(statement, StartCondition(SPEED, 0), 1.0, courses, reached, Times(parts))


@pytest.fixture
def ends() -> list[SolverComparison]:
    """Crocoddyl ends elsewhere; IPOPT takes 30 times as long, 5 times with constraints."""
    start = [5.0, 1.0]
    bare = {DDP: start, ILQR: start, FDDP: [5.0, 1.1], IPOPT: [5.0, 1.0 + 1e-7]}
    return [
        _comparison(BARE, bare, {DDP: 1.0, ILQR: 0.5, IPOPT: 30.0}),
        _comparison(PENALISED, {DDP: start, ILQR: start, IPOPT: start}, {DDP: 1.0, ILQR: 1.0, IPOPT: 30.0}),
        _comparison(
            CONSTRAINED,
            {DDP: start, DDP_HASTY: start, FATROP: start, IPOPT: start},
            {DDP: 1.0, DDP_HASTY: 3.0, IPOPT: 5.0},
        ),
    ]


@pytest.fixture
def iterations() -> Scaling:
    """Times that grow in proportion to the horizon; Crocoddyl's by the square."""
    lengths = (40, CYCLE, 360)

    def times(n: int) -> Times:
        own = {DDP: 1.0 * n, ILQR: 0.7 * n, LEAN: 0.04 * n**2, EXACT: 0.05 * n**2, IPOPT: 8.0 * n}
        return Times({name: {ITERATION: np.full(3, 1e-6 * time)} for name, time in own.items()})

    return Scaling({n: times(n) for n in lengths})


def test_an_accuracy_is_reached_by_a_cost_that_is_close_and_feasible() -> None:
    course = _course([9.0, 1.0, 1.01, 1.0 + 1e-7, 1.0], [0.0, 1e-2, 0.0, 0.0, 0.0])
    assert course.reached(1.0, 2e-2) == 2, "the close one before violates a constraint"
    assert course.reached(1.0, 1e-6) == 3
    assert course.reached(1.0, 1e-9) == 4
    assert course.reached(0.5, 1e-3) is None


def test_a_cost_below_the_optimum_is_not_close_because_of_that() -> None:
    assert _course([9.0, 0.5, 1.0]).reached(1.0, 1e-3) == 2


def test_another_optimum_is_told_and_kept_out_of_the_agreement(ends) -> None:
    bare = ends[0]
    assert not bare.same(FDDP)
    assert bare.same(IPOPT)
    assert bare.difference(IPOPT) == pytest.approx(1e-7)
    figures = {one.name: one for one in peers.agreement_metrics(ends)}
    assert figures["optimum, bare: Crocoddyl FDDP against DDP"].met is False
    assert "0 of 1" in figures["optimum, bare: Crocoddyl FDDP against DDP"].note
    assert figures["optimum, bare: IPOPT against DDP"].met is True


def test_ratios_are_over_ddp_and_none_without_a_time(ends) -> None:
    bare, _, constrained = ends
    assert bare.ratio(IPOPT, 1e-6) == 30.0
    assert bare.ratio(FDDP, 1e-6) is None
    assert constrained.ratio(IPOPT, 1e-6) == 5.0
    assert constrained.ratio(DDP_HASTY, 1e-6) == 3.0


def test_figures_say_which_targets_are_met(ends, iterations) -> None:
    figures = {one.name: one for one in (*peers.time_metrics(ends), *peers.iteration_metrics(iterations))}
    assert figures["time to 1e-06, penalised: IPOPT / DDP"].met is True
    assert figures["time to 1e-06, constrained: IPOPT / DDP"].met is False
    assert figures["time to 1e-06, bare: iLQR / DDP"].met is None
    assert figures[f"iteration over {CYCLE} steps: DDP / {LEAN}"].number == pytest.approx(1.0 / 3.6)
    assert figures["growth of DDP's iteration, 40 to 360 steps"].number == pytest.approx(1.0)
    assert figures[f"growth of {LEAN}'s iteration, 40 to 360 steps"].number == pytest.approx(2.0)


def test_the_record_holds_every_solver(ends, iterations) -> None:
    record = peers.comparison_summary(ends[0])
    assert set(record["solvers"]) == set(ends[0].courses)
    assert record["speed"] == SPEED
    scaling = peers.scaling_summary(iterations)
    assert scaling[DDP]["times"][40].median == pytest.approx(Spread.of(np.full(3, 40e-6)).median)


def test_the_figure_is_drawn(ends, iterations, tmp_path) -> None:
    peers_figure.draw(ends, iterations, tmp_path / "peers.png")
    assert (tmp_path / "peers.png").stat().st_size > 1000


@pytest.fixture(scope="module")
def bare():
    return StartCondition(SPEED, 0).case(BARE)


def test_the_bare_problem_has_no_limits_but_heights(bare) -> None:
    assert bare.penalty[at.EPSILON] == 0.0
    assert bare.penalty[at.SIGMA] == shared_cold(SPEED).penalty[at.SIGMA] > 0.0


def test_a_disturbed_start_is_another_state_of_the_same_problem(bare) -> None:
    disturbed, again = (StartCondition(SPEED, 1).case(BARE) for _ in range(2))
    np.testing.assert_array_equal(disturbed.x0, again.x0)
    assert np.abs(disturbed.x0 - bare.x0).max() > 0.05
    np.testing.assert_array_equal(disturbed.problem.node_parameters, bare.problem.node_parameters)


def test_crocoddyl_finds_our_optimum_with_dynamics_of_its_own(bare) -> None:
    pytest.importorskip("crocoddyl")
    theirs, own = contestants.crocoddyl(bare).course(), contestants.ours(bare, "ddp").course()
    assert theirs.costs[0] == pytest.approx(own.costs[0], rel=1e-9)
    assert theirs.costs[-1] == pytest.approx(own.costs[-1], rel=1e-9)
    np.testing.assert_allclose(theirs.xs, own.xs, atol=1e-5)
    np.testing.assert_allclose(theirs.us, own.us, atol=1e-5)


def test_a_run_ends_after_the_iterations_it_is_given(bare) -> None:
    ours = contestants.ours(bare, "ddp")
    whole, part = ours.course(), ours.read(ours.run(3))
    assert part.iterations == 3
    np.testing.assert_allclose(part.costs, whole.costs[:4], rtol=1e-12)


def test_the_record_has_every_ratio_by_name(ends) -> None:
    ratios = peers.ratio_summary(ends)
    assert ratios["constrained.IPOPT.1e-06"] == [5.0]
    assert ratios["constrained.FATROP.1e-08"] == [None]
    assert not any("DDP." in name.replace("FDDP", "") for name in ratios)


def test_solved_starts_are_counted(ends) -> None:
    figures = {one.name: one for one in peers.success_metrics(ends)}
    assert figures["starts that reach 1e-06, constrained: DDP"].met is True
    assert "median 1, most 1" in figures["starts that reach 1e-06, constrained: FATROP"].note
    assert "median 1, most 1" in figures["starts that reach 1e-06, bare: iLQR"].note


def test_a_slow_solver_is_timed_once() -> None:
    counts: list[int] = []
    for slow, calls in ((False, 4), (True, 2)):
        counts.clear()
        timed = _timed(contestants.Contestant(counts.append, lambda _: _course([1.0]), slow=slow), {1e-3: 1, 1e-6: 3})
        first, second = timed(), timed()
        assert set(first) == set(second) == {"1e-03", "1e-06"}
        assert len(counts) == calls
        assert (first == second) or not slow


@pytest.fixture
def timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_REPEATS", 1)


def assert_one_optimum(found: SolverComparison) -> None:
    """Optimum that all of those find that keep limits within, ours in as few iterations."""
    for name in (DDP, FATROP, IPOPT):
        assert found.reached[name][1e-6] is not None, name
        assert abs(found.difference(name)) < 1e-6
    assert found.courses[DDP].iterations <= 2 * found.courses[IPOPT].iterations


@pytest.mark.usefixtures("timed_once")
def test_csqp_ends_at_the_optimum_of_the_limited_problem() -> None:
    pytest.importorskip("crocoddyl")
    pytest.importorskip("mim_solvers")
    found = Contest(LIMITED, crocoddyl_too=True).compare(StartCondition(SPEED, 0), rounds=1)
    assert set(found.courses) == {DDP, DDP_PENALTIES, DDP_HASTY, FATROP, CSQP, IPOPT}
    assert_one_optimum(found)
    assert abs(found.difference(CSQP)) < 1e-6
    assert found.courses[CSQP].violations[-1] < 1e-6 < found.courses[CSQP].violations[0]
    states, torques = found.deviation(CSQP)
    assert states < 0.05 and torques < 0.5


@pytest.mark.usefixtures("timed_once")
def test_those_that_keep_limits_within_find_one_optimum_from_near_by() -> None:
    found = Contest(WARM, crocoddyl_too=False).compare(StartCondition(SPEED, 1), rounds=1)
    assert set(found.courses) == {DDP, FATROP, IPOPT}
    assert_one_optimum(found)


def test_without_the_accelerations_the_programme_is_the_same() -> None:
    case = mpc_cold("ddp", SPEED)
    full, eliminated = (BoundNlp(case, CONSTRAINED, compiled=False, eliminated=one) for one in (False, True))
    first = case.solve(solver_of("ddp"), 0)
    trajectory = first.xs, first.us, first.aux
    cost, g = eliminated.evaluate(case, eliminated.pack(*trajectory))
    assert cost == pytest.approx(full.evaluate(case, full.pack(*trajectory))[0], rel=1e-12)
    steps = np.concatenate([np.arange(one.start, one.start + eliminated.n_x) for one in eliminated.rows[:-1]])
    assert np.abs(g[steps]).max() < 1e-9, "the dynamics hold"
    w, p = eliminated.pack(*trajectory), eliminated.parameters(case)
    rng = np.random.default_rng(0)
    along, factors = rng.normal(size=w.size), rng.normal(size=g.size)

    def slope(step: float) -> np.ndarray:
        at_ = w + step * along
        jacobian = eliminated.derivatives["jac_g"](at_, p)[1]
        gradient = np.asarray(eliminated.derivatives["grad_f"](at_, p)[1]).ravel()
        return gradient + np.asarray(cs.mtimes(jacobian.T, factors)).ravel()

    hessian = cs.triu2symm(eliminated.derivatives["hess_lag"](w, p, 1.0, factors))
    exact, difference = np.asarray(cs.mtimes(hessian, along)).ravel(), (slope(1e-5) - slope(-1e-5)) / 2e-5
    assert exact == pytest.approx(difference, rel=1e-4, abs=1e-4 * np.abs(exact).max())


def test_both_outer_loops_find_one_constrained_optimum() -> None:
    case = mpc_cold("ddp", SPEED)
    programme = BoundNlp(case, CONSTRAINED, compiled=False)
    offline, hasty = (contestants.ours_constrained(case, programme, loop).course() for loop in (OFFLINE, HASTY))
    for course in (offline, hasty):
        assert course.violations[-1] <= contestants.FEASIBLE
        assert course.reached(offline.costs[-1], 1e-5) is not None
    assert hasty.iterations < offline.iterations
    found = contestants.ipopt(case, programme).course()
    assert offline.costs[-1] == pytest.approx(found.costs[-1], rel=1e-6)


def test_a_long_horizon_is_at_the_optimum_of_a_bound_that_goes_on() -> None:
    case = long_case(150)
    assert case.problem.has_control.sum() == 150
    stages = Stages(case, 1.0)
    stages.partials()
    stages.sweep()
    assert np.abs(stages.ks).max() < 1e-4
    cycle = np.flatnonzero(np.cumsum(case.problem.has_control) == CYCLE)[0]
    pace = (case.guess.xs[-1, 0] - case.guess.xs[cycle, 0]) / (60 * 0.004)
    assert pace == pytest.approx(SPEED, abs=0.1)
    assert case.solve(solver_of("ddp"), 0).cost < 2.0 * shared_cold(SPEED).solve(solver_of("ddp")).cost
