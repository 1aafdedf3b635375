"""Process-wide settings: environment variables, signals, real-time priority.

Environment variables for as long as they are needed.

Programs that end with whoever started them, or when somebody asks them to.

A parent hands its child a pipe as standard input and sets :data:`END_WITH_STDIN`; however the parent ends, the system
closes the pipe, and the child asks itself to end as a signal would.

The place of a node's process among the others of the machine: real-time scheduling, processors, locked memory.

A bounding robot that waits 50 ms for a processor falls. What the system allows is taken, and one line says what it does
not: SCHED_FIFO for every thread of the process (a thread left behind at normal priority could hold the interpreter
lock while others wait), else a negative nice value; memory that is locked is not paged out. Rights come from being
root, from CAP_SYS_NICE, or from `rtprio`, `nice` and `memlock` in /etc/security/limits.conf. Programs that the node
starts, a compiler for one, are scheduled as usual.

The kernel keeps 5 % of each second for everybody else (sched_rt_runtime_us), so that a node that runs wild cannot take
the machine along.
"""

import contextlib
import ctypes
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.errors import ParameterError


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The variables in this process's environment, which children inherit; what was there before comes back."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


END_WITH_STDIN = "CONTACT_DDP_END_WITH_STDIN"
"""Environment variable: where it is 1, a program ends when its standard input closes, so never outlives its parent."""


def end_with_parent() -> None:
    """Have SIGTERM sent to this process when standard input closes, where the environment asks for it."""
    if os.environ.get(END_WITH_STDIN) == "1":
        Thread(target=_watch_stdin, name="stdin", daemon=True).start()


def _watch_stdin() -> None:
    with contextlib.suppress(OSError):
        while os.read(sys.stdin.fileno(), 1):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within, SIGTERM interrupts as Ctrl-C does, and so does SIGINT in the background of a shell, which ignores it."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)


AUTO, NONE, NICE, FIFO = "auto", "none", "nice", "fifo"

_FIFO = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK

_NICE = -10
"""Nice value where real-time scheduling is not to be had."""

_BEHIND = 5
"""Nice value of what must not slow the loop down: a third of its share of a processor that both want."""

_LOCK_NOW, _LOCK_LATER, _LOCK_ON_FAULT = 1, 2, 4
"""MCL_CURRENT, MCL_FUTURE and MCL_ONFAULT of mlockall(2): what is touched stays, what is reserved costs nothing."""


@dataclass(frozen=True)
class SchedulingOptions:
    """Scheduling of a node's process: priority, real-time policy, cores."""

    policy: str = parameter(
        AUTO,
        choices=(AUTO, FIFO, NICE, NONE),
        description="auto: fifo where it is allowed, else nice, else as it is; in lock-step always as it is",
        structural=True,
    )
    priority: int = parameter(
        10,
        low=1,
        high=80,
        description="of SCHED_FIFO; above the planner's the controller's and the bridge's",
        structural=True,
    )
    processors: str = parameter(
        "", description="processors that the process may use, as in 0,2-3; empty: all", structural=True
    )
    lock_memory: bool = parameter(True, description="keep the process's memory from being paged out", structural=True)


def give_way(behind: int = _BEHIND) -> None:
    """Let others of normal priority go first from now on, by up to 19; processes started before stay as they are."""
    with contextlib.suppress(OSError):
        os.nice(behind)


def settle(options: SchedulingOptions, *, live: bool) -> str:
    """Take the place that the options ask for and tidy the memory; what came of it, in one line.

    Call it once everything is built and every thread started: later ones, as later processes, begin at normal priority.
    With `live` false, in lock-step, nothing waits for the wall clock and the process stays where it is.

    Raises:
        ParameterError: `processors` is no list of processors of this machine.
    """
    freeze_garbage()
    if options.processors:
        _pin(processors(options.processors))
    if not live:
        return "scheduling as it is: lock-step"
    words = [_schedule(options)]
    if options.lock_memory:
        words.append(_lock_memory())
    return ", ".join(words)


def freeze_garbage() -> None:
    """Take what is built out of garbage collection: to look through it all stops the loop for a tenth of a second."""
    gc.collect()
    gc.freeze()


def processors(text: str) -> set[int]:
    """The processors of a list such as 0,2-3.

    Raises:
        ParameterError: it is no such list, or this process may use none of them.
    """
    allowed = os.sched_getaffinity(0)
    try:
        found = {
            number
            for part in text.split(",")
            for first, dash, last in [part.partition("-")]
            for number in range(int(first), int(last if dash else first) + 1)
        }
    except ValueError:
        raise ParameterError(f"processors are {text!r}; allowed: numbers and ranges such as 0,2-3") from None
    if not found or not found <= allowed:
        raise ParameterError(f"processors are {text!r}; this process may use {sorted(allowed)}")
    return found


def _threads() -> list[int]:
    return [int(entry.name) for entry in Path("/proc/self/task").iterdir()] if Path("/proc/self/task").is_dir() else [0]


def _pin(wanted: set[int]) -> None:
    for thread in _threads():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(thread, wanted)


def _schedule(options: SchedulingOptions) -> str:
    if options.policy == NONE:
        return "scheduling as it is"
    refusal = ""
    if options.policy in (AUTO, FIFO):
        try:
            for thread in _threads():
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setscheduler(thread, _FIFO, os.sched_param(options.priority))
            return f"real-time priority {options.priority}"
        except OSError as error:
            refusal = f"no real-time priority ({error.strerror}; see rtprio in limits.conf)"
            if options.policy == FIFO:
                return refusal
    try:
        for thread in _threads():
            with contextlib.suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, thread, _NICE)
        return f"{refusal}{'; ' if refusal else ''}nice {_NICE}"
    except OSError as error:
        nice = f"no nice value below zero ({error.strerror}; see nice in limits.conf)"
        return f"{refusal}{'; ' if refusal else ''}{nice}: a busy machine may keep this node waiting"


def _lock_memory() -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_LOCK_NOW | _LOCK_LATER | _LOCK_ON_FAULT) == 0:
        return "memory locked"
    return f"memory not locked ({os.strerror(ctypes.get_errno())}; see memlock in limits.conf)"


class HelperProcess:
    """Process that acts once its parent has ended for any reason: when its standard input closes."""

    def __init__(self, module: str, arguments: Sequence[str], timeout: float = 5.0) -> None:
        """Start a module of this package; `timeout`: time that it gets to end [s]."""
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        self._timeout = timeout
        self._child = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C is the parent's to pass on
        )

    def tell(self, data: bytes) -> None:
        """Write to its standard input."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                os.write(self._child.stdin.fileno(), data)

    def close(self) -> None:
        """Have it act and end."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        try:
            self._child.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
