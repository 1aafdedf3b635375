"""A gait of one's own: write it as a file, then let the simulated robot move by it.

A gait is when each foot is on the ground, as shares of a period. This writes a bound (hind feet, flight, front feet,
flight) or a pronk (all feet, flight) of a chosen period and stance, runs the closed loop of planner, controller and
MuJoCo on it, and prints whether the robot fell, its speed, and how much of the time each foot carried load: what the
gait asks for, up to the rounding of its switches to the planner's 4 ms.

    python examples/new_gait.py [--kind bound --period 0.4 --stance 0.22 --speed 0.5 --duration 6]
"""

import argparse
from pathlib import Path

import numpy as np
import yaml

from contact_ddp_ros import simulate


def gait(kind: str, period: float, stance: float) -> dict:
    """The content of a gait file: touchdown and lift-off of each leg, as shares of the period [s]."""
    front = 0.5 if kind == "bound" else 0.0
    touchdowns = {"fr": front, "fl": front, "hr": 0.0, "hl": 0.0}
    return {"period": period, "stances": {leg: [at, round(at + stance, 4)] for leg, at in touchdowns.items()}}


def main() -> None:
    """Write, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=("bound", "pronk"), default="bound")
    parser.add_argument("--period", type=float, default=0.4, help="[s], a whole number of 4 ms")
    parser.add_argument("--stance", type=float, default=0.22, help="share of the period that a foot is on the ground")
    parser.add_argument("--speed", type=float, default=0.5, help="[m/s]")
    parser.add_argument("--duration", type=float, default=6.0, help="simulated time [s]")
    parser.add_argument("--out", type=Path, default=Path("my_gait.yaml"), help="the gait file that is written")
    options = parser.parse_args()
    options.out.write_text(
        yaml.safe_dump(gait(options.kind, options.period, options.stance), default_flow_style=None), encoding="utf-8"
    )
    print(f"{options.out}:\n{options.out.read_text(encoding='utf-8')}")

    recording = simulate(gait=options.out, speed=options.speed, duration=options.duration, record_plans=0)
    for event in recording.events:
        print(f"{event.time:6.2f} s  {event.text}")
    time, speed = recording.ticks["time"], recording.steady_velocity[0]
    late = time > time[-1] - options.period * max(1, int(0.5 * options.duration / options.period))
    print(f"{'the robot fell' if recording.fell else 'no fall'}; over whole cycles of the last half of the run:")
    height, pitch = recording.height[late], np.degrees(np.abs(recording.rpy[late, 1]).max())
    print(f"  speed {speed:.3f} m/s, height {height.min():.3f} to {height.max():.3f} m, pitch {pitch:.1f}°")
    loaded = recording.ticks["contact_forces"][late, :, 2] > 1.0
    for foot, share in zip(recording.info.foot_names, loaded.mean(axis=0), strict=True):
        print(f"  {foot}: on the ground {100.0 * share:.0f} % of the time, asked for {100.0 * options.stance:.0f} %")


if __name__ == "__main__":
    main()
