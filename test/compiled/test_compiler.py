"""Compiling C sources: what happens when it is broken off."""

from pathlib import Path

import pytest

from contact_ddp_ros.compiled.compiler import Compiler, compile_library

COMPILER = """#!/bin/sh
echo run >> {log}
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then : > "$2"; fi
    shift
done
"""


def test_an_interrupted_build_starts_no_further_units_and_leaves_nothing(tmp_path: Path) -> None:
    script, log, library = tmp_path / "cc", tmp_path / "log", tmp_path / "built" / "library.so"
    script.write_text(COMPILER.format(log=log))
    script.chmod(0o755)

    def interrupt(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_library(Compiler((str(script),), "fake"), {f"unit{k}": "" for k in range(500)}, library, interrupt)
    assert len(log.read_text().splitlines()) < 500
    assert not list(library.parent.iterdir())
