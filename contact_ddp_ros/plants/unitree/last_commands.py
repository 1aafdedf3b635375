"""Damping of a robot of Unitree when the node that commanded it has ended for any reason.

`unitree_mujoco` executes the last command for ever, and what a robot does is for its firmware to decide. So a helper
process waits until its standard input, a pipe from the node, closes, and then sends damping for a while, if the last
byte that came said that the node commands.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time as clock
from pathlib import Path

from contact_ddp_ros.plants.unitree.config import UnitreeLinkOptions

_PERIOD, _DURATION = 0.005, 3.0
"""Time between two commands, and for which they are sent [s]."""

_END = 10.0
"""Time that the helper gets to end [s]."""


class LastCommands:
    """The node's handle of the helper process."""

    def __init__(self, options: UnitreeLinkOptions, command: bytes) -> None:
        """Start the helper for a link, with the encoded command that damps."""
        root = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__, options.interface, str(options.chosen_domain), command.hex()],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C is the node's to pass on
        )
        self._armed = False

    def arm(self, *, armed: bool) -> None:
        """Say whether the node commands the robot."""
        if armed != self._armed and self._child.stdin is not None:
            self._armed = armed
            with contextlib.suppress(OSError):
                os.write(self._child.stdin.fileno(), b"1" if armed else b"0")

    def close(self) -> None:
        """Have it send its commands and end."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        try:
            self._child.wait(_END)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


def main() -> int:
    """Wait, damp, and end; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    interface, domain, command = sys.argv[1:]
    armed = b"0"
    while given := os.read(sys.stdin.fileno(), 64):
        armed = given[-1:]
    if armed == b"1":
        from contact_ddp_ros.plants.unitree.link import LOW_CMD_TOPIC, UnitreeLink
        from contact_ddp_ros.plants.unitree.messages import LOW_CMD

        send = UnitreeLink(UnitreeLinkOptions(interface, int(domain))).publisher(LOW_CMD_TOPIC, LOW_CMD)
        end = clock.monotonic() + _DURATION
        while clock.monotonic() < end:
            send(bytes.fromhex(command))
            clock.sleep(_PERIOD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
