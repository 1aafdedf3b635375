"""A limit on the processor time of a process, as a share of one core.

A control group does it where its files may be written, in both versions of the interface: of every 100 ms the process
gets its share and is then stopped by the kernel. Elsewhere the process is stopped and continued by signals in the same
rhythm, which takes the share of elapsed time instead of processor time.
"""

import contextlib
import math
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

PERIOD = 0.1
"""Of the limit [s]."""

_ROOT = Path("/sys/fs/cgroup")


class Throttle:
    """Model of such a limit: in each period work goes on until the share is used, and then waits for the next one."""

    def __init__(self, share: float) -> None:
        """`share` of a core."""
        self._share, self._period, self._used = share * PERIOD, -1, 0.0

    def end(self, begins: float, work: float) -> float:
        """End of work of a processor time [s] that begins at a time [s], after all work so far."""
        now = begins
        while True:
            period = math.floor(now / PERIOD + 1e-9)
            if period != self._period:
                self._period, self._used = period, 0.0
            room = min(self._share - self._used, (period + 1) * PERIOD - now)
            if work <= room:
                self._used += work
                return now + work
            work, now = work - room, (period + 1) * PERIOD


@contextlib.contextmanager
def quota(pid: int, share: float) -> Iterator[str]:
    """Limit a process inside the block; gives the means: "control group", "signals", or "none" for a share of 1."""
    if share >= 1.0:
        yield "none"
        return
    group = _group(share)
    if group is None:
        with _signals(pid, share):
            yield "signals"
        return
    (group / "cgroup.procs").write_text(str(pid))
    try:
        yield "control group"
    finally:
        for one in (group / "cgroup.procs").read_text().split():  # its children are there, too
            with contextlib.suppress(ProcessLookupError):
                (group.parent / "cgroup.procs").write_text(one)
        with contextlib.suppress(OSError):
            group.rmdir()


def _group(share: float) -> Path | None:
    """A new control group with that limit, or None where there can be none."""
    period = round(1e6 * PERIOD)
    for root, name, text in (
        (_ROOT / "cpu", "cpu.cfs_quota_us", f"{round(share * period)}"),
        (_ROOT, "cpu.max", f"{round(share * period)} {period}"),
    ):
        group = root / f"contact-ddp-{os.getpid()}"
        try:
            if not (root / "cgroup.procs").exists():
                continue
            group.mkdir()
            (group / name).write_text(text)
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            continue
        return group
    return None


@contextlib.contextmanager
def _signals(pid: int, share: float) -> Iterator[None]:
    stop = Event()

    def alternate() -> None:
        while not stop.is_set():
            time.sleep(share * PERIOD)
            os.kill(pid, signal.SIGSTOP)
            stop.wait((1.0 - share) * PERIOD)
            os.kill(pid, signal.SIGCONT)

    thread = Thread(target=alternate, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
