"""What browsers that show the live page cost its loop: solve times, late solves and the real-time factor, in turns.

    python -m docs_site.page_cost [ROUNDS]

A browser is played by a process that takes what the server sends and draws nothing, as if it ran on another machine.
The robot bounds at 0.5 m/s all the time; each round has a turn with every number of browsers.
"""

import asyncio
import sys
import time as clock
from multiprocessing import get_context
from threading import Event, Thread
from typing import Final

import msgspec
import numpy as np
import viser
from rich.console import Console
from rich.table import Table
from websockets.asyncio.client import connect

from contact_ddp_ros.apps.play.page import Page
from contact_ddp_ros.apps.play.process import LoopProcess
from contact_ddp_ros.base.process import give_way
from contact_ddp_ros.runs.live.commands import Command
from contact_ddp_ros.runs.live.snapshot import News, Snapshot
from contact_ddp_ros.runs.options import RunOptions

BROWSERS: Final = (0, 1, 4)
TURN, SETTLE = 10.0, 2.0
"""How long a turn lasts, and how much of its beginning does not count [s]."""


CAMERA: Final = {
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (0.0, -1.5, 0.5),
    "fov": 1.0,
    "near": 0.01,
    "far": 100.0,
    "image_height": 720,
    "image_width": 1280,
    "look_at": (0.0, 0.0, 0.3),
    "up_direction": (0.0, 0.0, 1.0),
}
"""A browser is one for the server once it has said where it looks from."""


class Watched:
    """The link to a loop, and what has passed over it."""

    def __init__(self, link: LoopProcess) -> None:
        self.link = link
        self.snapshots: list[tuple[float, Snapshot]] = []

    def send(self, command: Command) -> None:
        """Pass it on."""
        self.link.send(command)

    def news(self) -> list[News]:
        """Keep a copy of the snapshots."""
        found = self.link.news()
        self.snapshots += [(clock.monotonic(), one) for one in found if isinstance(one, Snapshot)]
        return found

    def failure(self) -> str:
        """Of the loop."""
        return self.link.failure()

    def close(self) -> None:
        """End the loop."""
        self.link.close()


def watch(port: int) -> None:
    """Take all that the server sends, until killed."""

    async def take() -> None:
        names = [f"viser-v{viser.__version__}"]
        async with connect(f"ws://127.0.0.1:{port}", subprotocols=names, max_size=None) as server:  # type: ignore[arg-type]
            await server.send(msgspec.msgpack.encode({"type": "ViewerCameraMessage", **CAMERA}))
            async for _ in server:
                pass

    asyncio.run(take())


def main(rounds: int) -> None:
    """Measure and print a table."""
    link = Watched(LoopProcess(RunOptions(video=False)))
    give_way()
    page, stop = Page(link, "127.0.0.1", 8970), Event()
    thread = Thread(target=page.run, args=(stop,))
    thread.start()
    while not any(snapshot.mode == "move" for _, snapshot in link.snapshots):
        clock.sleep(0.1)
    found: dict[int, list[tuple[list[float], int, float]]] = {count: [] for count in BROWSERS}
    for number in range(rounds):
        for count in BROWSERS[:: 1 if number % 2 == 0 else -1]:
            clients = [get_context("spawn").Process(target=watch, args=(page.port,), daemon=True) for _ in range(count)]
            for client in clients:
                client.start()
            while len(page.server.get_clients()) != count:
                clock.sleep(0.05)
            begin = clock.monotonic() + SETTLE
            clock.sleep(TURN)
            seen = [snapshot for time, snapshot in link.snapshots if time >= begin]
            solves = [solve for snapshot in seen for solve in snapshot.solves]
            factor = float(np.mean([snapshot.real_time_factor for snapshot in seen]))
            found[count].append(([one.solve_ms for one in solves], sum(one.late for one in solves), factor))
            for client in clients:
                client.terminate()
                client.join()
    stop.set()
    thread.join()
    page.close()
    table = Table("browsers", "solves", "median ms", "99 % ms", "late", "real-time factor")
    for count, turns in found.items():
        times = np.concatenate([times for times, _, _ in turns])
        medians = [float(np.median(times)) for times, _, _ in turns]
        late = sum(late for _, late, _ in turns) / len(times)
        table.add_row(
            str(count),
            str(len(times)),
            f"{np.median(times):.2f} ({min(medians):.2f} to {max(medians):.2f})",
            f"{np.percentile(times, 99):.1f}",
            f"{100 * late:.2f} %",
            f"{np.mean([factor for _, _, factor in turns]):.3f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or ["4"]))
