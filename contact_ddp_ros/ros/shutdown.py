"""Shutdown of a node by SIGINT and SIGTERM at once, whatever the main thread is doing.

Python runs a signal handler in the main thread, between two bytecodes of whatever that thread does. There it must not
take a lock: a second Ctrl-C in the middle of `threading.Event.set` would wait for that event's own lock for ever. It
comes late where the main thread waits in C, and an exception that it raises in a destructor or in a callback of a
compiled library is lost. So a thread of its own carries out the request to end, woken through a socket by the part of
the handler that is in C (:func:`signal.set_wakeup_fd`). The main thread is interrupted, by KeyboardInterrupt, only
while it builds objects that are not in use yet.

A process that has not ended some time after the request hangs. It logs where, and SIGALRM, which needs neither a thread
nor the interpreter's lock, ends it.
"""

import contextlib
import ctypes
import faulthandler
import os
import signal
import socket
import time as clock
from collections.abc import Callable, Iterator
from threading import Thread
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_BUILD_PATIENCE = 1.5
"""Longest time from a signal to the end of a process that builds; no robot depends on it yet [s]."""

_PATIENCE = 4.5
"""Longest time from a signal to the end of a process [s]; `ros2 launch` sends SIGTERM after 5 s, SIGKILL after 10 s."""

_LAST_LOOK = 0.5
"""Time before that at which the places where the threads hang are printed [s]."""

_LOOK = 0.05
"""Time between two looks at whether a build has ended [s]."""

_NO_SIGNAL = b"\0"
"""Byte that goes through the socket where the process ends without a signal."""


_current: "list[Shutdown]" = []
"""The context in force, if any: signals belong to the process."""


class Shutdown:
    """A context in which the first signal calls `request` in another thread. For the main thread."""

    def __init__(self, request: Callable[[], None]) -> None:
        self._request = request
        self._building = 0
        self._asked = False
        self._interrupted = False
        self._over = False
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._thread = Thread(target=self._attend, name="signals", daemon=True)

    def __enter__(self) -> "Shutdown":
        """Hear signals from now on."""
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)
        self._thread.start()
        _current.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The end has come: nothing hangs. Signals remain ignored."""
        self.close()
        _current.remove(self)
        self._over = True
        self._thread.join()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        faulthandler.cancel_dump_traceback_later()
        signal.set_wakeup_fd(-1)
        self._reader.close()
        self._writer.close()

    def close(self) -> None:
        """Ignore further signals and start the time limit for the process to end, unless it is running."""
        self._building = 0
        for number in _SIGNALS:
            _ignore(number)
        with contextlib.suppress(BlockingIOError):
            self._writer.send(_NO_SIGNAL)

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Context manager: a signal raises KeyboardInterrupt, at once if it has already arrived."""
        self._building += 1
        try:
            if self._asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._building -= 1

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Interrupt what is built; once, as a second signal must not disturb how that ends."""
        self._asked = True
        if self._building and not self._interrupted:
            self._interrupted = True
            raise KeyboardInterrupt

    def _attend(self) -> None:
        """Wait for the first signal, pass the request on, and see to it that the process ends."""
        by_signal = self._reader.recv(1) != _NO_SIGNAL
        if self._over:
            return
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
        with contextlib.suppress(RuntimeError, ValueError):  # there is no standard error to print to
            faulthandler.dump_traceback_later(_PATIENCE - _LAST_LOOK)
        if not by_signal:
            return
        self._asked = True
        self._request()
        deadline = clock.monotonic() + _BUILD_PATIENCE
        while self._building and clock.monotonic() < deadline:
            clock.sleep(_LOOK)
        if self._building:
            os._exit(0)


def _ignore(number: int) -> None:
    """Ignore a signal from now on, without a word about one that is arriving.

    Python prints a traceback of a signal that has arrived and whose handler it finds replaced by SIG_IGN. So the
    system ignores it first; :func:`signal.signal` then calls the handler of one that arrived before, and replaces it.
    """
    install = ctypes.PyDLL(None).signal
    install.argtypes, install.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    install(number, int(signal.SIG_IGN))
    signal.signal(number, signal.SIG_IGN)


def building() -> contextlib.AbstractContextManager[None]:
    """Context manager for building objects that are not in use yet: a signal raises KeyboardInterrupt."""
    return _current[-1].building() if _current else contextlib.nullcontext()
