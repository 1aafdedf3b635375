"""Tests by room. Threads of OpenBLAS wait for each other beside other work, and were seen to wait for ever."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
