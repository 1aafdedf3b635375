"""A motion of one's own: a jump on the spot, or forward, with phases and limits chosen here.

A motion is data: phases of feet on the ground with their durations, and where it leads. The optimisation fails with a
text that names the limit in the way where the motors cannot do it: see a jump with little torque or a longer way.

    python examples/new_motion.py [--forward 0.3] [--flight 0.3] [--torque-share 0.85]
"""

import argparse

from contact_ddp_ros import (
    MotionConfig,
    MotionPhase,
    MotionResult,
    MotionSpec,
    SolverError,
    execute_motion,
    load_robot,
    optimise_motion,
)

ALL, HIND = ("fr", "fl", "hr", "hl"), ("hr", "hl")


def main() -> None:
    """Build, optimise, execute, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forward", type=float, default=0.3, help="[m]")
    parser.add_argument("--flight", type=float, default=0.3, help="[s]")
    parser.add_argument("--torque-share", type=float, default=0.85, help="of the motors' torque that is planned")
    options = parser.parse_args()
    phases = (
        MotionPhase(ALL, 0.40),
        MotionPhase(HIND, 0.08),
        MotionPhase((), options.flight),
        MotionPhase(ALL, 0.50),
    )
    task = MotionSpec("my_jump", phases, displacement=options.forward)
    config = MotionConfig(torque_share=options.torque_share)
    try:
        plan = optimise_motion(task, load_robot(), config)
    except SolverError as error:
        print(f"not possible: {error}")
        return
    run = MotionResult(execute_motion(plan))
    print(f"planned in {plan.iterations} iterations with {100 * plan.torque_share:.0f} % of the motors' torque")
    print(f"{run.outcome}: {run.height:.2f} m up, {run.displacement:.2f} m ahead")


if __name__ == "__main__":
    main()
