"""An off-screen OpenGL context on a machine without a display: EGL, else OSMesa.

MUJOCO_GL=egl or MUJOCO_GL=osmesa chooses; otherwise the first whose library is installed is taken. MuJoCo's own choice
is fixed when it is first imported, so its context classes are used directly here.
"""

import ctypes.util
import os
from typing import Any, Final

from contact_ddp_ros.base.errors import SimulationError

LIBRARIES: Final = {"egl": "EGL", "osmesa": "OSMesa"}
"""Shared library that each kind of context needs, in order of preference."""

INSTALL_HINT: Final = (
    "install one of them: `apt-get install libegl1 libgl1-mesa-dri` or `apt-get install libosmesa6`; "
    "MUJOCO_GL=egl or MUJOCO_GL=osmesa chooses between them"
)


def offscreen_context(width: int, height: int) -> Any:
    """A context to render into, made current; it has `make_current` and `free`.

    Raises:
        SimulationError: no library is installed, or the one chosen cannot make a context.
    """
    kind = _choose()
    # PyOpenGL binds to one platform when first imported; MuJoCo's classes refuse another one.
    os.environ["PYOPENGL_PLATFORM"] = kind
    try:
        if kind == "egl":
            from mujoco.egl import GLContext
        else:
            from mujoco.osmesa import GLContext
        context = GLContext(width, height)
        context.make_current()
    except Exception as error:  # PyOpenGL raises anything, AttributeError included, where a driver is missing
        raise SimulationError(f"cannot render off screen with {kind}: {error}; {INSTALL_HINT}") from error
    return context


def _choose() -> str:
    wished = os.environ.get("MUJOCO_GL", "").strip().lower()
    installed = [kind for kind, library in LIBRARIES.items() if ctypes.util.find_library(library)]
    if wished in LIBRARIES:
        return wished
    if not installed:
        raise SimulationError(f"cannot render: neither libEGL nor libOSMesa is installed; {INSTALL_HINT}")
    return installed[0]
