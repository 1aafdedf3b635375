"""CasADi functions as compiled kernels: one shared library per set of functions, built once and cached.

The cache is keyed by the C that CasADi makes of the functions, its version, the processor and the compiler. Where there
is no C compiler, a library that an earlier run left for this processor still serves; without one, CasADi's own
interpreter takes over with a warning (:mod:`contact_ddp_ros.base.compiled.call`).
"""

import importlib.metadata
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import casadi as cs

from contact_ddp_ros.base.compiled import cache
from contact_ddp_ros.base.compiled.call import interpret
from contact_ddp_ros.base.compiled.compiler import Compiler, Progress, compile_library, find_compiler
from contact_ddp_ros.base.compiled.kernel_set import Block, Kernel, KernelSet
from contact_ddp_ros.base.compiled.split_functions import in_parts
from contact_ddp_ros.base.errors import CompilerError

_LOG = logging.getLogger(__name__)

Build = Callable[[], cs.Function]
Functions = Mapping[str, tuple[str, Build]]
"""Kernels by name: (symbol, builder of the CasADi function of that symbol)."""

Code = tuple[dict[str, str], dict[str, Kernel]]
"""C by translation unit, and the kernels in it by name."""


def compile_functions(
    functions: Iterable[cs.Function], *, fallback: bool = True, progress: Progress | None = None
) -> KernelSet:
    """Kernels of CasADi functions, under the functions' own names, from the cache or compiled now.

    Arguments and results are those of the functions, whose outputs must be dense: float64, matrices column-major.

    Args:
        functions: with names that are all different.
        fallback: let CasADi interpret what cannot be compiled, with a warning; raise otherwise.
        progress: receives a line of text for every step of a cold build.

    Raises:
        CompilerError: there is no working C compiler, no library from an earlier run, and `fallback` is off.
    """
    built = {function.name(): function for function in functions}
    content = cache.content_key(origin(), {name: c_source(function) for name, function in built.items()})
    ready = {name: (name, partial(_itself, function)) for name, function in built.items()}
    what = "the functions of a problem with {compiler}; this happens once"
    return kernels_of_cache(content, what, lambda: ready, lambda: code_of(ready), fallback, progress)


def origin() -> tuple[bytes, ...]:
    """Version of CasADi, which kernels follow from beside their functions."""
    return (importlib.metadata.version("casadi").encode(),)


def _itself(function: cs.Function) -> cs.Function:
    return function


def kernels_of_cache(
    content: str,
    what: str,
    functions: Callable[[], Functions],
    code: Callable[[], Code],
    fallback: bool,
    progress: Progress | None,
) -> KernelSet:
    """The kernels of a content, from the cache, compiled now, or interpreted; `what` says what is compiled."""
    try:
        compiler = find_compiler()
        entry = cache.entry(content, compiler.identity)
        found = _load(entry)
        if found is None:
            with cache.exclusive(content):
                found = _load(entry) or _build(entry, compiler, what, code(), progress or _LOG.info)
        return found
    except CompilerError as error:
        for left in map(_load, cache.entries(content)):
            if left is not None:
                return left
        if not fallback:
            raise
        _LOG.warning("%s\nUntil then CasADi interprets the dynamics, several times slower than compiled.", error)
        return _interpret(functions())


def code_of(functions: Functions) -> Code:
    """C of functions as they are, each a unit of its own."""
    built = {symbol: build() for symbol, build in dict(functions.values()).items()}
    return {symbol: c_source(one) for symbol, one in built.items()}, described(functions, built)


def described(functions: Functions, built: Mapping[str, cs.Function]) -> dict[str, Kernel]:
    """Descriptions by name."""
    by_symbol = {symbol: describe(function) for symbol, function in built.items()}
    return {name: by_symbol[symbol] for name, (symbol, _) in functions.items()}


def describe(function: cs.Function) -> Kernel:
    """Shapes and size of a CasADi function."""
    return Kernel(
        symbol=function.name(),
        arguments=tuple(Block(function.name_in(i), *function.size_in(i)) for i in range(function.n_in())),
        results=tuple(Block(function.name_out(i), *function.size_out(i)) for i in range(function.n_out())),
        n_instructions=int(function.n_instructions()),
    )


def c_source(function: cs.Function) -> str:
    """C of a CasADi function, in parts, without the test for null that CasADi puts before every load and store."""
    generator = cs.CodeGenerator(f"{function.name()}.c", {"casadi_int": "long long int"})
    generator.add(function)
    text = generator.dump()
    text = re.sub(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0", r"\2", text)
    text = re.sub(r"if \(res\[(\d+)\]!=0\) (res\[\1\]\[\d+\]=)", r"\2", text)
    # A helper that every unit would export under one name.
    return in_parts(text.replace("casadi_real casadi_sq(", "static casadi_real casadi_sq("))


def _load(entry: cache.Entry) -> KernelSet | None:
    """The kernels of a cache entry, or None where it does not exist or cannot be loaded."""
    stored = entry.description()
    if stored is None:
        return None
    try:
        return KernelSet.of_library(entry.library, {one["name"]: Kernel.from_dict(one) for one in stored})
    except CompilerError as error:
        _LOG.warning("%s; building it again", error)
        return None


def _build(entry: cache.Entry, compiler: Compiler, what: str, code: Code, progress: Progress) -> KernelSet:
    """Compile the kernels into the cache entry and load them."""
    progress(f"compiling {what.format(compiler=compiler.command[0])}")
    sources, kernels = code
    compile_library(compiler, sources, entry.library, progress)
    entry.describe([kernel.as_dict(name) for name, kernel in kernels.items()])
    return KernelSet.of_library(entry.library, kernels)


def _interpret(functions: Functions) -> KernelSet:
    """The kernels without a compiler."""
    built = {symbol: build() for symbol, build in dict(functions.values()).items()}
    return interpret(built, described(functions, built))
