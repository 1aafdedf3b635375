"""A reference of one's own: a trunk that rises and sinks once a second while the robot bounds.

The reference is one class with one method: it gets what the package would want along the horizon and says what is
wanted instead. The robot bounds in the simulator with the packaged reference and with this one. One sees how much of
the wanted motion the trunk makes, and that it neither falls nor slows down.

    python examples/new_reference.py [--duration 6 --speed 0.5]

On the command line and for the planner's node the same reference is the parameter

    planner.own_reference=examples/new_reference.py:Swell
"""

import argparse

import numpy as np

from contact_ddp_ros import GaitHorizon, Reference, simulate

AMPLITUDE, RATE = 0.02, 2.0 * np.pi * 1.0
"""Of the trunk's height [m] and its phase [rad/s]."""


class Swell(Reference):
    """The trunk 2 cm up and down about the packaged height, once a second."""

    name = "swell"

    def states(self, horizon: GaitHorizon) -> np.ndarray:
        """Height and vertical velocity agree: the planner takes positions and rates as they are given."""
        states, phase = horizon.states.copy(), RATE * horizon.times
        states[:, horizon.column("base_z")] += AMPLITUDE * np.sin(phase)
        states[:, horizon.column("base_z", rate=True)] += AMPLITUDE * RATE * np.cos(phase)
        return states


def swell(times: np.ndarray, heights: np.ndarray) -> float:
    """Amplitude of the heights at the wanted rate [m], by least squares."""
    columns = np.stack([np.sin(RATE * times), np.cos(RATE * times), np.ones_like(times)], axis=1)
    return float(np.hypot(*np.linalg.lstsq(columns, heights, rcond=None)[0][:2]))


def main() -> None:
    """Simulate twice, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", type=float, default=6.0, help="simulated time [s]")
    parser.add_argument("--speed", type=float, default=0.5, help="[m/s]")
    options = parser.parse_args()
    for label, reference in (("packaged", ""), ("own", f"{__file__}:Swell")):
        overrides = {"planner.own_reference": reference}
        run = simulate(duration=options.duration, speed=options.speed, overrides=overrides)
        times = run.ticks["time"]
        late = times > times[-1] - 2.0
        amplitude = swell(times[late], run.ticks["position"][late, 2])
        speed = run.steady_velocity[0]
        print(f"{label:>8}: {'fell' if run.fell else 'no fall'}, {speed:.3f} m/s, swell of {100.0 * amplitude:.2f} cm")


if __name__ == "__main__":
    main()
