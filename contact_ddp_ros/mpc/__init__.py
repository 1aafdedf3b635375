"""The optimal control problem of a gait, its references, and the receding horizon that solves it."""

from contact_ddp_ros.base import numba_cache

numba_cache.use()
