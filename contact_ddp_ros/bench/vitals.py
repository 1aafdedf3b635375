"""What Linux says about a process: memory, open files, threads, processor time; see proc(5)."""

import os
from dataclasses import dataclass
from pathlib import Path

_KIB_PER_MB = 1e6 / 1024.0


@dataclass(frozen=True)
class Vitals:
    """One look at a process.

    Attributes:
        memory: resident [MB].
        descriptors: open files and sockets.
        threads: of the process.
        processor_time: of all its threads since it began [s].
    """

    memory: float
    descriptors: int
    threads: int
    processor_time: float


def vitals(pid: int) -> Vitals:
    """Of a process of this user.

    Raises:
        OSError: there is no such process, or no /proc.
    """
    folder = Path("/proc", str(pid))
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    # The second field is a name in parentheses that may hold anything; utime and stime are the 14th and 15th.
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return Vitals(
        memory=int(status["VmRSS"].split()[0]) / _KIB_PER_MB,
        descriptors=len(os.listdir(folder / "fd")),
        threads=int(status["Threads"]),
        processor_time=ticks / os.sysconf("SC_CLK_TCK"),
    )
