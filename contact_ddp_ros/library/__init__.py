"""For programs of one's own: problems from CasADi, checks of derivatives, contact dynamics of any URDF, closed loops.

The names to import are those of :mod:`contact_ddp_ros`; docs/library.md is the page about them.
"""

from contact_ddp_ros import numba_cache

numba_cache.use()
