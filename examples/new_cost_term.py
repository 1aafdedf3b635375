"""A cost term of one's own: the mechanical power of the joints, added to what the planner minimises.

The term is one class with one expression. The package compiles it with its exact first and second derivatives, which
are checked against differences here; then the robot bounds in the simulator without the term and with it. One sees the
mean absolute power of the joints go down, and what that costs in speed.

    python examples/new_cost_term.py [--duration 5 --speed 0.5]

On the command line and for the planner's node the same term is the parameter

    planner.cost_terms=examples/new_cost_term.py:MechanicalPower
"""

import argparse
from typing import Any

import numpy as np

from contact_ddp_ros import CostTerm, NodeSymbols, check_cost_term, simulate


class MechanicalPower(CostTerm):
    """½‖0.06 u q̇‖² over the actuated joints, torque [N m] times rate [rad/s]."""

    name = "mechanical_power"

    def residual(self, knot: NodeSymbols) -> Any:
        """A row for each joint: the actuated ones are the last of the model's coordinates."""
        return 0.06 * knot.u * knot.v[-knot.u.numel() :]


def main() -> None:
    """Check, simulate twice, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", type=float, default=5.0, help="simulated time [s]")
    parser.add_argument("--speed", type=float, default=0.5, help="[m/s]")
    options = parser.parse_args()
    print(check_cost_term(MechanicalPower()))
    for label, terms in (("without", ""), ("with", f"{__file__}:MechanicalPower")):
        run = simulate(duration=options.duration, speed=options.speed, overrides={"planner.cost_terms": terms})
        late = run.ticks["time"] > 0.5 * options.duration
        power = np.abs(run.ticks["torques"] * run.ticks["joint_velocities"]).sum(axis=1)[late].mean()
        speed, pitch = run.steady_velocity[0], np.degrees(np.abs(run.rpy[late, 1]).max())
        print(
            f"{label:>8}: {'fell' if run.fell else 'no fall'}, power {power:.1f} W, {speed:.3f} m/s, pitch {pitch:.1f}°"
        )


if __name__ == "__main__":
    main()
