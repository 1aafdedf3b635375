"""What is compiled is found again wherever the package lies, and never after a change of a source it is made from."""

import subprocess
import sys
from pathlib import Path

import numba
import pytest

import contact_ddp_ros
from contact_ddp_ros.base import numba_cache
from contact_ddp_ros.base.numba_cache import CompilationLog, PackageCacheLocator
from contact_ddp_ros.robot.rotation import quaternion_to_matrix

PACKAGE = Path(contact_ddp_ros.__file__).parent


def covered() -> set[Path]:
    return {path for room in numba_cache._ROOMS for path in PACKAGE.glob(f"{room}/**/*.py")}


def test_every_module_with_compiled_code_is_part_of_the_fingerprint() -> None:
    compiled = {path for path in PACKAGE.rglob("*.py") if "njit(" in path.read_text(encoding="utf-8")}
    assert len(compiled) > 20
    assert not compiled - covered()


def test_functions_are_found_by_their_place_in_the_package() -> None:
    source = PACKAGE / "mpc" / "terms" / "touchdown.py"
    assert PackageCacheLocator.get_suitable_cache_subpath(str(source)) == "contact_ddp_ros/mpc/terms"
    of_ours = quaternion_to_matrix.py_func
    found = PackageCacheLocator.from_function(of_ours, of_ours.__code__.co_filename)
    assert found is not None
    assert Path(found.get_cache_path()) == numba_cache.use() / "contact_ddp_ros" / "robot"
    assert PackageCacheLocator.from_function(covered, __file__) is None, "Numba's own places serve others"


def test_compiling_is_told_while_it_goes_on_and_not_where_it_is_short(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    now = 100.0
    log = CompilationLog(lambda: now)

    def compiled(seconds: float) -> None:
        nonlocal now
        log.on_start(None)
        now += seconds
        log.on_end(None)

    compiled(3.0)
    assert not caplog.messages
    for _ in range(4):
        compiled(1.5)
    assert [message.partition("starts: ")[2] for message in caplog.messages] == ["2 kernels in 4 s", "5 kernels in 9 s"]
    now += 60.0
    compiled(6.0)
    assert caplog.messages[-1].endswith("1 kernels in 6 s"), "another time"


def test_kernels_are_interpreted_only_where_none_is_compiled() -> None:
    numba_cache.interpret()
    assert not numba.config.DISABLE_JIT
    code = "import numba; from contact_ddp_ros.base import numba_cache; numba_cache.interpret(); "
    code += "from contact_ddp_ros.robot.rotation import quaternion_to_matrix as one; print(type(one).__name__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "function\n"
