"""The physics needs no OpenGL: a machine without its library simulates, and says so where a picture is wanted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BROKEN = "raise AttributeError(\"'NoneType' object has no attribute 'glGetError'\")\n"
"""What PyOpenGL raises where a library is missing."""

CODE = """
import os
import contact_ddp_ros.plants.mujoco
from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.plants.render import offscreen_context
try:
    offscreen_context(8, 8)
except SimulationError as error:
    print("one line:", error)
print(os.environ["MUJOCO_GL"])
"""


@pytest.mark.parametrize("chosen", ["osmesa", "egl"])
def test_without_a_library_only_pictures_fail(tmp_path: Path, chosen: str) -> None:
    (tmp_path / "OpenGL").mkdir()
    (tmp_path / "OpenGL" / "__init__.py").write_text(BROKEN)
    variables = {**os.environ, "MUJOCO_GL": chosen, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-c", CODE], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said, variable = done.stdout.splitlines()
    assert said.startswith(f"one line: cannot render off screen with {chosen}") and "apt-get install" in said
    assert variable == chosen
