"""A back flip: optimised offline by full second-order DDP through its impact, then executed in MuJoCo.

The motion is a file of a few lines, config/motions/backflip.yaml: which feet are down for how long, and a whole turn.
The optimisation finds how, within the motors' torque-speed curve and the friction cone; the controller tracks the
policy with its feedback gains from a stand into a stand. Another motion is named instead, jump or jump_up.

    python examples/backflip.py [--motion backflip] [--trials 5] [--video backflip.mp4]

With trials it also starts from perturbed states, in worlds of other friction and mass, with sensor noise.
"""

import argparse
import math
from pathlib import Path

from contact_ddp_ros import (
    MotionResult,
    execute_motion,
    load_motion,
    load_robot,
    optimise_motion,
    perturbed_run,
    render_recording,
)


def main() -> None:
    """Optimise, execute, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--motion", default="backflip", help="backflip, jump, jump_up or a file")
    parser.add_argument("--trials", type=int, default=0, help="perturbed starts")
    parser.add_argument("--video", type=Path, help="film it: .mp4 or .gif")
    options = parser.parse_args()
    plan = optimise_motion(load_motion(options.motion), load_robot())
    print(f"optimised in {plan.iterations} iterations; {100 * plan.torque_share:.0f} % of the motors' torque")
    recording = execute_motion(plan)
    run = MotionResult(recording)
    print(f"{run.outcome}: {run.height:.2f} m up, {run.displacement:.2f} m ahead")
    print(f"rotation {math.degrees(run.rotation):.0f}°, at rest {run.time_to_stand:.2f} s after the touchdown")
    if options.trials:
        landed = sum(perturbed_run(plan, seed).landed for seed in range(options.trials))
        print(f"{landed} of {options.trials} perturbed starts landed")
    if options.video:
        render_recording(recording, options.video)


if __name__ == "__main__":
    main()
