"""Calling compiled kernels through their addresses from Numba's nopython code.

A kernel has CasADi's C signature

    int kernel(const double** arg, double** res, long long* iw, double* w, int mem)

`arg` and `res` are tables of data addresses (`array.ctypes.data`) of contiguous float64 arrays, matrices column-major; an
address may point into the middle of a larger array. Every entry must be set, none may be null. Kernels keep no state:
any number of threads may be inside one, each with its own data.

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
    tables, scratch = (arguments, results), (integer_work, work)
    if not isinstance(address, types.Integer):
        return None
    if not all(isinstance(one, types.BaseTuple | types.Array | types.Integer) for one in tables):
        return None
    if not all(isinstance(one, types.Array | types.Integer) for one in scratch):
        return None
    return types.int64(types.int64, arguments, results, integer_work, work), _generate


def _generate(context, builder, signature, values):
    """Code of one call."""
    pointer, word = ir.IntType(8).as_pointer(), ir.IntType(64)

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

    function_type = ir.FunctionType(ir.IntType(32), [pointer] * 4 + [ir.IntType(32)])
    function = builder.inttoptr(values[0], function_type.as_pointer())
    operands = [data(kind, value) for kind, value in zip(signature.args[1:], values[1:], strict=True)]
    status = builder.call(function, [*operands, ir.Constant(ir.IntType(32), _MEMORY_INDEX)])
    return builder.sext(status, word)
