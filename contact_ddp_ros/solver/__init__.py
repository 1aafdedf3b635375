"""Hybrid differential dynamic programming for any problem that satisfies the protocol; knows no robot."""

from contact_ddp_ros import numba_cache

numba_cache.use()
