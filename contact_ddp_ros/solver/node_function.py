"""A problem's functions as ready addresses: Numba otherwise looks a function up by its types at every single call."""

from functools import cache
from typing import Any

from numba.core import types


class NodeFunction(types.WrapperAddressProtocol):
    """One compiled function of a known signature, by Numba's wrapper-address protocol."""

    def __init__(self, function, signature) -> None:
        """`function` is one that Numba has compiled, or now compiles, for `signature`."""
        compiled = function.get_compile_result(signature)
        self._function = function
        self._signature = signature
        self._address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        """Address of the compiled function."""
        return self._address

    def signature(self) -> Any:
        """Its signature."""
        return self._signature


@cache
def node_function(function, signature):
    """The ready address of a function of a problem, looked up once."""
    return NodeFunction(function, signature)
