"""Call a compiled CasADi kernel by its address from Numba code.

The address is run-time data, so the calling code compiles once, caches on disk and serves any kernel. A kernel has
CasADi's C signature

    int f(const double **arg, double **res, long long *iw, double *w, int mem)

and is called with the addresses of its argument and result arrays (`array.ctypes.data`), which stay on the stack: a
call allocates nothing.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def call_kernel(typingctx, address, arguments, results, integer_work, work):
    """Status of the kernel at `address` (int64); `arguments` and `results` are tuples of int64 addresses.

    integer_work and work are the addresses of the kernel's work arrays (0 where it needs none).
    """
    signature = types.int64(address, arguments, results, integer_work, work)

    def codegen(context, builder, signature, values):
        address, arguments, results, integer_work, work = values
        word, double = ir.IntType(64), ir.DoubleType()
        real_pointer = double.as_pointer()

        def pointers(pack, count):
            slots = cgutils.alloca_once(builder, real_pointer, size=max(count, 1))
            for i in range(count):
                pointer = builder.inttoptr(builder.extract_value(pack, i), real_pointer)
                builder.store(pointer, builder.gep(slots, [ir.Constant(word, i)]))
            return slots

        function_type = ir.FunctionType(
            ir.IntType(32),
            [real_pointer.as_pointer(), real_pointer.as_pointer(), word.as_pointer(), real_pointer, ir.IntType(32)],
        )
        function = builder.inttoptr(address, function_type.as_pointer())
        status = builder.call(
            function,
            [
                pointers(arguments, signature.args[1].count),
                pointers(results, signature.args[2].count),
                builder.inttoptr(integer_work, word.as_pointer()),
                builder.inttoptr(work, real_pointer),
                ir.Constant(ir.IntType(32), 0),
            ],
        )
        return builder.sext(status, word)

    return signature, codegen
