"""What jobs print beside their tables: plain lines, and bars that are gone when the work is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


def say(console: Console, text: str) -> None:
    """A line for people; markup counts, numbers and paths are neither coloured nor broken."""
    console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(console: Console, what: str) -> Iterator[Callable[[float], None]]:
    """A bar on a terminal, nothing elsewhere; call what it gives with the share that is done, 0 to 1."""
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=1.0)
        yield lambda share: bars.update(task, completed=share)
