"""Records docs/replay_*.html: runs that a browser plays, each under the command that shows it.

    python -m docs_site.replays

in the root of a checkout without changes, so that the titles say with which commit they were made, where `./run test`
has installed what it needs.
"""

from pathlib import Path
from typing import Final

from contact_ddp_ros import execute_motion, load_motion, load_robot, optimise_motion
from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.runs import closed_loop
from contact_ddp_ros.runs.export import html_file
from contact_ddp_ros.runs.recording import Recorder, Recording

RUNS: Final = {
    "bound": "sim --speed 1 --duration 8 --record-plans 10",
    "stairs": "sim --gait trot --ground stairs:0.07,20,0.2 --duration 8 --record-plans 10",
}
"""Commands by the replay's name."""


def main() -> None:
    """Run and write."""
    found: dict[str, Recording] = {}
    for name, command in RUNS.items():
        words = build_parser().parse_args(command.split())
        found[name] = closed_loop.run(run_options(words), Recorder(plans_every=words.record_plans))
    found["backflip"] = execute_motion(optimise_motion(load_motion("backflip"), load_robot()))
    for name, recording in found.items():
        assert recording.fall is None, f"{name}: {recording.fall}"
        html_file.write(recording, Path("docs") / f"replay_{name}.html")


if __name__ == "__main__":
    main()
