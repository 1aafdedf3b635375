"""A robot of one's own: say in a file which joints are which, then let it bound.

The URDF of the Unitree A1 comes from the PyPI package example-robot-data (the extra `robots`); it is none
of the packaged robots. The file names the URDF, the joints of each leg and what a URDF does not say; planner,
controller and simulator follow from it, their parameters scaled to the robot's size. One sees how heavy it is, how high
it stands, and whether it bounds: speed, height, pitch, and the largest share of each torque limit.

    python examples/new_robot.py [--speed 0.5 --duration 5]
"""

import argparse
from pathlib import Path

import numpy as np
import yaml

from contact_ddp_ros import load_robot, simulate

A1 = {
    "package": "example-robot-data",
    "urdf": "a1_description/urdf/a1.urdf",
    "legs": {  # joints from the trunk down, and the foot's link
        leg: [f"{name}_hip_joint", f"{name}_thigh_joint", f"{name}_calf_joint", f"{name}_foot"]
        for leg, name in {"fr": "FR", "fl": "FL", "hr": "RR", "hl": "RL"}.items()
    },
    "joints": {"armature": [0.005, 0.005, 0.005]},  # [kg m²] rotors through their gears: a guess, the URDF has none
    "asymmetry": 0.025,  # its trunk's centre of mass is 8 mm beside the middle
}


def main() -> None:
    """Write, read, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", type=float, default=0.5, help="[m/s]")
    parser.add_argument("--duration", type=float, default=5.0, help="simulated time [s]")
    parser.add_argument("--out", type=Path, default=Path("a1.yaml"), help="the robot's file that is written")
    options = parser.parse_args()
    options.out.write_text(yaml.safe_dump(A1, sort_keys=False), encoding="utf-8")
    robot = load_robot(options.out)
    print(f"{options.out}: {robot.mass:.1f} kg, stands {robot.standing_height():.3f} m high")

    run = simulate(robot=str(options.out.absolute()), speed=options.speed, duration=options.duration, record_plans=0)
    late = run.ticks["time"] > 0.5 * options.duration
    share = np.abs(run.ticks["torques"][late] / np.array(run.info.torque_limits)).max(axis=0).reshape(-1, 3).max(axis=0)
    print("the robot fell" if run.fell else "no fall")
    print(f"speed {run.steady_velocity[0]:.3f} m/s, height {run.height[late].min():.3f} to ", end="")
    print(f"{run.height[late].max():.3f} m, pitch {np.degrees(np.abs(run.rpy[late, 1]).max()):.1f}°")
    print("largest torque of abduction, hip, knee over its limit: " + ", ".join(f"{one:.2f}" for one in share))


if __name__ == "__main__":
    main()
