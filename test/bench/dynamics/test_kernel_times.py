"""Every kernel that is timed can be called as it is timed."""

import pytest

from benchmarks.dynamics.kernel_times import KERNEL, call_often, candidate
from benchmarks.solver.case import planner_kernels


@pytest.mark.parametrize("level", ["first", "second", "tensor"])
@pytest.mark.parametrize("mode", ["back_stance", "front_flight"])
def test_a_kernel_runs(level, mode) -> None:
    assert set(candidate(planner_kernels("ddp_tensor"), f"{level}/{mode}")()) == {KERNEL}
    assert call_often.nopython_signatures
