"""Console output of jobs beside their tables: lines, progress bars, spinners.

Without a terminal, plain lines report the start and the progress of long work instead.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from rich.console import Console
from rich.progress import Progress

_STEPS = 4
"""Number of progress lines beside the first one."""


def say(console: Console, text: str) -> None:
    """Print a line with rich markup; numbers and paths are neither highlighted nor wrapped."""
    console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(console: Console, what: str) -> Iterator[Callable[[float], None]]:
    """Progress bar on a terminal, a few lines elsewhere; yields a function to call with the fraction done, 0 to 1."""
    if not console.is_terminal:
        yield _Lines(console, what)
        return
    with Progress(console=console, transient=True) as bars:
        task = bars.add_task(what, total=1.0)
        yield lambda share: bars.update(task, completed=share)


@contextmanager
def working(console: Console, what: str) -> Iterator[None]:
    """Spinner on a terminal, one line elsewhere, for work whose progress is unknown."""
    if not console.is_terminal:
        say(console, f"{what} ...")
        yield
        return
    with console.status(what):
        yield


@contextmanager
def patience(tell: Callable[[float], None], *waits: float) -> Iterator[Callable[[], None]]:
    """Call `tell` with the time passed [s] after each of the `waits` [s], in a thread; yields a function to stop."""
    done = Event()

    def watch() -> None:
        passed = 0.0
        for wait in waits:
            if done.wait(wait):
                return
            passed += wait
            tell(passed)

    thread = Thread(target=watch, name="patience", daemon=True)
    thread.start()
    try:
        yield done.set
    finally:
        done.set()
        thread.join()


class _Lines:
    """Prints the progress as a few lines."""

    def __init__(self, console: Console, what: str) -> None:
        self._console, self._what, self._next = console, what, 1
        say(console, f"{what} ...")

    def __call__(self, share: float) -> None:
        if self._next <= share * _STEPS < _STEPS:
            self._next = int(share * _STEPS) + 1
            say(self._console, f"{self._what}: {100.0 * share:.0f} %")
