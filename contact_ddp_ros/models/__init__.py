"""What is planned for: models of the robot with fewer or all of its coordinates."""

from contact_ddp_ros import numba_cache

numba_cache.use()
