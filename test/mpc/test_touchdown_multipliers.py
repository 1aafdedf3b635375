"""Multipliers of touchdowns from one solve to the next, on grids of four steps a cycle with a switch at step 2."""

import numpy as np

from contact_ddp_ros.mpc.warm_start import TouchdownMultipliers, switches_ahead
from contact_ddp_ros.robot.gaits.grid import KnotGrid

STEP, CYCLE = 0.1, 4


def grid_from(start):
    """One cycle from a step on; a switch shares its time with the step after it."""
    steps = list(range(start, start + CYCLE + 1))
    at = next(k for k in steps if k % CYCLE == 2)
    nodes = sorted([*steps, at])
    switches = np.zeros(len(nodes) - 1, dtype=bool)
    switches[nodes.index(at)] = True
    modes = np.zeros(len(nodes), dtype=np.int64)
    return KnotGrid(STEP * np.array(nodes, dtype=float), np.where(switches, 0.0, STEP), modes, switches, start)


def learnt(start=0):
    """Multipliers after a solve from a step on that ended with 3."""
    grid, kept = grid_from(start), TouchdownMultipliers(STEP)
    kept.update(grid, CYCLE, np.full((grid.n_nodes + 1, 1), 3.0))
    return kept


def at_the_switch(kept, grid):
    found = kept.of(grid, CYCLE, 1)
    assert (found[:-1][~grid.switches] == 0.0).all() and found[-1] == 0.0
    return found[:-1][grid.switches].item()


def test_they_follow_their_touchdown():
    assert at_the_switch(learnt(), grid_from(1)) == 3.0


def test_a_new_touchdown_takes_those_of_a_cycle_before_and_of_no_other():
    assert at_the_switch(learnt(), grid_from(CYCLE)) == 3.0
    assert at_the_switch(learnt(), grid_from(2 * CYCLE)) == 0.0
    assert at_the_switch(TouchdownMultipliers(STEP), grid_from(0)) == 0.0


def test_those_of_more_than_two_cycles_before_are_dropped():
    kept = learnt()
    for start, left in ((CYCLE, 2), (2 * CYCLE, 3), (2 * CYCLE + 2, 3), (2 * CYCLE + 3, 3), (4 * CYCLE, 3)):
        grid = grid_from(start)
        kept.update(grid, CYCLE, np.zeros((grid.n_nodes + 1, 1)))
        assert len(kept) == left, start


def test_a_switch_at_the_very_start_is_not_ahead():
    grid = grid_from(2)
    assert grid.switches[0] and switches_ahead(grid).size == 0
    assert switches_ahead(grid_from(1)).tolist() == [1]
