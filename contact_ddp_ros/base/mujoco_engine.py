"""MuJoCo, imported for its physics alone.

`import mujoco` also imports the OpenGL library that MUJOCO_GL names, and fails where that is not installed, even if
nothing is ever drawn. Here it is imported without one; :mod:`contact_ddp_ros.plants.render` makes contexts for those
who draw.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["mujoco"]

_VARIABLE, _NONE = "MUJOCO_GL", "disable"


@contextmanager
def _no_renderer() -> Iterator[None]:
    chosen = os.environ.pop(_VARIABLE, None)
    os.environ[_VARIABLE] = _NONE
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
        if chosen is not None:
            os.environ[_VARIABLE] = chosen


with _no_renderer():
    import mujoco
