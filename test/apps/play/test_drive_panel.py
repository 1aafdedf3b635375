"""Keys that come at once, each in a thread of its own as viser calls them."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest

from contact_ddp_ros.runs.live.commands import Command, Drive

viser = pytest.importorskip("viser", reason="pinned in requirements-play.txt")

PRESSES = 8


def test_every_key_of_several_pressed_at_once_counts_and_the_last_sent_is_the_one_shown() -> None:
    from contact_ddp_ros.apps.play.drive_panel import DrivePanel

    sent: list[Command] = []
    delays = iter(0.01 * (PRESSES - k) for k in range(PRESSES))  # would let the last overtake all others

    def send(command: Command) -> None:
        sleep(next(delays))
        sent.append(command)

    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        panel = DrivePanel(server.gui, send, frozenset(), ())
        with ThreadPoolExecutor(PRESSES) as threads:
            list(threads.map(panel.press, "W" * PRESSES))
    finally:
        server.stop()
    assert panel.drive == Drive(forward=0.8)
    assert sent[-1] == panel.drive
