"""Plans that respect what they promise: touchdown, friction, torque, speed, repeatability."""

import numpy as np
import pytest

from test.mpc.support import TICK, TREE, N, converged_plan, follow, planner_with, start_state


@pytest.mark.parametrize("speed", [-0.5, 0.5, 1.0])
def test_touchdowns_friction_and_torques(speed):
    planner, result = converged_plan(speed)
    policy = result.policy
    assert result.touchdown_error < 1e-3
    friction = planner.config.ground.friction
    for foot in range(2):
        tangential, normal = policy.forces[:, 2 * foot], policy.forces[:, 2 * foot + 1]
        down = normal != 0.0
        assert down.sum() == 20, "a stance of 80 ms in a horizon of one cycle"
        assert (normal[down] > 0.0).all()
        assert (np.abs(tangential) <= friction * normal + 1e-9).all()
    assert result.friction_violation == 0.0
    assert result.inequality_violation == 0.0
    limits = planner.config.constraint.torque_share * planner.builder.effort_limits
    assert (np.abs(policy.controls) <= limits).all()
    assert policy.states[:, N].mean() == pytest.approx(speed, abs=0.05)


def test_the_impulse_carries_the_weight():
    _, result = converged_plan(0.5)
    policy = result.policy
    impulse = (np.diff(policy.times) * policy.forces[:, 1::2].sum(axis=1)).sum()
    gained = TREE.mass * (policy.states[-1, N + 1] - policy.states[0, N + 1])
    weight = TREE.mass * 9.81 * (policy.end - policy.start)
    assert impulse == pytest.approx(weight, rel=0.1)
    assert abs(gained) < 0.1 * weight


def test_forward_euler_plans_much_the_same():
    forward, semi = (planner_with(gait__integrator=name) for name in ("forward_euler", "semi_implicit_euler"))
    ours, theirs = (follow(one, start_state(one), np.arange(0.0, 0.2, TICK), 0.5)[-1] for one in (forward, semi))
    assert ours.touchdown_error < 1e-3
    assert ours.cost == pytest.approx(theirs.cost, rel=0.3)
    assert ours.policy.states[:, 1] == pytest.approx(theirs.policy.states[:, 1], abs=0.02)
    assert (ours.policy.controls != theirs.policy.controls).any()


@pytest.mark.parametrize("variant", ["ilqr", "ddp"])
def test_a_plan_repeats_bit_for_bit(variant):
    def run():
        planner = planner_with(variant=variant, first_iterations=20)
        return follow(planner, start_state(planner), np.arange(0.0, 0.05, TICK), 0.5)[-1].policy

    one, other = run(), run()
    for name in ("times", "states", "controls", "gains", "forces"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
