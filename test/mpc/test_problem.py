"""Assembly of the bounding problem: what lies in which node, and what a user's change reaches."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.gaits.grid import knot_grid
from test.mpc.support import MODEL, TREE, N, config_with, converged_plan
from test.ocp.sweep import Sweep

CONFIG = config_with()
BUILDER = ProblemBuilder(MODEL, CONFIG)
GRID = knot_grid(BUILDER.schedule, 0, 90, CONFIG.gait.step)
ROWS, PARAMETERS = BUILDER.layout.rows, BUILDER.layout.parameters
LANDS = BUILDER.layout.lands
X_WEIGHT = ROWS["state_weights"].start


def build(**values):
    return BUILDER.build(GRID, config_with(**values), TrunkCommand(0.5))[0]


def test_kinds_of_nodes():
    problem = build()
    kinds = problem.node_integers[:, at.NODE_KIND]
    switches = np.flatnonzero(GRID.switches)
    assert kinds[switches].tolist() == [at.LIFT_OFF, at.TOUCHDOWN, at.LIFT_OFF, at.TOUCHDOWN]
    assert kinds[-1] == at.TERMINAL
    assert (np.delete(kinds, [*switches, len(kinds) - 1]) == at.STEP).all()
    assert (problem.has_control == (kinds[:-1] == at.STEP)).all()


def test_landing_feet_are_marked_at_their_touchdown_only():
    lands = build().node_parameters[:, LANDS]
    switches = np.flatnonzero(GRID.switches)
    assert lands[switches].tolist() == [[0, 0], [1, 0], [0, 0], [0, 1]]
    assert lands.sum() == 2


def test_every_landing_foot_is_in_contact_afterwards():
    problem = build()
    for k in np.flatnonzero(problem.node_integers[:, at.NODE_KIND] == at.TOUCHDOWN):
        after = BUILDER.schedule.modes[problem.node_integers[k + 1, at.NODE_MODE]]
        for foot, lands in zip(BUILDER.feet, problem.node_parameters[k, LANDS], strict=True):
            assert (foot in after.contacts) == bool(lands)


def test_no_cost_depends_on_how_far_the_robot_has_come():
    assert (build().node_parameters[:, X_WEIGHT] == 0.0).all()


def test_running_switch_and_terminal_weights():
    weights = build(weight__height=100.0, weight__switch=0.5, weight__terminal=0.25).node_parameters[:, X_WEIGHT + 1]
    switches = np.flatnonzero(GRID.switches)
    assert weights[switches] == pytest.approx(50.0)
    assert weights[-1] == pytest.approx(25.0)
    assert np.delete(weights, [*switches, len(weights) - 1]) == pytest.approx(100.0)


def test_torque_weights_tell_stance_from_swing():
    rows = build(weight__torque=1.0, weight__swing_torque=7.0).node_parameters
    for k in np.flatnonzero(~GRID.switches):
        contacts = BUILDER.schedule.modes[GRID.modes[k]].contacts
        expected = [1.0 if foot in contacts else 7.0 for foot in BUILDER.feet for _ in range(2)]
        assert rows[k, ROWS["torque_weights"]].tolist() == expected


def test_height_costs_act_on_feet_in_the_air():
    rows = build(weight__foot_height=9.0).node_parameters
    for k in np.flatnonzero(~GRID.switches):
        contacts = BUILDER.schedule.modes[GRID.modes[k]].contacts
        for f, foot in enumerate(BUILDER.feet):
            assert rows[k, ROWS["height_weights"]][f] == (0.0 if foot in contacts else 9.0)


def test_only_normal_forces_have_a_reference():
    references = build().node_parameters[0, ROWS["forces"]].reshape(2, 2)
    assert (references[:, 0] == 0.0).all()
    assert references[:, 1] == pytest.approx(BUILDER.reference.mean_force)


def test_constraint_parameters():
    parameters = build(ground__friction=0.45, constraint__torque_share=0.5).parameters
    assert parameters[PARAMETERS["friction"]].tolist() == [0.45, BUILDER.reference.mean_force, 0.0]
    limits = [TREE.joints[joint].effort_limit for joint in TREE.actuated]
    assert parameters[PARAMETERS["torque_limits"]] == pytest.approx(0.5 * np.array(limits))


@pytest.mark.parametrize(
    "values",
    [
        {"weight__pitch": 3.0},
        {"ground__friction": 0.3},
        {"reference__height": 0.3},
        {"ground__height": 1.0},
    ],
)
def test_tunable_values_change_numbers_only(values):
    plain, changed = build(), build(**values)
    assert (plain.integers == changed.integers).all()
    assert (plain.node_integers == changed.node_integers).all()
    assert any((getattr(plain, name) != getattr(changed, name)).any() for name in ("parameters", "node_parameters"))


def test_a_raised_ground_raises_the_trunk_and_the_ground_under_every_foot():
    plain, raised = build(), build(ground__height=0.5)
    change = raised.node_parameters - plain.node_parameters
    height, grounds = ROWS["states"].start + 1, [at.GROUNDS, at.GROUNDS + at.GROUND_SIZE]
    assert change[:, [height, *grounds]] == pytest.approx(0.5)
    assert np.abs(np.delete(change, [height, *grounds], axis=1)).max() < 1e-9


def test_kernels_need_no_scratch_memory():
    """The node functions call them with none."""
    for name in BUILDER.kernels:
        assert BUILDER.kernels.work_size(name)[2:] == (0, 0), name


def test_forces_are_zero_in_the_air_and_at_switches():
    planner, result = converged_plan(0.5)
    policy = result.policy
    for k, forces in enumerate(policy.forces.reshape(-1, 2, 2)):
        step = policy.times[k + 1] > policy.times[k]
        contacts = planner.builder.schedule.modes[policy.modes[k]].contacts if step else ()
        for f, foot in enumerate(planner.builder.feet):
            assert (forces[f] != 0.0).any() == (foot in contacts)


def test_planned_forces_obey_newton():
    """Planned forces and the change of the centre of mass's momentum agree, by pinocchio."""
    model = pinocchio_model(TREE)
    data = model.createData()
    _, result = converged_plan(0.5)
    policy = result.policy
    for k in np.flatnonzero(np.diff(policy.times) > 0.0)[::7]:
        h = policy.times[k + 1] - policy.times[k]
        momenta = []
        for x in (policy.states[k], policy.states[k + 1]):
            pin.computeCentroidalMomentum(model, data, x[:N], x[N:])
            momenta.append(data.hg.linear[[0, 2]].copy())
        change = (momenta[1] - momenta[0]) / h
        expected = policy.forces[k].reshape(2, 2).sum(axis=0) + [0.0, -9.81 * TREE.mass]
        assert change == pytest.approx(expected, abs=4.0)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("blend", [0.0, 1.0])
