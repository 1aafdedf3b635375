"""Compiling C sources: what happens when it is broken off."""

from pathlib import Path

import pytest

from contact_ddp_ros.base.compiled.compiler import PROCESSOR_VARIABLE, Compiler, compile_library, find_compiler, flags

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


def test_the_processor_to_compile_for_is_part_of_the_identity(monkeypatch) -> None:
    monkeypatch.delenv(PROCESSOR_VARIABLE, raising=False)
    native = find_compiler()
    assert "-march=native" in flags() and "-march=native" in native.identity
    monkeypatch.setenv(PROCESSOR_VARIABLE, "silvermont")
    assert "-march=silvermont" in flags()
    assert find_compiler().identity != native.identity
