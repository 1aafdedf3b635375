"""Kernels: the same numbers as their functions, one cache entry per content, and life without a compiler."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled import cache
from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.errors import CompilerError, ModelError, ParameterError
from contact_ddp_ros.dynamics import kernels
from contact_ddp_ros.dynamics.contact import level_parameters
from contact_ddp_ros.dynamics.kernels import build_kernels, kernel_functions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree

from .support import close, evaluate

Array = NDArray[np.float64]

Y = np.array([0.0, 1.0, 0.0])
MODES: dict[str, tuple[str, ...]] = {"stance": ("toe",), "flight": (), "other_flight": ()}


def hopper(mass: float = 2.0) -> RigidBodyTree:
    """A mass on a one-joint leg that moves vertically: small enough to compile in a moment."""
    return RigidBodyTree(
        "hopper",
        (
            Joint("height", "prismatic", np.array([0.0, 0.0, 1.0]), -1, mass=mass),
            Joint("hip", "revolute", Y, 0, mass=0.4, com=np.array([0.0, 0.0, -0.1]), armature=0.01, effort_limit=9.0),
        ),
        (ContactPoint("toe", 1, np.array([0.0, 0.0, -0.3]), 0.02),),
    )


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTACT_DDP_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def remove() -> None:
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("CC", raising=False)

    return remove


def arguments_of(built: KernelSet, name: str) -> list[Array]:
    rng = np.random.default_rng(len(name))
    return [rng.normal(size=block.rows * block.columns) for block in built.kernel(name).arguments]


def assert_same_numbers(built: KernelSet, tree: RigidBodyTree) -> None:
    for name, (_, build) in kernel_functions(tree, MODES, (2,)).items():
        arguments = arguments_of(built, name)
        for found, expected in zip(built.python(name)(*arguments), evaluate(build(), *arguments), strict=True):
            assert close(found, expected.reshape(found.shape), 1e-12), name


def test_compiled_kernels_equal_their_functions() -> None:
    built = build_kernels(hopper(), MODES, (2,))
    assert built.native
    assert_same_numbers(built, hopper())
    assert built.address("system/flight") == built.address("system/other_flight")
    assert built.kernel("system/stance").results[0].rows == 3


def test_every_kernel_of_the_planar_robot_is_small_and_needs_no_scratch() -> None:
    """Regression of sparsity: a lost zero would multiply the size of the graphs."""
    tree = reduce_to_plane(load_robot())
    limits = {"system": 500, "first": 800, "second": 1100, "feet": 150, "feet_second": 150}
    for name, (_, build) in kernel_functions(tree, {"stance": ("back_foot",)}, (0, 2)).items():
        function = build()
        level = name.split("/")[0].removeprefix("impact_")
        assert function.n_instructions() < limits[level], name


def test_a_second_build_loads_and_builds_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_kernels(hopper(), MODES, (2,))

    def forbidden(*_: object) -> None:
        raise AssertionError("a graph was built")

    monkeypatch.setattr(kernels, "kernel_functions", forbidden)
    monkeypatch.setattr(kernels, "kernel_code", forbidden)
    second = build_kernels(hopper(), MODES, (2,))
    assert second.source == first.source
    arguments = arguments_of(first, "system/stance")
    assert np.array_equal(second.python("system/stance")(*arguments)[0], first.python("system/stance")(*arguments)[0])


def test_only_the_levels_asked_for_are_built() -> None:
    built = build_kernels(hopper(), MODES, (2,), levels=("system", "feet"))
    assert set(built) == {"feet", *(f"system/{mode}" for mode in MODES)}


def test_whatever_the_kernels_follow_from_is_part_of_the_key() -> None:
    key = cache.content_key(hopper(), MODES, (2,), False)
    assert key == cache.content_key(hopper(), MODES, (2,), False)
    joint = replace(hopper().joints[1], com=np.array([0.0, 0.0, -0.1 - 1e-15]))
    others = [
        cache.content_key(hopper(2.0 + 1e-15), MODES, (2,), False),
        cache.content_key(replace(hopper(), joints=(hopper().joints[0], joint)), MODES, (2,), False),
        cache.content_key(replace(hopper(), gravity=np.array([0.0, 0.0, -1.62])), MODES, (2,), False),
        cache.content_key(hopper(), {"stance": ()}, (2,), False),
        cache.content_key(hopper(), MODES, (0, 2), False),
        cache.content_key(hopper(), MODES, (2,), True),
    ]
    assert len({key, *others}) == len(others) + 1


def test_without_a_compiler_the_error_says_what_to_install(no_compiler: Callable[[], None]) -> None:
    no_compiler()
    with pytest.raises(CompilerError, match=r"none of gcc, cc, clang is installed.*build-essential"):
        build_kernels(hopper(), MODES, (2,), fallback=False)


def test_a_wrong_cc_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O9")
    with pytest.raises(CompilerError, match="CC='no-such-compiler -O9' names no program"):
        build_kernels(hopper(), MODES, (2,), fallback=False)


def test_a_failing_compiler_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "sh -c 'echo no licence >&2; exit 7'")
    with pytest.raises(CompilerError, match=r"(?s)failed with status 7.*no licence"):
        build_kernels(hopper(), MODES, (2,), fallback=False)


def test_without_a_compiler_casadi_interprets_the_same_kernels(
    no_compiler: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    no_compiler()
    built = build_kernels(hopper(), MODES, (2,))
    assert not built.native
    assert_same_numbers(built, hopper())
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1
    assert all(built.work_size(name)[2:] == (0, 0) for name in built)
    assert_reentrant(built)
    # A second set in one process does not disturb the first.
    other = build_kernels(hopper(5.0), MODES, (2,))
    assert_same_numbers(other, hopper(5.0))
    assert_same_numbers(built, hopper())


def test_without_a_compiler_an_earlier_library_serves(no_compiler: Callable[[], None]) -> None:
    build_kernels(hopper(), MODES, (2,))
    no_compiler()
    assert build_kernels(hopper(), MODES, (2,), fallback=False).native


@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_a_damaged_library_is_built_again(damage: str) -> None:
    library = build_kernels(hopper(), MODES, (2,)).source
    assert library is not None
    size = library.stat().st_size
    replacement = library.with_suffix(".damaged")
    replacement.write_bytes(b"x" * (size if damage == "overwritten" else 10))
    replacement.replace(library)  # another file of that name: the loaded one stays mapped
    assert_same_numbers(build_kernels(hopper(), MODES, (2,)), hopper())


def test_a_cache_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("CONTACT_DDP_CACHE", str(occupied))
    with pytest.raises(CompilerError, match=r"cannot write the kernel cache .*CONTACT_DDP_CACHE"):
        build_kernels(hopper(), MODES, (2,), fallback=False)


_BUILDER = f"""
from test.dynamics.test_kernels import MODES, hopper
from contact_ddp_ros.dynamics.kernels import build_kernels
lines = []
built = build_kernels(hopper(), MODES, (2,), fallback=False, progress=lines.append)
print(built.python("feet")([0.5, 0.1], [0] * {level_parameters(1).size})[0][0], "compiled" if lines else "loaded")
"""


def test_processes_that_start_together_compile_once(own_cache: Path) -> None:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "test")])}
    running = [
        subprocess.Popen([sys.executable, "-c", _BUILDER], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    printed = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len({value for value, _ in printed}) == 1
    assert sorted(how for _, how in printed) == ["compiled", "loaded", "loaded"]
    assert len(list(own_cache.rglob("*.so"))) == 1


@numba.njit(nogil=True)
def _many(address, table, results, times):  # type: ignore[no-untyped-def]
    status = 0
    for _ in range(times):
        status += call_kernel(address, table, results, 0, 0)
    return status


@numba.njit
def _feet_by_tuple(address, q, p, positions, jacobian):  # type: ignore[no-untyped-def]
    return call_kernel(address, (q.ctypes.data, p.ctypes.data), (positions.ctypes.data, jacobian.ctypes.data), 0, 0)


def assert_reentrant(built: KernelSet) -> None:
    """Threads inside one kernel at once get what they would get alone."""
    name = "second/stance"

    def run(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        given = [rng.normal(size=block.rows * block.columns) for block in built.kernel(name).arguments]
        taken = [np.empty(block.rows * block.columns) for block in built.kernel(name).results]
        tables = [np.array([one.ctypes.data for one in arrays]) for arrays in (given, taken)]
        status = _many(built.address(name), tables[0], tables[1], 2000)
        alone = built.python(name)(*given)
        return status == 0 and all(
            np.array_equal(one, other.ravel(order="F")) for one, other in zip(taken, alone, strict=True)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))


def test_native_calls_by_table_and_by_tuple() -> None:
    built = build_kernels(hopper(), MODES, (2,))
    assert_reentrant(built)
    q, p = np.array([0.3, -0.2]), level_parameters(1)
    positions, jacobian = np.empty(1), np.empty((1, 2))
    assert _feet_by_tuple(built.address("feet"), q, p, positions, jacobian) == 0
    expected = built.python("feet")(q, p)
    assert np.array_equal(positions, expected[0])
    assert np.array_equal(jacobian, expected[1])


@pytest.mark.parametrize(
    ("contacts", "axes", "words"),
    [
        (
            ("front_foot", "front_foot"),
            (0, 2),
            "front_foot, front_foot of mode 'down' hold 2 .* with 4 forces",
        ),
        (("front_foot",), (0, 1, 2), "hold 2 directions of motion with 3 forces"),
    ],
)
def test_contacts_whose_forces_are_not_determined_are_refused_by_name(
    contacts: tuple[str, ...], axes: tuple[int, ...], words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        build_kernels(reduce_to_plane(load_robot()), {"up": (), "down": contacts}, axes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mass": -0.1}, "mass of -0.1; allowed: a finite number, not negative"),
        ({"mass": np.nan}, "mass of nan"),
        ({"armature": -1e-3}, "armature of -0.001"),
        ({"axis": np.array([0.0, 2.0, 0.0])}, "axis of length 2; allowed: 1"),
        ({"axis": np.array([0.0, np.nan, 0.0])}, "axis of length nan"),
        ({"rotation": 2.0 * np.eye(3)}, "no rotation: R R' differs from 1 by 3"),
        ({"rotation": np.diag([1.0, 1.0, -1.0])}, "no rotation"),
        ({"com": np.array([0.0, np.inf, 0.0])}, "centre of mass"),
        ({"inertia": -np.eye(3)}, "least moment of inertia of -1"),
    ],
)
def test_a_joint_that_would_give_a_wrong_dynamics_is_refused(changes: dict[str, object], words: str) -> None:
    tree = hopper()
    damaged = replace(tree, joints=(*tree.joints[:-1], replace(tree.joints[-1], **changes)))
    with pytest.raises(ModelError, match=words) as told:
        build_kernels(damaged, MODES, (2,))
    assert repr(tree.joints[-1].name) in str(told.value)


def test_misuse_is_explained() -> None:
    built = build_kernels(hopper(), MODES, (2,))
    with pytest.raises(ParameterError, match="no kernel 'system/walk'"):
        built.address("system/walk")
    with pytest.raises(ParameterError, match="takes 2 arguments, got 1"):
        built.python("feet")(np.zeros(2))
    with pytest.raises(ParameterError, match="q has 3 entries"):
        built.python("feet")(np.zeros(3), np.zeros(3))
    with pytest.raises(ModelError, match="contact points are \\['toe'\\]"):
        build_kernels(hopper(), {"stance": ("heel",)}, (2,))
    with pytest.raises(ModelError, match="last, the normal 2"):
        build_kernels(hopper(), MODES, (2, 0))
    with pytest.raises(ModelError, match=r"levels are \('third',\)"):
        build_kernels(hopper(), MODES, (2,), levels=("third",))
