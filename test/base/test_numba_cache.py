"""What is compiled is found again wherever the package lies, and never after a change of a source it is made from."""

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import contact_ddp_ros
from contact_ddp_ros.base import numba_cache
from contact_ddp_ros.base.numba_cache import CompilationLog, PackageCacheLocator
from contact_ddp_ros.robot.rotation import quaternion_to_matrix

PACKAGE = Path(contact_ddp_ros.__file__).parent


def covered() -> set[Path]:
    return {path for room in numba_cache.ROOMS for path in PACKAGE.glob(f"{room}/**/*.py")}


def test_every_module_with_compiled_code_is_part_of_the_fingerprint() -> None:
    compiled = {path for path in PACKAGE.rglob("*.py") if "@njit(" in path.read_text(encoding="utf-8")}
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


def test_an_array_of_another_shape_is_not_assigned_to_a_slice() -> None:
    @numba_cache.njit()
    def assign(into, array):  # type: ignore[no-untyped-def]
        into[1:] = array

    numbers = np.zeros(4)
    assign(numbers, np.arange(3.0))
    assert numbers.tolist() == [0.0, 0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="cannot assign slice from input of different size"):
        assign(numbers, np.ones(2))


KERNEL = """
from threading import Barrier, Thread

import numba

from contact_ddp_ros.base.numba_cache import njit


@njit(numba.float64(numba.float64), inline="never")
def doubled(x):
    return 2.0 * x


@njit(numba.float64(numba.float64))
def fourfold(x):
    return doubled(x) * 2


@numba.njit
def eightfold(x):
    return 2.0 * fourfold(x)


print(len(doubled.overloads), len(fourfold.overloads))
start, results = Barrier(4), []


def call():
    start.wait()
    results.append(fourfold(3))


threads = [Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results, len(fourfold.overloads), eightfold(1.0))
try:
    fourfold("three")
except TypeError as error:
    print(str(error).splitlines()[0])
"""


def test_a_kernel_is_compiled_at_its_first_use_by_whichever_thread_for_what_is_declared_alone(tmp_path: Path) -> None:
    program = tmp_path / "kernel.py"
    program.write_text(KERNEL, encoding="utf-8")
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert run.stdout.splitlines() == [
        "0 0",
        "[12.0, 12.0, 12.0, 12.0] 1 8.0",
        "No matching definition for argument type(s) unicode_type",
    ], run.stderr


def test_a_program_that_calls_no_kernel_loads_none() -> None:
    code = "import contact_ddp_ros.runs.closed_loop as _; from contact_ddp_ros.base import numba_cache; "
    code += "all = numba_cache._kernels; print(len(all) > 100, sum(len(one.overloads) for one in all))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True 0\n"
