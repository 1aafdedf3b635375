"""Compilation of the kernels of planner, controller and loop at a first start, in two processes.

python -m contact_ddp_ros.runs.kernels
"""

import multiprocessing
import signal
from collections.abc import Sequence
from importlib import import_module
from multiprocessing.context import SpawnProcess

_ALL = "contact_ddp_ros.runs.closed_loop"
_LATE = ("contact_ddp_ros.control.estimation.state_filter", "contact_ddp_ros.ocp.ddp")
"""Modules whose import compiles: all kernels in turn, and those that come late in this order."""


def begin_late_half() -> SpawnProcess:
    """Begin to compile the late half in a process of its own, which ends with this one; gives the process."""
    process = multiprocessing.get_context("spawn").Process(target=_import, args=(_LATE,), daemon=True)
    process.start()
    return process


def _import(modules: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is the parent's to handle
    for module in modules:
        import_module(module)


if __name__ == "__main__":
    late = begin_late_half()
    _import((_ALL,))
    late.join()
