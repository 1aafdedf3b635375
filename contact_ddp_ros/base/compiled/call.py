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
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

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