def test_half_the_products_give_the_same_sweep(blend: float, gaps: bool) -> None:
    """Positions that follow from velocities change nothing but the work."""
    problem = build()
    xs = BUILDER.build(GRID, CONFIG, TrunkCommand(0.5))[1]
    found = []
    for one in (problem, replace(problem, position_steps=None)):
        sweep = Sweep(one, xs[0], np.zeros((problem.n_nodes, problem.n_u)), penalty=BUILDER.penalty(CONFIG))
        sweep.xs[:] = xs
        sweep.move(3, 1e-3 if gaps else 0.0)
        if not gaps:
            sweep.gaps = np.zeros((0, problem.n_x))
        outcome = sweep.backward(blend, 1e4)
        assert outcome[0] == -1
        found.append((*outcome, sweep.ks, sweep.gains, sweep.vx, sweep.vxx))
    for half, whole in zip(*found, strict=True):
        np.testing.assert_allclose(half, whole, rtol=1e-9, atol=1e-9 * np.abs(whole).max())


@pytest.mark.parametrize("integrator", ["forward_euler", "implicit_midpoint"])
def test_of_other_integrators_positions_do_not_follow(integrator: str) -> None:
    config = config_with(gait__integrator=integrator)
    assert ProblemBuilder(MODEL, config).build(GRID, config, TrunkCommand(0.5))[0].position_steps is None


def test_steps_for_an_odd_state_or_another_horizon_are_refused() -> None:
    problem = build()
    with pytest.raises(SolverError, match="position_steps has 3 entries; needed: 94"):
        replace(problem, position_steps=np.zeros(3))
    with pytest.raises(SolverError, match="given for 13 states"):
        replace(problem, n_x=13)
