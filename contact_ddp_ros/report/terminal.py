"""What jobs print beside their tables: plain lines, and bars that are gone when the work is done.

Nothing is silent for long: where output goes to no terminal, a plain line says what begins, and what still lasts.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from rich.console import Console
from rich.progress import Progress

_STEPS = 4
"""Plain lines that a long piece of work gives beside its first."""


def say(console: Console, text: str) -> None:
    """A line for people; markup counts, numbers and paths are neither coloured nor broken."""
    console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(console: Console, what: str) -> Iterator[Callable[[float], None]]:
    """A bar on a terminal, a line now and then elsewhere; call what it gives with the share that is done, 0 to 1."""
    if not console.is_terminal:
        yield _Lines(console, what)
        return
    with Progress(console=console, transient=True) as bars:
        task = bars.add_task(what, total=1.0)
        yield lambda share: bars.update(task, completed=share)


@contextmanager
def working(console: Console, what: str) -> Iterator[None]:
    """A spinner on a terminal, a line elsewhere, for work that cannot say how far it is."""
    if not console.is_terminal:
        say(console, f"{what} ...")
        yield
        return
    with console.status(what):
        yield


@contextmanager
def patience(tell: Callable[[float], None], *waits: float) -> Iterator[Callable[[], None]]:
    """Tell, from a thread, that work still lasts, after each of some waits [s]; what it gives ends that early."""
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
    """Says how far a piece of work is, a few times."""

    def __init__(self, console: Console, what: str) -> None:
        self._console, self._what, self._next = console, what, 1
        say(console, f"{what} ...")

    def __call__(self, share: float) -> None:
        if self._next <= share * _STEPS < _STEPS:
            self._next = int(share * _STEPS) + 1
            say(self._console, f"{self._what}: {100.0 * share:.0f} %")
