"""The bounding problem, its references, and the receding horizon that solves it: compiled dynamics meets the solver."""

from contact_ddp_ros import numba_cache

numba_cache.use()
