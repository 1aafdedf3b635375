"""The helper of :class:`contact_ddp_ros.plants.gazebo.world_control.ControlProcess`: one request a line, one answer a
line.

    python -m contact_ddp_ros.plants.gazebo.control_process BINDINGS WORLD MODEL

When its standard input ends, it tells every joint zero effort and ends; signals do not end it before that.
"""

import contextlib
import json
import os
import signal
import sys
import time as clock
from typing import Any

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.plants.gazebo.efforts import Efforts
from contact_ddp_ros.plants.gazebo.transport import load_bindings
from contact_ddp_ros.plants.gazebo.world_control import DirectControl, WorldRequest

_DISCOVERY = 0.5
"""Time in which the joints' subscriptions and these publishers find each other [s]."""


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # What the bindings may print must not mix with the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    name, world, model = sys.argv[1:] if arguments is None else arguments
    started = clock.monotonic()
    try:
        bindings, names = load_bindings(name), Names(world, model)
        node = bindings.node()
        control, efforts = DirectControl(bindings, names, node), Efforts(bindings, names, node)
    except ContactDdpError as error:
        _answer(answers, 0, str(error))
        return 1
    _answer(answers, 0, "")
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin:
            asked = json.loads(line)
            failure = ""
            try:
                control.ask(WorldRequest(**asked["request"]), asked["timeout"])
            except ContactDdpError as error:
                failure = str(error)
            _answer(answers, asked["number"], failure)
    clock.sleep(max(0.0, _DISCOVERY - (clock.monotonic() - started)))
    efforts.shutdown()
    return 0


def _answer(answers: Any, number: int, error: str) -> None:
    """Say how the request of that number went; number 0 is the start."""
    answers.write(json.dumps({"number": number, "error": error}) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
