"""The fast joint controller: modes, safety, policy tracking."""

from contact_ddp_ros.base import numba_cache

numba_cache.use()
