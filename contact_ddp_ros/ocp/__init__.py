"""Hybrid differential dynamic programming for any problem of :mod:`contact_ddp_ros.ocp.protocol`; no robotics."""

from contact_ddp_ros.base import numba_cache

numba_cache.use()
