"""The loop in a process of its own, so that no page, however slow, ever delays it.

Commands and answers travel through a pipe. A snapshot is sent only where the page has asked for one since the last, so
there is never more than one on its way and the newest always counts.
"""

import contextlib
import logging
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from threading import Lock, Thread
from typing import TYPE_CHECKING

from contact_ddp_ros.base import numba_cache
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.runs.kernels import begin_planner, load_control
from contact_ddp_ros.runs.live.commands import Answer, Building, Command, Quit
from contact_ddp_ros.runs.options import RunOptions

if TYPE_CHECKING:  # what it imports is compiled, and told of, by the loop's process
    from contact_ddp_ros.runs.live.snapshot import News

_IDLE = 0.02
"""Wait for a command while time stands [s]."""

_END = 5.0
"""Patience with a loop that is to end [s]."""

_NEVER_SEEN = "the loop has ended; the terminal says why"


def run_loop(connection: Connection, options: RunOptions) -> None:
    """Body of the process: builds the loop and runs it until the other end closes or sends Quit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is the page's to handle
    sending = Lock()

    def tell(news: "News") -> None:
        with sending, contextlib.suppress(OSError):
            connection.send(news)

    log = logging.getLogger("contact_ddp_ros")
    log.addHandler(_Teller(tell))
    log.setLevel(logging.INFO)
    from contact_ddp_ros.apps.play.session import Session
    from contact_ddp_ros.base.process import freeze_garbage

    load_control()
    try:
        session = Session(options, tell)
    except ContactDdpError as error:
        tell(Answer(False, str(error)))
        return
    freeze_garbage()
    with contextlib.suppress(EOFError, OSError):
        while True:
            while connection.poll(_IDLE if session.idle else 0.0):
                command = connection.recv()
                if isinstance(command, Quit):
                    return
                session.handle(command)
            session.advance()


class _Teller(logging.Handler):
    """Handler that sends the package's log, above all of compilations, to the page."""

    def __init__(self, tell: "Callable[[News], None]") -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Tell the message."""
        self._tell(Building(self.format(record)))


class LoopProcess:
    """A :class:`contact_ddp_ros.runs.live.commands.Link` to a loop that it starts."""

    def __init__(self, options: RunOptions) -> None:
        """Starts the process; a :class:`World` comes when it is ready, or the reason why it cannot be."""
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=run_loop, args=(other, options), name="loop", daemon=True)
        self._process.start()
        other.close()
        if numba_cache.is_empty():
            begin_planner()
        self._inbox: deque[News] = deque()
        self._sending = Lock()
        self._failure = ""
        self._reader = Thread(target=self._read, name="loop news", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int | None:
        """Id of the process."""
        return self._process.pid

    def send(self, command: Command) -> None:
        """Ask for something; ignored once the loop has ended."""
        with self._sending, contextlib.suppress(OSError, ValueError):
            self._connection.send(command)

    def news(self) -> "list[News]":
        """Messages since the last call."""
        found = []
        while self._inbox:
            found.append(self._inbox.popleft())
        return found

    def failure(self) -> str:
        """Why there is no loop any more; empty while there is."""
        return self._failure

    def close(self) -> None:
        """End the process."""
        self.send(Quit())
        self._process.join(_END)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _read(self) -> None:
        try:
            while True:
                news = self._connection.recv()
                self._inbox.append(news)
        except (EOFError, OSError):
            last = self._inbox[-1] if self._inbox else None
            self._failure = last.text if isinstance(last, Answer) and not last.accepted else _NEVER_SEEN
