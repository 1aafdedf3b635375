"""Where Numba keeps what it compiled for this package: one folder per state of the sources.

Numba notices a change of the file that a compiled function stands in, but not of the files whose functions it calls,
and would go on using the old code. The folder's name therefore holds a fingerprint of all modules that are compiled or
called from compiled code. It lies in $NUMBA_CACHE_DIR, or in ~/.cache/contact_ddp_ros/numba, and may be deleted at any
time. Rooms with compiled code call :func:`use` before they define any.
"""

import hashlib
import os
from functools import cache
from pathlib import Path

import numba

_ROOMS = ("control", "dynamics", "mpc", "robot", "solver")
"""Rooms whose modules hold compiled code."""


@cache
def use() -> Path:
    """Point Numba at this package's folder; returns it. An unwritable one makes Numba compile anew in every process."""
    package = Path(__file__).parent
    fingerprint = hashlib.sha256(numba.__version__.encode())
    for pattern in ("policy.py", *(f"{room}/*.py" for room in _ROOMS)):
        for source in sorted(package.glob(pattern)):
            fingerprint.update(source.name.encode())
            fingerprint.update(source.read_bytes())
    given = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(given) if given else Path.home() / ".cache" / "contact_ddp_ros" / "numba"
    folder = base / fingerprint.hexdigest()[:16]
    numba.config.CACHE_DIR = str(folder)
    return folder
