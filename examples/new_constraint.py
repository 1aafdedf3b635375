"""An inequality constraint of one's own: the trunk's pitch within a limit.

The constraint is one class with one expression that is to stay positive. The package compiles it as a relaxed barrier
with its exact first and second derivatives, which are checked against differences here; then the robot bounds in the
simulator without the constraint and with it. One sees the largest pitch go down, and what that costs in speed.

    python examples/new_constraint.py [--duration 5 --speed 0.5]

On the command line and for the planner's node the same constraint is the parameter

    planner.constraints=examples/new_constraint.py:PitchLimit
"""

import argparse
from typing import Any

import casadi
import numpy as np

from contact_ddp_ros import Constraint, NodeSymbols, check_constraint, simulate

LIMIT = np.radians(6.0)


class PitchLimit(Constraint):
    """-6° ≤ pitch ≤ 6°."""

    name = "pitch_limit"

    def residual(self, knot: NodeSymbols) -> Any:
        """A row for each side: 1 at level trunk, 0 at the limit."""
        share = knot.coordinate("base_pitch") / LIMIT
        return casadi.vertcat(1.0 - share, 1.0 + share)


def main() -> None:
    """Check, simulate twice, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", type=float, default=5.0, help="simulated time [s]")
    parser.add_argument("--speed", type=float, default=0.5, help="[m/s]")
    options = parser.parse_args()
    print(check_constraint(PitchLimit()))
    for label, constraints in (("without", ""), ("with", f"{__file__}:PitchLimit")):
        overrides = {"planner.constraints": constraints}
        run = simulate(duration=options.duration, speed=options.speed, overrides=overrides)
        late = run.ticks["time"] > 0.5 * options.duration
        speed, pitch = run.steady_velocity[0], np.degrees(np.abs(run.rpy[late, 1]).max())
        print(f"{label:>8}: {'fell' if run.fell else 'no fall'}, {speed:.3f} m/s, pitch up to {pitch:.1f}°")


if __name__ == "__main__":
    main()
