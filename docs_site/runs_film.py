"""Records docs/gaits.gif and docs/worlds.gif: runs side by side, each under the command that shows it.

    python -m docs_site.runs_film [gaits | worlds]

in the root of a checkout where `./run test` has installed what it needs.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import imageio.v3 as iio
from PIL import Image, ImageDraw, ImageFont

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.runs import closed_loop
from contact_ddp_ros.runs.report.video import render_recording
from docs_site.film import save

FILMS: Final = {
    "gaits": (
        "sim --speed 1",
        "sim --gait trot --turn 0.8",
        "sim --gait gallop --speed 1.5",
        "sim --gait pace --left 0.3",
        "sim --gait pronk",
        "sim --gait fly_trot --speed 2",
    ),
    "worlds": (
        "sim --gait trot --ground stairs:0.07,50,0.2",
        "sim --ground slope:20",
        "sim --gait trot --ground boxes:0.04,1",
        "sim --gait fly_trot --ground rough:0.1",
        "sim --payload 2,0,0.06",
        "sim --push 5,-70,150,0,0.1",
    ),
}
"""Commands by the film's name, of what the planner does and of worlds that it does not know."""

BEGIN, DURATION, RATE = 3.0, 5.0, 12.5
"""What is shown of each run [s], and its frames per second."""

COLUMNS, SIZE, STRIP = 3, (320, 180), 24
"""Of the film: runs beside each other, pixels of each, and of the strip with its command."""


def clip(command: str, folder: Path) -> list[Image.Image]:
    """Run a command and film it."""
    recording = closed_loop.run(run_options(build_parser().parse_args([*command.split(), "--duration", "8"])))
    fall = recording.fall
    assert fall is None, f"{command}: {fall}"
    file = folder / "run.mp4"
    render_recording(recording, file, frames_per_second=RATE)
    first = round(BEGIN * RATE)
    return [Image.fromarray(one).resize(SIZE) for one in iio.imread(file)[first : first + round(DURATION * RATE)]]


def main(name: str, commands: Sequence[str]) -> None:
    """Run, film and lay beside each other."""
    with TemporaryDirectory() as folder:
        clips = [clip(command, Path(folder)) for command in commands]
    width, height = SIZE[0], SIZE[1] + STRIP
    font = ImageFont.load_default(14)
    film = []
    for index, pictures in enumerate(zip(*clips, strict=True)):
        sheet = Image.new("RGB", (COLUMNS * width, height * -(-len(commands) // COLUMNS)), "white")
        pen = ImageDraw.Draw(sheet)
        for place, (command, picture) in enumerate(zip(commands, pictures, strict=True)):
            left, top = width * (place % COLUMNS), height * (place // COLUMNS)
            pen.text((left + 8, top + 3), f"./run {command}", fill="black", font=font)
            sheet.paste(picture, (left, top + STRIP))
        film.append((index / RATE, sheet))
    save(film, Path("docs") / f"{name}.gif")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or FILMS:
        main(wanted, FILMS[wanted])
