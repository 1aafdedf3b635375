"""Stepping, pausing and resetting Gazebo's world, from a process of its own.

Requests of Gazebo's Python bindings hold the interpreter's lock while they wait, so whoever also listens makes them
elsewhere. The helper is a child of ours: it takes one request a line on its standard input and answers each with a line
(:mod:`contact_ddp_ros.plants.gazebo.world_control`). Both carry the request's number, so that an answer that comes
after its time-out is not taken for the next one's. The helper also has the last word: however we end, the system closes
the pipe, and the helper tells every joint zero effort before it ends, for Gazebo's joints hold what they were told last
for ever.

In gz.msgs.WorldControl an unset `pause` lets time run: every request says what it wants of it.

The helper of :class:`contact_ddp_ros.plants.gazebo.world_control.ControlProcess`: one request a line, one answer a
line.

    python -m contact_ddp_ros.plants.gazebo.world_control BINDINGS WORLD MODEL

When its standard input ends, it tells every joint zero effort and ends; signals do not end it before that.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time as clock
from dataclasses import asdict, dataclass
from pathlib import Path
from select import select
from typing import Any, Protocol

from contact_ddp_ros.base.errors import ContactDdpError, GazeboError
from contact_ddp_ros.plants.gazebo.bindings import Bindings, Node
from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.plants.gazebo.efforts import Efforts
from contact_ddp_ros.plants.gazebo.transport import load_bindings

_PATIENCE = 5.0
"""Time that a request or an orderly end may take [s]."""

_START = 60.0
"""Time in which the helper must have imported the bindings [s]."""

_LEAVING = 2.0
"""Time for which a bridge that is ending is waited for [s]."""

_LOOK = 0.05
"""Time between two attempts [s]."""


@dataclass(frozen=True)
class WorldRequest:
    """A request to the world.

    Attributes:
        pause: whether time stands afterwards.
        steps: physics steps to make although it stands.
        reset: whether to begin again: time at zero, everything where the file puts it.
    """

    pause: bool
    steps: int = 0
    reset: bool = False


class WorldControl(Protocol):
    """Interface that passes requests to the world."""

    def ask(self, request: WorldRequest, timeout: float = _PATIENCE) -> None:
        """Send a request and wait for its acceptance; its steps have not been made yet then.

        Raises:
            GazeboError: no server accepts it within `timeout` [s].
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class DirectControl:
    """Requests made by this process: for the helper, and where a request does not hold the interpreter's lock."""

    def __init__(self, bindings: Bindings, names: Names, node: Node) -> None:
        self._bindings = bindings
        self._names = names
        self._node = node

    def ask(self, request: WorldRequest, timeout: float = _PATIENCE) -> None:
        """See :class:`WorldControl`."""
        messages = self._bindings.messages
        message = messages.WorldControl()
        message.pause = request.pause
        message.multi_step = request.steps
        if request.reset:
            message.reset.all = True
        service, milliseconds = self._names.control, max(1, round(1e3 * timeout))
        answered, answer = self._node.request(service, message, messages.WorldControl, messages.Boolean, milliseconds)
        if not answered:
            raise GazeboError(
                f"no Gazebo server answers on {service} within {timeout:g} s; is one running with that world, with the "
                f"same GZ_PARTITION ({os.environ.get('GZ_PARTITION', 'not set')}), GZ_IP "
                f"({os.environ.get('GZ_IP', 'not set')}) and release ({self._bindings.name})?"
            )
        if not answer.data:
            raise GazeboError(f"Gazebo refuses {request} on {service}")

    def close(self) -> None:
        """Do nothing: there is no resource to release."""


