"""Hybrid differential dynamic programming for any problem of :mod:`contact_ddp_ros.solver.protocol`; no robotics."""

from contact_ddp_ros import numba_cache

numba_cache.use()
