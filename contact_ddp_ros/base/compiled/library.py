"""Functions of a C file that is compiled for given sizes: once, into the cache.

The file's functions have the signature of :mod:`contact_ddp_ros.base.compiled.call`, and take their sizes as macros, so
that the compiler knows the length of every loop. Where there is no C compiler, and no library that an earlier run left
for this processor, there are no functions either: callers have a way of their own then.
"""

import ctypes
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.compiled import cache
from contact_ddp_ros.base.compiled.compiler import compile_library, find_compiler
from contact_ddp_ros.base.errors import CompilerError

_LOG = logging.getLogger(__name__)

BLOCKS = Path(__file__).with_name("blocks.h")
"""C header that every file begins with: matrix products by register blocks."""


@dataclass(frozen=True)
class Library:
    """Addresses of functions by their names, valid while the object lives."""

    addresses: Mapping[str, int]
    keep_alive: Any = field(repr=False)


def compiled_for(source: Path, functions: tuple[str, ...], sizes: Mapping[str, int]) -> Library | None:
    """The functions of a C file for sizes by macro; None, with a warning, where they cannot be had."""
    macros = "".join(f"#define {name} {value}\n" for name, value in sizes.items())
    text = macros + BLOCKS.read_text(encoding="utf-8") + source.read_text(encoding="utf-8")
    content = cache.content_key(text)
    try:
        compiler = find_compiler()
        entry = cache.entry(content, compiler.identity)
        if entry.description() is None:
            with cache.exclusive(content):
                if entry.description() is None:
                    compile_library(compiler, {source.stem: text}, entry.library)
                    entry.describe([])
        return _load(entry.library, functions)
    except CompilerError as error:
        for left in cache.entries(content):
            if left.description() is not None:
                return _load(left.library, functions)
        _LOG.warning("%s\nUntil then Numba compiles %s, whose products take twice as long.", error, source.stem)
        return None


def _load(path: Path, functions: tuple[str, ...]) -> Library:
    """Functions of a shared library; CompilerError where it cannot be loaded or lacks one."""
    try:
        library = ctypes.CDLL(str(path))
        addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in functions}
    except (OSError, AttributeError) as error:
        raise CompilerError(f"cannot load the compiled functions {path}: {error}; delete the file") from error
    return Library(addresses, library)
