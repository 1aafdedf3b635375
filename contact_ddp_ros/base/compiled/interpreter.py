"""Kernels without a C compiler: CasADi's own interpreter behind the same addresses and signatures.

CasADi's library evaluates serialised functions through its C interface, `casadi_c_eval_id(id, arg, res, iw, w, mem)`; a
small entry point per function, compiled by Numba, binds the id and provides the scratch memory. Any number of threads
may be inside one. An evaluation takes several times as long as the compiled kernel.
"""

import ctypes
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import casadi as cs
import numba
import numpy as np

from contact_ddp_ros.base.compiled.call import call_with_id
from contact_ddp_ros.base.compiled.kernel_set import Kernel, KernelSet
from contact_ddp_ros.base.errors import CompilerError

_SIGNATURE = numba.types.int32(
    numba.types.intp, numba.types.intp, numba.types.intp, numba.types.intp, numba.types.int32
)


def interpret(functions: Mapping[str, cs.Function], kernels: Mapping[str, Kernel]) -> KernelSet:
    """The kernels of CasADi functions by symbol; `kernels` names them.

    Raises:
        CompilerError: CasADi's library cannot be reached.
    """
    library = _casadi_library()
    first = library.casadi_c_n_loaded()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "functions.casadi"
        serializer = cs.FileSerializer(str(path), {})
        serializer.pack(list(functions.values()))
        del serializer  # writes the rest of the file
        if library.casadi_c_push_file(str(path).encode()) != 0:
            raise CompilerError("CasADi cannot read back its own functions; reinstall the casadi package")
    evaluate = ctypes.cast(library.casadi_c_eval_id, ctypes.c_void_p).value or 0
    entries, addresses, work = [], {}, {}
    for index, (symbol, function) in enumerate(functions.items(), start=first):
        entry = _entry_point(evaluate, index, function.sz_iw(), function.sz_w())
        entries.append(entry)
        addresses[symbol] = int(entry.address)
        work[symbol] = function.sz_arg(), function.sz_res(), 0, 0
    return KernelSet(dict(kernels), addresses, work, native=False, source=None, keep_alive=(library, entries))


def _entry_point(evaluate: int, index: int, sz_iw: int, sz_w: int) -> Any:
    """A C function of a kernel's signature that evaluates one loaded function."""

    @numba.cfunc(_SIGNATURE)
    def entry(arguments, results, integer_work, work, memory):  # type: ignore[no-untyped-def]
        integers = np.empty(sz_iw + 1, dtype=np.int64)
        reals = np.empty(sz_w + 1, dtype=np.float64)
        return call_with_id(evaluate, index, arguments, results, integers, reals)

    return entry


def _casadi_library() -> ctypes.CDLL:
    """The library that the casadi module has loaded."""
    folder = Path(cs.__file__).parent
    try:
        maps = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        maps = []
    loaded = [line.split()[-1] for line in maps if "/libcasadi.so" in line]
    try:
        return ctypes.CDLL(loaded[0] if loaded else str(folder / "libcasadi.so"))
    except OSError as error:
        raise CompilerError(f"cannot load CasADi's library: {error}; reinstall the casadi package") from error
