"""What is compiled is found again wherever the package lies, and never after a change of a source it is made from."""

from pathlib import Path

import contact_ddp_ros
from contact_ddp_ros import numba_cache
from contact_ddp_ros.numba_cache import PackageCacheLocator
from contact_ddp_ros.robot.rotation import quaternion_to_matrix

PACKAGE = Path(contact_ddp_ros.__file__).parent


def covered() -> set[Path]:
    patterns = (*numba_cache._MODULES, *(f"{room}/**/*.py" for room in numba_cache._ROOMS))
    return {path for pattern in patterns for path in PACKAGE.glob(pattern)}


def test_every_module_with_compiled_code_is_part_of_the_fingerprint() -> None:
    """But for those of the benchmarks, which nobody calls and whose own content Numba looks at."""
    compiled = {path for path in PACKAGE.rglob("*.py") if "njit(" in path.read_text(encoding="utf-8")}
    outside = {path.relative_to(PACKAGE).parts[0] for path in compiled - covered()}
    assert len(compiled) > 20
    assert outside <= {"bench"}


def test_functions_are_found_by_their_place_in_the_package() -> None:
    source = PACKAGE / "mpc" / "terms" / "touchdown.py"
    assert PackageCacheLocator.get_suitable_cache_subpath(str(source)) == "contact_ddp_ros/mpc/terms"
    of_ours = quaternion_to_matrix.py_func
    found = PackageCacheLocator.from_function(of_ours, of_ours.__code__.co_filename)
    assert found is not None
    assert Path(found.get_cache_path()) == numba_cache.use() / "contact_ddp_ros" / "robot"
    assert PackageCacheLocator.from_function(covered, __file__) is None, "Numba's own places serve others"
