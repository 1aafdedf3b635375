"""What the compiled kernels of one node cost by themselves: first order, second order contracted, and by tensors.

Of an iteration the kernels are the smaller part; the dense algebra around them is common to all variants. These times
tell the variants' own cost apart. Arguments are random: a kernel has no branches.
"""

from collections.abc import Mapping
from time import thread_time

import numba as nb
import numpy as np

from benchmarks.timing import Candidate
from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.compiled.kernel_set import KernelSet

_TABLE = nb.types.Array(nb.int64, 1, "C")
_CALLS = 2000
_SEED = 3

KERNEL = "kernel"


@nb.njit(nb.int64(nb.int64, _TABLE, _TABLE, nb.int64), cache=True)
def call_often(address, arguments, results, calls):
    """Sum of the statuses of that many calls."""
    status = 0
    for _ in range(calls):
        status += call_kernel(address, arguments, results, 0, 0)
    return status


class _Call:
    """One kernel with arrays of its own; a call runs it often."""

    def __init__(self, kernels: KernelSet, name: str) -> None:
        kernel, rng = kernels.kernel(name), np.random.default_rng(_SEED)
        self._given = [rng.normal(size=block.rows * block.columns) for block in kernel.arguments]
        self._taken = [np.empty(block.rows * block.columns) for block in kernel.results]
        self._tables = [
            np.array([one.ctypes.data for one in arrays], dtype=np.int64) for arrays in (self._given, self._taken)
        ]
        self._address = kernels.address(name)

    def __call__(self) -> Mapping[str, float]:
        started = thread_time()
        call_often(self._address, *self._tables, _CALLS)
        return {KERNEL: (thread_time() - started) / _CALLS}


def candidate(kernels: KernelSet, name: str) -> Candidate:
    """Processor time of one call of a kernel."""
    return _Call(kernels, name)
