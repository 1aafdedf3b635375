"""Calling compiled kernels through their addresses from Numba's nopython code.

A kernel has CasADi's C signature

    int kernel(const double** arg, double** res, long long* iw, double* w, int mem)

`arg` and `res` are tables of data addresses (`array.ctypes.data`) of contiguous float64 arrays, matrices column-major;
an address may point into the middle of a larger array. Every entry must be set, none may be null. Kernels keep no
state: any number of threads may be inside one, each with its own data.

    @numba.njit("int64(int64, float64[::1], float64[::1])", cache=True, nogil=True)
    def evaluate(address, x, y):
        return call_kernel(address, (x.ctypes.data,), (y.ctypes.data,), 0, 0)

With an explicit signature and cache=True a later process compiles nothing: addresses are arguments, never constants.

Kernels without a C compiler: CasADi's own interpreter behind the same addresses and signatures.

CasADi's library evaluates serialised functions through its C interface, `casadi_c_eval_id(id, arg, res, iw, w, mem)`; a
small entry point per function, compiled by Numba, binds the id and provides the scratch memory. Any number of threads
may be inside one. An evaluation takes several times as long as the compiled kernel.
"""

import ctypes
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from contact_ddp_ros.base.compiled.kernel_set import Kernel, KernelSet
from contact_ddp_ros.base.errors import CompilerError

if TYPE_CHECKING:
    import casadi as cs

_MEMORY_INDEX = 0
"""CasADi's `mem`; kernels without state ignore it."""


@intrinsic
def call_kernel(typing_context, address, arguments, results, integer_work, work):
    """Status of the kernel at `address` (int64), nonzero where it failed. Only from nopython code.

    arguments, results: data addresses as a tuple, whose table then stays on the stack, or a table made beforehand: a
    contiguous int64 array, or the address of its data. integer_work, work: scratch of the sizes that
    `KernelSet.work_size` tells, as arrays or addresses; 0 where the kernel needs none.
    """
    if not (isinstance(address, types.Integer) and _is_data(arguments, results, integer_work, work)):
        return None
    return types.int64(types.int64, arguments, results, integer_work, work), _generate


@intrinsic
def call_with_id(typing_context, address, index, arguments, results, integer_work, work):
    """Variant of :func:`call` for a function at `address` that takes an int `index` before a kernel's arguments."""
    if not isinstance(address, types.Integer) or not isinstance(index, types.Integer):
        return None
    if not _is_data(arguments, results, integer_work, work):
        return None
    return types.int64(types.int64, types.int32, arguments, results, integer_work, work), _generate


def _is_data(*operands):
    """True if the types can be tables or scratch."""
    return all(isinstance(one, types.BaseTuple | types.Array | types.Integer) for one in operands)


def _generate(context, builder, signature, values):
    """Code of one call; an operand between the address and the four pointers is an int."""
    pointer, word, integer = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)

    def data(kind, value):
        if isinstance(kind, types.Array):
            return builder.bitcast(context.make_array(kind)(context, builder, value).data, pointer)
        if isinstance(kind, types.BaseTuple):
            slots = cgutils.alloca_once(builder, word, size=max(len(kind), 1))
            for i, item in enumerate(kind.types):
                entry = context.cast(builder, builder.extract_value(value, i), item, types.int64)
                builder.store(entry, builder.gep(slots, [ir.Constant(word, i)]))
            return builder.bitcast(slots, pointer)
        return builder.inttoptr(context.cast(builder, value, kind, types.int64), pointer)

    n_data = 4
    leading = list(values[1:-n_data])
    function_type = ir.FunctionType(integer, [integer] * len(leading) + [pointer] * n_data + [integer])
    function = builder.inttoptr(values[0], function_type.as_pointer())
    tables = [data(kind, value) for kind, value in zip(signature.args[-n_data:], values[-n_data:], strict=True)]
    status = builder.call(function, [*leading, *tables, ir.Constant(integer, _MEMORY_INDEX)])
    return builder.sext(status, word)


_SIGNATURE = numba.types.int32(
    numba.types.intp, numba.types.intp, numba.types.intp, numba.types.intp, numba.types.int32
)


def interpret(functions: "Mapping[str, cs.Function]", kernels: Mapping[str, Kernel]) -> KernelSet:
    """The kernels of CasADi functions by symbol; `kernels` names them.

    Raises:
        CompilerError: CasADi's library cannot be reached.
    """
    import casadi  # not for a solver without kernels of CasADi

    library = _casadi_library(Path(casadi.__file__).parent)
    first = library.casadi_c_n_loaded()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "functions.casadi"
        serializer = casadi.FileSerializer(str(path), {})
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


def _casadi_library(folder: Path) -> ctypes.CDLL:
    """The library that the casadi module, of a folder, has loaded."""
    try:
        maps = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        maps = []
    loaded = [line.split()[-1] for line in maps if "/libcasadi.so" in line]
    try:
        return ctypes.CDLL(loaded[0] if loaded else str(folder / "libcasadi.so"))
    except OSError as error:
        raise CompilerError(f"cannot load CasADi's library: {error}; reinstall the casadi package") from error
