"""The node of the trunk's frame, which is a small one."""

import subprocess
import sys

CODE = """
import sys
from contact_ddp_ros.ros.frames_node import main
print(*sorted(name for name in sys.modules if name.startswith("contact_ddp_ros.")))
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_it_imports_no_more_of_the_package_than_what_talks_to_ros() -> None:
    """One transform needs no solver, no robot's model and no simulator."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    ours, packages = (line.split() for line in done.stdout.splitlines()[-2:])
    rooms = {name.split(".")[1] for name in ours}
    assert rooms <= {"base", "ros"}
    assert not {"casadi", "numba", "mujoco", "pinocchio", "scipy", "matplotlib"} & set(packages)
