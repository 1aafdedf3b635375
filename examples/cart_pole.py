"""An optimal control problem of one's own: a cart swings its pole up with a bounded force, by DDP and by iLQR.

A cart of 1 kg carries a pole of 0.3 kg and 0.5 m. From hanging at rest it is to stand upright at rest after 2.5 s, with
a force of at most 8 N, and as little of it as that takes. The program prints each solver's cost and largest |Qu| by
iteration, then the result with the bound and the end kept exactly, by the interior point and by the outer loop of
penalties that is its baseline: the force saturates, yet never exceeds 8 N. DDP and iLQR end at the same cost; near it
the gradient falls quadratically in DDP, by a constant factor in iLQR.

    python examples/cart_pole.py [--nodes 100]
"""

import argparse

import casadi as ca
import numpy as np

from contact_ddp_ros import (
    DdpSolver,
    Guess,
    InteriorPointSolver,
    Problem,
    SolverOptions,
    casadi_problem,
    check_derivatives,
    solve_constrained,
)

CART, POLE, LENGTH, GRAVITY = 1.0, 0.3, 0.5, 9.81
DURATION, FORCE = 2.5, 8.0


def cart_pole(n_nodes: int) -> Problem:
    """The swing-up: x = (position, angle from hanging, velocity, rate), u = force."""
    h = DURATION / n_nodes
    x, u = ca.SX.sym("x", 4), ca.SX.sym("u")
    position, angle, velocity, rate = ca.vertsplit(x)
    sine, cosine = ca.sin(angle), ca.cos(angle)
    mass = CART + POLE * sine**2
    acceleration = (u + POLE * sine * (LENGTH * rate**2 + GRAVITY * cosine)) / mass
    turning = -(u * cosine + POLE * LENGTH * rate**2 * sine * cosine + (CART + POLE) * GRAVITY * sine) / (LENGTH * mass)
    velocity, rate = velocity + h * acceleration, rate + h * turning  # semi-implicit Euler
    upright = ca.DM([0.0, np.pi, 0.0, 0.0])
    return casadi_problem(
        dynamics=ca.vertcat(position + h * velocity, angle + h * rate, velocity, rate),
        running_cost=0.5 * h * 0.01 * u**2,
        terminal_cost=5.0 * ca.sumsqr(x - upright),
        terminal_equality=x - upright,
        n_nodes=n_nodes,
        x=x,
        u=u,
        u_min=-FORCE,
        u_max=FORCE,
        barrier_weight=0.1 * h,
    )


def main() -> None:
    """Solve and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100, help="time steps of the 2.5 s")
    problem = cart_pole(parser.parse_args().nodes)
    print(check_derivatives(problem))
    x0 = np.zeros(problem.n_x)
    guess = Guess.open_loop(x0, np.full((problem.n_nodes, problem.n_u), 0.1))
    for variant in ("ddp", "ilqr"):
        solver = DdpSolver(SolverOptions(variant=variant, max_iterations=500))
        free = solver.solve(problem, x0, guess, penalty=[0.0, 0.1, 0.0])
        print(f"\n{variant}, without bounds: {free.termination.name} after {len(free.iterations)} iterations")
        for number, one in enumerate(free.iterations):
            if number % 10 == 0 or number >= len(free.iterations) - 6:
                print(f"  {number:4d}  cost {one.cost:12.8f}  |Qu| {one.gradient:8.1e}  step {one.step:g}")
        loop = solve_constrained(solver, problem, x0, guess)
        print(f"{variant}, with bounds, outer loop: feasible {loop.feasible} after {loop.n_iterations} iterations")
        print(f"  cost {loop.cost:.8f}, largest force {np.abs(loop.solution.us).max():.4f} N")
        print(f"  without bounds {np.abs(free.us).max():.4f} N")
        print(f"  end {np.array2string(loop.solution.xs[-1], precision=6, suppress_small=True)}")
    bounded = InteriorPointSolver().solve(problem, x0, guess)
    print(f"\ninterior point, with bounds: feasible {bounded.feasible}, {bounded}")
    print(f"  cost {bounded.solution.cost:.8f}, largest force {np.abs(bounded.solution.us).max():.4f} N")
    print(f"  end {np.array2string(bounded.solution.xs[-1], precision=6, suppress_small=True)}")


if __name__ == "__main__":
    main()
