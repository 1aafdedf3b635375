"""The robot as data: description, joints, states and commands, and the maps between the plane and three dimensions."""

from contact_ddp_ros import numba_cache

numba_cache.use()
