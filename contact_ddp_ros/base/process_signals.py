"""Programs that end with whoever started them, or when somebody asks them to.

A parent hands its child a pipe as standard input and sets :data:`END_WITH_STDIN`; however the parent ends, the system
closes the pipe, and the child asks itself to end as a signal would.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from threading import Thread

END_WITH_STDIN = "CONTACT_DDP_END_WITH_STDIN"
"""Environment variable: where it is 1, a program ends when its standard input closes, so never outlives its parent."""


def end_with_parent() -> None:
    """From now on, where the environment asks for it, SIGTERM comes when standard input closes."""
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
