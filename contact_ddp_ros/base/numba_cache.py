"""Folder of Numba's compiled code for this package: one per state of the sources.

Numba notices a change of the file that a compiled function stands in, but not of the files whose functions it calls,
and would go on using the old code. The folder's name therefore holds a fingerprint of all modules that are compiled or
called from compiled code. It lies in $NUMBA_CACHE_DIR, or in ~/.cache/contact_ddp_ros/numba, and may be deleted at any
time.

Kernels are declared with :func:`njit`. Each is loaded, or compiled where nothing is kept, at its first use: a program
waits for those that it calls, not for those that it imports. Loops that may not wait call :func:`load` before.

Below that folder, a file's functions are found by its path within the package: the same sources at another place, a
wheel that was installed beside a checkout, compile nothing again.

What is compiled for longer than a moment is logged.
"""

import gc
import hashlib
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event, typeinfer
from numba.core.caching import UserProvidedCacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import overload
from numba.np import arrayobj

_LOG = logging.getLogger(__name__)

ROOMS = ("base/compiled", "control", "dynamics", "mpc", "ocp", "robot")
"""Rooms whose modules hold compiled code."""

_PACKAGE = Path(__file__).parents[1]

_LOCATORS = ("UserProvided", "InTree", "UserWide", "IPython", "Zip")
"""Numba's own places, in its order, for functions that are none of this package's."""


_COLLECTION = 100_000, 20, 20
"""Thresholds of the garbage collector while kernels are loaded: compilation allocates a lot that lives on."""


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


class CompilationLog(event.Listener):  # type: ignore[misc]
    """Log of Numba's compilations: a line every few seconds while they go on, with their number and time."""

    PERIOD = 4.0
    """Time between two lines, and before the first [s]."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives the time [s]."""
        self._clock = clock
        self._count = self._depth = 0
        self._begun = self._told = self._ended = -math.inf

    def on_start(self, event: object) -> None:
        """Begin to count anew where nothing was compiled for a while."""
        now = self._clock()
        if not self._depth and now - self._ended > self.PERIOD:
            self._count, self._begun, self._told = 0, now, now
        self._depth += 1

    def on_end(self, event: object) -> None:
        """Count one more, and say so where that is due."""
        self._ended = now = self._clock()
        self._count, self._depth = self._count + 1, self._depth - 1
        if now - self._told >= self.PERIOD:
            self._told = now
            said = "compiling for this processor, kept for later starts: %d kernels in %.0f s"
            _LOG.info(said, self._count, now - self._begun)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """Function with declared signatures that Numba compiles, or loads from the cache, at its first use."""

    declared: Sequence[Any] = ()
    """Signatures that are still to be loaded."""

    def load(self) -> None:
        """Load it for its signatures, the only ones that it will ever have."""
        with global_compiler_lock:
            if self.declared:
                with _rare_collection(), typeinfer.register_dispatcher(self):
                    for signature in self.declared:
                        self.compile(signature)
                self.declared = ()
                self.disable_compile()

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Callable for a call from Python before the first load: this kernel, loaded."""
        self.load()
        return self

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Typing template for a call from another compiled function."""
        self.load()
        return super().get_call_template(args, kws)

    def get_compile_result(self, sig: Any) -> Any:
        """Compilation result for a signature."""
        self.load()
        return super().get_compile_result(sig)


@contextmanager
def _rare_collection() -> Iterator[None]:
    kept = gc.get_threshold()
    gc.set_threshold(*_COLLECTION)
    try:
        yield
    finally:
        gc.set_threshold(*kept)


def _unequal_shapes(source: Any, target: Any) -> None:
    """Error of an array that is assigned to a slice of another shape."""


@overload(_unequal_shapes)  # type: ignore[untyped-decorator]
def _raise_unequal_shapes(source: Any, target: Any) -> Any:
    def said(source: Any, target: Any) -> None:
        raise ValueError("cannot assign slice from input of different size")

    return said


_kernels: list[Kernel] = []


def njit(*signatures: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator for a function that is compiled for these signatures at its first use, and kept; options as Numba's.

    Without a signature it is compiled with its callers, for what they call it with, and kept with them.
    """

    def declare(function: Callable[..., Any]) -> Any:
        use()
        if numba.config.DISABLE_JIT or not signatures:
            return numba.njit(function, no_cfunc_wrapper=True, **options)
        kernel = Kernel(
            function, targetoptions={"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True, **options}
        )
        kernel.declared = signatures
        kernel.enable_caching()
        _kernels.append(kernel)
        return kernel

    return declare


def load(*rooms: str) -> None:
    """Load, or compile, every kernel of these rooms (`control`, say) whose module is imported."""
    for kernel in _kernels:
        if kernel.__module__.split(".")[1] in rooms:
            kernel.load()


def is_empty() -> bool:
    """True if nothing is compiled yet."""
    return next(use().rglob("*.nbi"), None) is None


def interpret() -> None:
    """Have this process interpret kernels instead of compiling them: it starts sooner.

    For programs that call few kernels and seldom. Nothing changes where kernels are imported already, since compiled
    ones call no interpreted ones.
    """
    if not use.cache_info().currsize:
        numba.config.DISABLE_JIT = 1


@cache
def use() -> Path:
    """Point Numba at this package's folder; returns it. An unwritable one makes Numba compile anew in every process."""
    fingerprint = hashlib.sha256(numba.__version__.encode())
    for pattern in (f"{room}/**/*.py" for room in ROOMS):
        for source in sorted(_PACKAGE.glob(pattern)):
            fingerprint.update(source.name.encode())
            fingerprint.update(source.read_bytes())
    given = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(given) if given else Path.home() / ".cache" / "contact_ddp_ros" / "numba"
    folder = base / fingerprint.hexdigest()[:16]
    numba.config.CACHE_DIR = str(folder)
    event.register("numba:compile", CompilationLog())
    # Numba's own error prints both shapes, and takes its string functions into every kernel that assigns slices.
    arrayobj.raise_with_shape_context = _unequal_shapes
    if not numba.config.CACHE_LOCATOR_CLASSES:
        ours = f"{PackageCacheLocator.__module__}.{PackageCacheLocator.__name__}"
        numba.config.CACHE_LOCATOR_CLASSES = ",".join((ours, *(f"{one}CacheLocator" for one in _LOCATORS)))
    return folder
