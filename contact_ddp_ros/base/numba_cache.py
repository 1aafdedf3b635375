"""Folder of Numba's compiled code for this package: one per state of the sources.

Numba notices a change of the file that a compiled function stands in, but not of the files whose functions it calls,
and would go on using the old code. The folder's name therefore holds a fingerprint of all modules that are compiled or
called from compiled code. It lies in $NUMBA_CACHE_DIR, or in ~/.cache/contact_ddp_ros/numba, and may be deleted at any
time. Rooms with compiled code call :func:`use` before they define any.

Below that folder, a file's functions are found by its path within the package: the same sources at another place, a
wheel that was installed beside a checkout, compile nothing again.
"""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import UserProvidedCacheLocator

_ROOMS = ("base/compiled", "control", "dynamics", "mpc", "ocp", "robot")
"""Rooms whose modules hold compiled code."""

_PACKAGE = Path(__file__).parents[1]

_LOCATORS = ("UserProvided", "InTree", "UserWide", "IPython", "Zip")
"""Numba's own places, in its order, for functions that are none of this package's."""


class PackageCacheLocator(UserProvidedCacheLocator):
    """Finds what is cached of this package's functions, wherever the package lies."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The file's folder within the package."""
        return str(Path(py_file).parent.relative_to(_PACKAGE.parent))

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "PackageCacheLocator | None":
        """None for a function of somebody else's."""
        return super().from_function(py_func, py_file) if Path(py_file).is_relative_to(_PACKAGE) else None


@cache
def use() -> Path:
    """Point Numba at this package's folder; returns it. An unwritable one makes Numba compile anew in every process."""
    fingerprint = hashlib.sha256(numba.__version__.encode())
    for pattern in (f"{room}/**/*.py" for room in _ROOMS):
        for source in sorted(_PACKAGE.glob(pattern)):
            fingerprint.update(source.name.encode())
            fingerprint.update(source.read_bytes())
    given = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(given) if given else Path.home() / ".cache" / "contact_ddp_ros" / "numba"
    folder = base / fingerprint.hexdigest()[:16]
    numba.config.CACHE_DIR = str(folder)
    if not numba.config.CACHE_LOCATOR_CLASSES:
        ours = f"{PackageCacheLocator.__module__}.{PackageCacheLocator.__name__}"
        numba.config.CACHE_LOCATOR_CLASSES = ",".join((ours, *(f"{one}CacheLocator" for one in _LOCATORS)))
    return folder
