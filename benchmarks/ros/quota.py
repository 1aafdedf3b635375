"""A limit on the processor time of a process, as a share of one core.

A control group does it where its files may be written, in both versions of the interface: of every 100 ms the process
gets its share and is then stopped by the kernel. Elsewhere the process is stopped and continued by signals in the same
rhythm, which takes the share of elapsed time instead of processor time.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

PERIOD = 0.1
"""Of the limit [s]."""

_ROOT = Path("/sys/fs/cgroup")


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
        (group.parent / "cgroup.procs").write_text(str(pid))
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