class ControlProcess:
    """Requests made by a helper; use it as a context manager, or call :meth:`close`."""

    def __init__(self, bindings: str, names: Names) -> None:
        """Start the helper with the bindings of that name.

        Raises:
            GazeboError: it does not come up.
        """
        root = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        self._child: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-m", "contact_ddp_ros.plants.gazebo.world_control", bindings, names.world, names.model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C is ours to pass on
        )
        self._buffer = b""
        self._number = 0
        try:
            self._read(_START)
        except GazeboError:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Process id of the helper."""
        return self._child.pid

    def ask(self, request: WorldRequest, timeout: float = _PATIENCE) -> None:
        """See :class:`WorldControl`."""
        self._number += 1
        line = json.dumps({"number": self._number, "timeout": timeout, "request": asdict(request)})
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(line.encode() + b"\n")
            self._child.stdin.flush()
        except (OSError, ValueError) as error:
            raise GazeboError(f"the helper that controls Gazebo's world has ended: {error}") from error
        self._read(timeout + _PATIENCE)

    def close(self) -> None:
        """Have the helper publish zero effort and exit."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def __enter__(self) -> "ControlProcess":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _read(self, timeout: float) -> None:
        """Wait for the answer to the last request; raise GazeboError with its text where it is not a good one."""
        deadline = clock.monotonic() + timeout
        answer: dict[str, Any] = {}
        while answer.get("number") != self._number:  # answers to requests that were given up come before
            answer = json.loads(self._line(deadline))
        if answer["error"]:
            raise GazeboError(str(answer["error"]))

    def _line(self, deadline: float) -> bytes:
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        while b"\n" not in self._buffer:
            if not select([descriptor], [], [], max(0.0, deadline - clock.monotonic()))[0]:
                raise GazeboError("the helper that controls Gazebo's world does not answer in time")
            read = os.read(descriptor, 4096)
            if not read:
                raise GazeboError(f"the helper that controls Gazebo's world ended with code {self._child.wait()}")
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


class WorldClaim:
    """Exclusive lock of this process on a world: two bridges would send conflicting efforts, steps and resets.

    The file is named after user, GZ_PARTITION and world. The operating system releases the lock however the process
    ends. Bridges on other machines are not detected.
    """

    def __init__(self, names: Names, patience: float = _LEAVING) -> None:
        """Acquire the lock, trying for `patience` [s].

        Raises:
            GazeboError: another process has it.
        """
        path = _lock_file(names)
        # Not truncated before it is locked: it names the process that has the world.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = clock.monotonic() + patience
        while not _locked(self._file):
            if clock.monotonic() >= deadline:
                owner = os.read(self._file, 32).decode(errors="replace").strip()
                os.close(self._file)
                raise GazeboError(
                    f"process {owner} drives the robot of the world {names.world!r} already (partition "
                    f"{os.environ.get('GZ_PARTITION', 'default')!r}); end that bridge, or start a server of its own "
                    "for this one, with another GZ_PARTITION"
                )
            clock.sleep(_LOOK)
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Release the lock."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> "WorldClaim":
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


def _lock_file(names: Names) -> Path:
    text = f"{os.environ.get('GZ_PARTITION', 'default')}_{names.world}"
    safe = "".join(letter if letter.isalnum() else "_" for letter in text)
    return Path(tempfile.gettempdir(), f"contact_ddp_gazebo_{os.getuid()}_{safe}.lock")


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


_DISCOVERY = 0.5
"""Time in which the joints' subscriptions and these publishers find each other [s]."""


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # What the bindings may print must not mix with the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    name, world, model = sys.argv[1:] if arguments is None else arguments
    started = clock.monotonic()
    try:
        bindings, names = load_bindings(name), Names(world, model)
        node = bindings.node()
        control, efforts = DirectControl(bindings, names, node), Efforts(bindings, names, node)
    except ContactDdpError as error:
        _answer(answers, 0, str(error))
        return 1
    _answer(answers, 0, "")
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin:
            asked = json.loads(line)
            failure = ""
            try:
                control.ask(WorldRequest(**asked["request"]), asked["timeout"])
            except ContactDdpError as error:
                failure = str(error)
            _answer(answers, asked["number"], failure)
    clock.sleep(max(0.0, _DISCOVERY - (clock.monotonic() - started)))
    efforts.shutdown()
    return 0


def _answer(answers: Any, number: int, error: str) -> None:
    """Say how the request of that number went; number 0 is the start."""
    answers.write(json.dumps({"number": number, "error": error}) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
