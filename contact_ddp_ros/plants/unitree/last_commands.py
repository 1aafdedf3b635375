"""Damping of a robot of Unitree when the node that commanded it has ended for any reason.

    python -m contact_ddp_ros.plants.unitree.last_commands INTERFACE DOMAIN COMMAND

`unitree_mujoco` executes the last command for ever, and what a robot does is for its firmware to decide. So a helper
process of the node waits until its standard input closes, and then sends the encoded COMMAND for a while, if the last
byte that came said that the node commands (:data:`ARMED`).
"""

import os
import signal
import sys
import time as clock

from contact_ddp_ros.plants.unitree.config import UnitreeLinkOptions
from contact_ddp_ros.plants.unitree.link import LOW_CMD_TOPIC, UnitreeLink
from contact_ddp_ros.plants.unitree.messages import LOW_CMD

ARMED, DISARMED = b"1", b"0"

_PERIOD, _DURATION = 0.005, 1.5
"""Time between two commands, and for which they are sent [s]."""


def main() -> int:
    """Wait, damp, and end; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    interface, domain, command = sys.argv[1:]
    link, armed = UnitreeLink(UnitreeLinkOptions(interface, int(domain))), DISARMED
    while given := os.read(sys.stdin.fileno(), 64):
        armed = given[-1:]
    if armed == ARMED:
        send = link.publisher(LOW_CMD_TOPIC, LOW_CMD)
        end = clock.monotonic() + _DURATION
        while clock.monotonic() < end:
            send(bytes.fromhex(command))
            clock.sleep(_PERIOD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
