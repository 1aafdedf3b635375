"""Compiled kernels in memory: addresses for nopython code, and slow Python functions for tests."""

import ctypes
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import CompilerError, ParameterError

Array = NDArray[np.float64]

_KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
)


@dataclass(frozen=True)
class Block:
    """An argument or result: its name and its shape; column-major."""

    name: str
    rows: int
    columns: int


@dataclass(frozen=True)
class Kernel:
    """One kernel.

    Attributes:
        symbol: its name in the library.
        arguments, results: in the order of the call.
        n_instructions: operations, loads and stores of its expression graph.
    """

    symbol: str
    arguments: tuple[Block, ...]
    results: tuple[Block, ...]
    n_instructions: int

    def as_dict(self, name: str) -> dict[str, Any]:
        """Entry of a cache manifest."""
        return {"name": name, **asdict(self)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Kernel":
        """Read an entry of a cache manifest."""
        return cls(
            stored["symbol"],
            tuple(Block(**block) for block in stored["arguments"]),
            tuple(Block(**block) for block in stored["results"]),
            stored["n_instructions"],
        )


@dataclass(frozen=True)
class KernelSet:
    """Kernels by name; see `build_kernels` for the names and their arguments.

    Attributes:
        kernels: arguments and results of each kernel.
        addresses: of the functions, by symbol; valid while this object lives.
        work: (sz_arg, sz_res, sz_iw, sz_w) by symbol.
        native: whether they are machine code; CasADi interprets them otherwise.
        source: the library's file, None when interpreted.
        keep_alive: whatever owns the code at the addresses.
    """

    kernels: dict[str, Kernel]
    addresses: dict[str, int]
    work: dict[str, tuple[int, int, int, int]]
    native: bool
    source: Path | None
    keep_alive: Any = field(repr=False, default=None)

    @classmethod
    def of_library(cls, path: Path, kernels: dict[str, Kernel]) -> "KernelSet":
        """The kernels of a shared library; CompilerError where it cannot be loaded or lacks one."""
        try:
            library = ctypes.CDLL(str(path))
            symbols = {kernel.symbol for kernel in kernels.values()}
            addresses = {one: ctypes.cast(getattr(library, one), ctypes.c_void_p).value or 0 for one in symbols}
            work = {one: _work_size(library, one) for one in symbols}
        except (OSError, AttributeError) as error:
            raise CompilerError(f"cannot load the compiled kernels {path}: {error}; delete the file") from error
        return cls(kernels, addresses, work, True, path, library)

    def renamed(self, modes: Mapping[str, str]) -> "KernelSet":
        """Copy with other names of modes."""
        kernels = {}
        for name, kernel in self.kernels.items():
            level, slash, mode = name.partition("/")
            kernels[level + slash + modes.get(mode, mode)] = kernel
        return replace(self, kernels=kernels)

    def aliased(self, names: Mapping[str, str]) -> "KernelSet":
        """Copy in which some kernels have further names: those by which `names` has them."""
        return replace(self, kernels={**self.kernels, **{new: self.kernel(old) for new, old in names.items()}})

    def labelled(self, label: str) -> "KernelSet":
        """Copy whose symbols end with a label: for :meth:`merged` with kernels of another model."""
        return replace(
            self,
            kernels={name: replace(one, symbol=one.symbol + label) for name, one in self.kernels.items()},
            addresses={symbol + label: address for symbol, address in self.addresses.items()},
            work={symbol + label: sizes for symbol, sizes in self.work.items()},
        )

    def merged(self, other: "KernelSet") -> "KernelSet":
        """The kernels of both: of a symbol that both have either function must serve."""
        return KernelSet(
            {**self.kernels, **other.kernels},
            {**self.addresses, **other.addresses},
            {**self.work, **other.work},
            self.native and other.native,
            self.source,
            (self.keep_alive, other.keep_alive),
        )

    def __deepcopy__(self, _memo: dict[int, Any]) -> "KernelSet":
        """The object itself: code in memory has no state, so copies share it."""
        return self

    def __iter__(self) -> Iterator[str]:
        """Names of all kernels."""
        return iter(self.kernels)

    def kernel(self, name: str) -> Kernel:
        """Shapes of a kernel; ParameterError for an unknown name."""
        if name not in self.kernels:
            raise ParameterError(f"no kernel {name!r}; there are {sorted(self.kernels)}")
        return self.kernels[name]

    @property
    def n_shared(self) -> int:
        """Largest number of values that a kernel `first` leaves for `second`."""
        results = (one for kernel in self.kernels.values() for one in kernel.results)
        return max((one.rows for one in results if one.name == "shared"), default=0)

    def address(self, name: str) -> int:
        """Address of a kernel's function, for :func:`contact_ddp_ros.base.compiled.call.call_kernel`."""
        return self.addresses[self.kernel(name).symbol]

    def work_size(self, name: str) -> tuple[int, int, int, int]:
        """Lengths of a kernel's tables and scratch (sz_arg, sz_res, sz_iw, sz_w)."""
        return self.work[self.kernel(name).symbol]

    def python(self, name: str) -> Callable[..., tuple[Array, ...]]:
        """A kernel as a function of arrays to a tuple of arrays, vectors flat; slow, for tests and set-up."""
        kernel, function = self.kernel(name), _KERNEL(self.address(name))
        sz_arg, sz_res, sz_iw, sz_w = self.work_size(name)

        def call(*arguments: Any) -> tuple[Array, ...]:
            if len(arguments) != len(kernel.arguments):
                raise ParameterError(f"kernel {name} takes {len(kernel.arguments)} arguments, got {len(arguments)}")
            given = []
            for value, block in zip(arguments, kernel.arguments, strict=True):
                flat = np.array(value, dtype=np.float64).ravel(order="F")
                if flat.size != block.rows * block.columns:
                    raise ParameterError(f"kernel {name}: {block.name} has {flat.size} entries, expected {block}")
                given.append(flat)
            taken = [np.empty(block.rows * block.columns) for block in kernel.results]
            tables = [np.zeros(max(size, 1), dtype=np.int64) for size in (sz_arg, sz_res, sz_iw)]
            tables[0][: len(given)] = [one.ctypes.data for one in given]
            tables[1][: len(taken)] = [one.ctypes.data for one in taken]
            scratch = np.zeros(max(sz_w, 1))
            if function(*[table.ctypes.data for table in tables], scratch.ctypes.data, 0) != 0:
                raise CompilerError(f"kernel {name} reported a failure")
            return tuple(
                one if block.columns == 1 else one.reshape((block.rows, block.columns), order="F")
                for one, block in zip(taken, kernel.results, strict=True)
            )

        return call


def _work_size(library: ctypes.CDLL, symbol: str) -> tuple[int, int, int, int]:
    sizes = [ctypes.c_longlong() for _ in range(4)]
    getattr(library, f"{symbol}_work")(*[ctypes.byref(one) for one in sizes])
    arg, res, iw, w = (one.value for one in sizes)
    return arg, res, iw, w
