"""Draws the pictures of docs/motions.md: a film, in slow motion, and a figure of each packaged motion.

    python -m docs_site.motions_film [FOLDER]

in the root of a checkout where `./run test` has installed what it needs.
"""

import sys
from pathlib import Path
from typing import Final

from PIL import Image

from contact_ddp_ros import execute_motion, load_motion, load_robot, optimise_motion
from contact_ddp_ros.cli.motion_plots import save_plot
from contact_ddp_ros.motions.film import frames
from docs_site.film import save

NAMES: Final = (
    "jump",
    "jump_up",
    "backflip",
    "backflip_whole_body",
    "barrel_roll",
    "running_barrel_roll",
    "recovery",
    "recovery_side",
)
PERIOD, PICTURES, SLOWER, WIDTH = 0.03, 90, 3.0, 480
"""Least simulated time between two pictures [s], most of them in a motion, slow motion, and width [pixels]."""


def main(folder: Path) -> None:
    """Optimise, execute, film and draw."""
    robot = load_robot()
    for name in NAMES:
        run = execute_motion(optimise_motion(load_motion(name), robot), robot)
        assert run.landed, run.outcome
        period = max(PERIOD, run.plan.task.duration / PICTURES)
        film = [
            (SLOWER * period * index, Image.fromarray(picture))
            for index, picture in enumerate(frames(run, period, WIDTH))
        ]
        save(film, folder / f"motion_{name}.gif")
        save_plot(run, folder / f"motion_{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
