"""A problem's functions by address, which compiled loops turn into first-class functions again.

Handed over as a function, or as an object with an address, a compiled function costs some 35 µs per call of a loop, in
which Numba holds the interpreter lock to unpickle the signature and to look the type up. An integer costs nothing.
"""

from functools import cache
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic


@cache
def node_function(function: Any, signature: Any) -> int:
    """Address of the code that Numba has compiled, or now compiles, for a signature; valid while `function` lives."""
    compiled = function.get_compile_result(signature)
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def function_at(kind: types.FunctionType) -> Any:
    """An intrinsic that makes a first-class function of this type from its address. Only from nopython code."""

    @intrinsic
    def at(typing_context, address):
        def generate(context, builder, signature, values):
            function = cgutils.create_struct_proxy(kind)(context, builder)
            null = context.get_constant_null(types.voidptr)
            function.c_addr = null
            function.py_addr = null
            function.jit_addr = builder.inttoptr(values[0], null.type)
            return function._getvalue()

        return kind(types.int64), generate

    return at
