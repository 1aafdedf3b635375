"""Machine code from C, and how Numba's loops call it: the compiler, the cache on disk, the call. Knows no robot."""
