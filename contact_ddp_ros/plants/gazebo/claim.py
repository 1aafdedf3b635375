"""File lock that allows one bridge per world: two would send conflicting efforts, steps and resets.

The file is named after user, GZ_PARTITION and world. The operating system releases the lock however the process ends.
Bridges on other machines are not detected.
"""

import fcntl
import os
import tempfile
import time as clock
from pathlib import Path

from contact_ddp_ros.base.errors import GazeboError
from contact_ddp_ros.plants.gazebo.names import Names

_PATIENCE = 2.0
"""Time for which a bridge that is ending is waited for [s]."""

_LOOK = 0.05
"""Time between two attempts [s]."""


class WorldClaim:
    """Exclusive lock of this process on a world."""

    def __init__(self, names: Names, patience: float = _PATIENCE) -> None:
        """Acquire the lock, trying for `patience` [s].

        Raises:
            GazeboError: another process has it.
        """
        path = _path(names)
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


def _path(names: Names) -> Path:
    text = f"{os.environ.get('GZ_PARTITION', 'default')}_{names.world}"
    safe = "".join(letter if letter.isalnum() else "_" for letter in text)
    return Path(tempfile.gettempdir(), f"contact_ddp_gazebo_{os.getuid()}_{safe}.lock")


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
