"""Read a recorded run, or record one: speeds, heights and contact forces as numbers, and as a figure.

FOLDER is what `contact-ddp sim`, `demo` or `gazebo` left under out/. Without one, a short bound is simulated first. The
program prints what the run was, its events, commanded and actual speed second by second, and the vertical force of each
foot: its mean, and its largest value, which is the stiff contact's at a touchdown. The mean of all feet is near the
robot's weight of 87 N. With --plot both are drawn over time.

    python examples/read_recording.py [FOLDER] [--plot speeds_and_forces.png]
"""

import argparse
from pathlib import Path

import numpy as np

from contact_ddp_ros import Recording, load_recording, simulate


def show(recording: Recording) -> None:
    """Print what happened; columns and units are described in docs/recording.md."""
    ticks, info = recording.ticks, recording.info
    print(f"{info.job}: {len(ticks['time'])} ticks, {len(recording.solves['time'])} solves, gait {info.gait_period} s")
    for event in recording.events:
        print(f"{event.time:6.2f} s  {event.text}")
    print("   time  commanded  speed  height")
    for second in range(int(ticks["time"][0]), int(np.ceil(ticks["time"][-1]))):
        rows = (ticks["time"] >= second) & (ticks["time"] < second + 1)
        commanded, speed = ticks["commanded_speed"][rows].mean(), recording.heading_velocity[rows, 0].mean()
        print(f"{second:5d} s  {commanded:6.2f} m/s  {speed:5.2f}  {recording.height[rows].mean():5.3f} m")
    vertical = ticks["contact_forces"][:, :, 2]
    for foot, force in zip(info.foot_names, vertical.T, strict=True):
        print(f"{foot}: vertical force {force.mean():6.1f} N on average, {force.max():6.1f} N at most")
    print(f"all feet: {vertical.sum(axis=1).mean():.1f} N on average")


def plot(recording: Recording, file: Path) -> None:
    """Speeds above, vertical forces of the feet below."""
    from matplotlib.figure import Figure

    ticks, figure = recording.ticks, Figure(figsize=(9, 6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    above.plot(ticks["time"], recording.heading_velocity[:, 0], label="forward")
    above.plot(ticks["time"], ticks["commanded_speed"], "k--", label="commanded")
    above.set(ylabel="speed [m/s]")
    below.plot(ticks["time"], ticks["contact_forces"][:, :, 2], label=list(recording.info.foot_names))
    below.set(xlabel="time [s]", ylabel="vertical force [N]")
    for axes in (above, below):
        axes.legend(loc="upper left")
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=120)
    print(f"drawn in {file}")


def main() -> None:
    """Read or record, then show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="with recording.npz and recording.json")
    parser.add_argument("--duration", type=float, default=4.0, help="of the run that is simulated without a folder [s]")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw speeds and forces")
    options = parser.parse_args()
    if options.folder is None:
        recording = simulate(speed=0.5, duration=options.duration)
    else:
        recording = load_recording(options.folder)
    show(recording)
    if options.plot is not None:
        plot(recording, options.plot)


if __name__ == "__main__":
    main()
