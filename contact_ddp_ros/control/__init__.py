"""The fast joint controller: modes, safety, policy tracking, and what keeps a 3-D robot upright under a planar plan."""

from contact_ddp_ros.base import numba_cache

numba_cache.use()
