"""The cache of compiled C on disk: where it is, what identifies an entry, and how processes share it.

    $CONTACT_DDP_CACHE or ~/.cache/contact_ddp_ros
        kernels/<content>/<compiler>.so      the library
        kernels/<content>/<compiler>.json    what it holds; written last, so an entry without it does not exist

<content> hashes what the kernels compute and the processor; <compiler> the compiler and its flags. Files appear by
renaming, and a lock keeps processes that start together from compiling the same thing twice.

Functions of a C file that is compiled for given sizes: once, into the cache.

The file's functions have the signature of :mod:`contact_ddp_ros.base.compiled.call`, and take their sizes as macros, so
that the compiler knows the length of every loop. Where there is no C compiler, and no library that an earlier run left
for this processor, there are no functions either: callers have a way of their own then.
"""

import ctypes
import dataclasses
import fcntl
import hashlib
import json
import logging
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from contact_ddp_ros.base.compiled.compiler import compile_library, find_compiler
from contact_ddp_ros.base.errors import CompilerError

_CACHE_VARIABLE = "CONTACT_DDP_CACHE"
_PROCESSOR_LINES = ("vendor_id", "cpu family", "model", "model name", "flags", "Features", "CPU part", "CPU variant")
"""Lines of /proc/cpuinfo that say what code a processor runs."""


def cache_folder() -> Path:
    """Folder of the compiled kernels, which need not exist yet."""
    chosen = os.environ.get(_CACHE_VARIABLE)
    root = Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "contact_ddp_ros"
    return root / "kernels"


_SOURCES = tuple(source.read_bytes() for source in sorted(Path(__file__).parent.glob("*.py")))
"""Sources of this room as imported: an edit while a process runs must not name what it compiles."""


def content_key(*described: Any) -> str:
    """Hash of data, of the sources of this package and of the processor."""
    digest = hashlib.sha256()
    for source in _SOURCES:
        digest.update(source)
    digest.update(_processor().encode())
    for one in described:
        _feed(digest, one)
    return digest.hexdigest()[:32]


@dataclasses.dataclass(frozen=True)
class Entry:
    """One compiled library of the cache: where it is (or will be) and its description."""

    library: Path

    @property
    def manifest(self) -> Path:
        """The file that describes the library."""
        return self.library.with_suffix(".json")

    def description(self) -> list[dict[str, Any]] | None:
        """Stored description of the kernels; None where the library is missing or incomplete."""
        try:
            stored = json.loads(self.manifest.read_text())
            whole = self.library.stat().st_size == stored["bytes"]
        except (OSError, ValueError, KeyError):
            return None
        return list(stored["kernels"]) if whole else None

    def describe(self, kernels: list[dict[str, Any]]) -> None:
        """Write the manifest, with which the entry becomes valid."""
        text = json.dumps({"bytes": self.library.stat().st_size, "kernels": kernels}, indent=1)
        temporary = self.manifest.with_name(f".{self.manifest.name}.{os.getpid()}")
        temporary.write_text(text)
        os.replace(temporary, self.manifest)


def entry(content: str, compiler_identity: str) -> Entry:
    """The cache entry of a content and compiler, whether it exists or not."""
    compiler = hashlib.sha256(compiler_identity.encode()).hexdigest()[:16]
    return Entry(cache_folder() / content / f"{compiler}.so")


def entries(content: str) -> list[Entry]:
    """Existing cache entries of a content, for any compiler."""
    return [Entry(path.with_suffix(".so")) for path in sorted((cache_folder() / content).glob("*.json"))]


@contextmanager
def exclusive(content: str) -> Iterator[None]:
    """Hold the file lock of a content, waiting while another process has it; released when the process ends.

    Raises:
        CompilerError: the cache folder cannot be written.
    """
    folder = cache_folder() / content
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / ".lock").open("w")
    except OSError as error:
        hint = f"make it writable or name another folder in {_CACHE_VARIABLE}"
        raise CompilerError(f"cannot write the kernel cache {folder}: {error}; {hint}") from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _processor() -> str:
    """Identification of the processor's instruction set."""
    seen: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if not key.strip():
                    break
                if key.strip() in _PROCESSOR_LINES:
                    seen[key.strip()] = value.strip()
    except OSError:
        seen["processor"] = platform.processor()
    return json.dumps([platform.machine(), seen], sort_keys=True)


def _feed(digest: Any, value: Any) -> None:
    """Hash nested dataclasses, sequences, mappings, arrays and scalars, exactly."""
    digest.update(type(value).__name__.encode())
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            digest.update(field.name.encode())
            _feed(digest, getattr(value, field.name))
    elif isinstance(value, dict):
        _feed(digest, list(value.items()))
    elif isinstance(value, list | tuple):
        digest.update(str(len(value)).encode())
        for item in value:
            _feed(digest, item)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.shape}{value.dtype}".encode() + np.ascontiguousarray(value).tobytes())
    else:
        digest.update(repr(value).encode())
    digest.update(b";")


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
    content = content_key(text)
    try:
        compiler = find_compiler()
        kept = entry(content, compiler.identity)
        if kept.description() is None:
            with exclusive(content):
                if kept.description() is None:
                    compile_library(compiler, {source.stem: text}, kept.library)
                    kept.describe([])
        return _load(kept.library, functions)
    except CompilerError as error:
        for left in entries(content):
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
