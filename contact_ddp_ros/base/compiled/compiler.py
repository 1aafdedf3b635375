"""Compilation of C sources to one shared library with the machine's C compiler."""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from contact_ddp_ros.base.errors import CompilerError

Progress = Callable[[str], None]
"""Receives one line of text at every step of a slow job."""

PROCESSOR_VARIABLE = "CONTACT_DDP_PROCESSOR"
"""Names the processor to compile for, as the compiler's -march does; the one at hand by default."""

_FLAGS = ("-O2", "-fno-math-errno", "-fPIC")
_CANDIDATES = ("gcc", "cc", "clang")
_INSTALL_HINT = "install one (on Debian or Ubuntu: sudo apt install build-essential) or name it in CC"


@dataclass(frozen=True)
class Compiler:
    """A C compiler: the command's words, and its identity (resolved path, modification time, flags) for cache keys."""

    command: tuple[str, ...]
    identity: str


def flags() -> tuple[str, ...]:
    """Compiler flags of every unit."""
    return (*_FLAGS, f"-march={os.environ.get(PROCESSOR_VARIABLE) or 'native'}")


def find_compiler() -> Compiler:
    """The compiler of $CC, or the first of gcc, cc and clang on the path.

    Raises:
        CompilerError: no compiler is found; the text names those looked for and what to install.
    """
    wanted = shlex.split(os.environ.get("CC", ""))
    for words in [wanted] if wanted else [[name] for name in _CANDIDATES]:
        found = shutil.which(words[0])
        if found is not None:
            target = Path(found).resolve()
            # Asking the compiler for its version costs a process; its file changes whenever the version does.
            status = target.stat()
            identity = "|".join([str(target), str(status.st_size), str(status.st_mtime_ns), *words[1:], *flags()])
            return Compiler((found, *words[1:]), identity)
    looked = f"CC={os.environ['CC']!r} names no program" if wanted else f"none of {', '.join(_CANDIDATES)} is installed"
    raise CompilerError(f"no C compiler: {looked}; {_INSTALL_HINT}")


def compile_library(
    compiler: Compiler, sources: Mapping[str, str], library: Path, progress: Progress | None = None
) -> None:
    """Compile C sources {unit name: text}, several at once, and link them into `library`, which appears atomically.

    Raises:
        CompilerError: the compiler fails; the text has its command and the end of its output.
    """
    tell = progress or (lambda line: None)
    library.parent.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".build-") as scratch:
        folder = Path(scratch)
        # The longest unit first, so that no long one is left alone at the end.
        units = sorted(sources, key=lambda unit: -len(sources[unit]))
        with ThreadPoolExecutor(max_workers=_workers()) as pool:
            jobs = {pool.submit(_compile_unit, compiler, folder, unit, sources[unit]): unit for unit in units}
            try:
                for done, job in enumerate(as_completed(jobs), start=1):
                    job.result()
                    tell(f"compiled {jobs[job]} ({done}/{len(units)}, {time.perf_counter() - start:.1f} s)")
            finally:
                pool.shutdown(wait=False, cancel_futures=True)  # an error or Ctrl-C does not wait for all other units
        linked = folder / "linked.so"
        objects = [str(folder / f"{unit}.o") for unit in units]
        _run([*compiler.command, "-shared", "-o", str(linked), *objects, "-lm"])
        os.replace(linked, library)


def _workers() -> int:
    """Processors that this process may use."""
    return max(1, len(os.sched_getaffinity(0)))


def _compile_unit(compiler: Compiler, folder: Path, unit: str, text: str) -> None:
    source = folder / f"{unit}.c"
    source.write_text(text)
    _run([*compiler.command, *flags(), "-c", str(source), "-o", str(folder / f"{unit}.o")])


def _run(command: list[str]) -> None:
    """Run a compiler command or raise CompilerError with what it said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompilerError(f"cannot run the C compiler {command[0]!r}: {error}; {_INSTALL_HINT}") from error
    if done.returncode != 0:
        said = done.stderr.strip()[-2000:]
        raise CompilerError(f"the C compiler failed with status {done.returncode}: {shlex.join(command)}\n{said}")
