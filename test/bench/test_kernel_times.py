"""Every kernel that is timed can be called as it is timed."""

import pytest

from contact_ddp_ros.bench.case import planner_kernels
from contact_ddp_ros.bench.kernel_times import KERNEL, _call_often, candidate


@pytest.mark.parametrize("level", ["first", "second", "tensor"])
@pytest.mark.parametrize("mode", ["back_stance", "front_flight"])
def test_a_kernel_runs(level, mode) -> None:
    assert set(candidate(planner_kernels("ddp_tensor"), f"{level}/{mode}")()) == {KERNEL}
    assert _call_often.nopython_signatures
