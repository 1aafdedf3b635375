"""The robot as data: description, joints, states and commands."""

from contact_ddp_ros import numba_cache

numba_cache.use()
