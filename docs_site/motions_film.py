"""Draws the pictures of docs/motions.md: a slow film and a figure of each packaged motion, and a film of a run.

    python -m docs_site.motions_film [FOLDER]

in the root of a checkout where `./run test` has installed what it needs.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import imageio.v3 as iio
from PIL import Image

from contact_ddp_ros import (
    ClosedLoop,
    MotionController,
    MotionResult,
    RunOptions,
    execute_motion,
    load_motion,
    load_robot,
    optimise_motion,
)
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.plants.render import View
from contact_ddp_ros.runs.report.motion import draw
from contact_ddp_ros.runs.report.style import figure
from contact_ddp_ros.runs.report.video import frames, render_recording
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


BETWEEN: Final = ("jump", "backflip_whole_body")
"""Out of a bound and on into it, one after the other."""
BOUNDS, RATE, SLOWDOWN = 1.6, 20.0, 1.5
"""How long it bounds before each and after the last [s], frames per second, and slow motion of that film."""


def between_gaits(folder: Path) -> None:
    """Bound, and now and then do something else: film all but the way up."""
    robot = load_robot()
    loop = ClosedLoop(RunOptions(duration=60.0, speed=((0.0, 0.8),)))
    plans = [optimise_motion(load_motion(name), robot) for name in BETWEEN]

    def run_until(mode: ControlMode, longest: float = 10.0) -> None:
        end = loop.plant.time + longest
        while loop.controller.mode is not mode or (mode is ControlMode.STAND and not loop.controller.standing):
            loop.tick()
            assert loop.plant.time < end and loop.controller.fault is None, str(loop.controller.fault)

    def bound() -> None:
        loop.want(ControlMode.MOVE)
        run_until(ControlMode.MOVE)
        end = loop.plant.time + BOUNDS
        while loop.plant.time < end:
            loop.tick()

    bound()
    begin = loop.plant.time - BOUNDS
    for plan in plans:
        loop.want(ControlMode.STAND)
        run_until(ControlMode.STAND)
        answer = loop.controller.perform(MotionController(robot, plan.task, plan.policy, loop.controller.config))
        assert answer.accepted, answer.reason
        run_until(ControlMode.MOTION)
        run_until(ControlMode.STAND)
        bound()
    recording = loop.recorder.finish()
    assert recording.fall is None
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "run.mp4"
        render_recording(recording, file, frames_per_second=RATE, view=View(110.0, -8.0, 1.6, 0.42))
        pictures = list(iio.imread(file))[round(begin * RATE) :]
    size = WIDTH, round(WIDTH * pictures[0].shape[0] / pictures[0].shape[1])
    film = [(SLOWDOWN * k / RATE, Image.fromarray(one).resize(size)) for k, one in enumerate(pictures)]
    save(film, folder / "motion_between_gaits.gif")


def main(folder: Path) -> None:
    """Optimise, execute, film and draw."""
    between_gaits(folder)
    robot = load_robot()
    for name in NAMES:
        recording = execute_motion(optimise_motion(load_motion(name), robot))
        run = MotionResult(recording)
        assert run.landed, run.outcome
        period = max(PERIOD, run.task.duration / PICTURES)
        film = [
            (SLOWER * period * index, Image.fromarray(picture))
            for index, picture in enumerate(frames(recording, period, width=WIDTH))
        ]
        save(film, folder / f"motion_{name}.gif")
        with figure(
            folder / f"motion_{name}.png", 11.0, 8.0, f"{name.replace('_', ' ')}: planned and executed"
        ) as drawn:
            draw(drawn, recording)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
