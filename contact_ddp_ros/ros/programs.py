"""The executables that are installed: nodes, and the emulator of the robot.

Importing a node takes seconds. A signal that comes meanwhile ends the program at once and without a word, as one that
comes later does: nothing has begun that would have to be ended in order.

Once a node has left the middleware, nothing is left to do either. Python would spend a second of processor time, on a
busy machine several, on taking compiled libraries apart, and `ros2 launch` loses patience after five.

`python -m contact_ddp_ros.ros.programs MODULE` does the same where nothing is installed.
"""

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_TELL_EVERY = 5.0
"""Time between two lines about an import that takes long [s]."""

_REFUSED = 1
"""Exit code of a program that cannot start; starting it again would not help."""

_INSTALL = "install requirements.txt into a virtual environment and activate it, as docs/ros.md says"

_FIRST_TIME = "the first time and after an update code is compiled, which takes minutes"


def planner_node() -> int:
    """The planner; the exit code, as of all below."""
    return run("contact_ddp_ros.ros.planner_node")


def controller_node() -> int:
    """The joint controller."""
    return run("contact_ddp_ros.ros.controller_node")


def simulator_node() -> int:
    """The simulated robot."""
    return run("contact_ddp_ros.ros.simulator_node")


def frames_node() -> int:
    """Node of the trunk's frame, for tf2."""
    return run("contact_ddp_ros.ros.frames_node")


def lcm_bridge_node() -> int:
    """The bridge to the robot."""
    return run("contact_ddp_ros.ros.lcm_bridge_node")


def unitree_node() -> int:
    """The bridge to a robot of Unitree."""
    return run("contact_ddp_ros.ros.unitree_node")


def gazebo_bridge_node() -> int:
    """The bridge to Gazebo."""
    return run("contact_ddp_ros.ros.gazebo_bridge_node")


def drives_node() -> int:
    """The drives of the joints, for ros2_control and ros_gz_bridge."""
    return run("contact_ddp_ros.ros.drives_node")


def driver_node() -> int:
    """Node between the package and a robot's own ROS 2 driver."""
    return run("contact_ddp_ros.ros.driver_node")


def estimator_node() -> int:
    """The state estimator alone."""
    return run("contact_ddp_ros.ros.estimator_node")


def composed_node() -> int:
    """The controller and what plays the robot, in one process."""
    return run("contact_ddp_ros.ros.composed_node")


def robot_emulator() -> int:
    """A robot that speaks LCM, where there is none."""
    return run("contact_ddp_ros.plants.lcm.emulator")


def unitree_emulator() -> int:
    """A robot that speaks Unitree's messages, where there is none."""
    return run("contact_ddp_ros.plants.unitree.emulator")


def prepare_bringup() -> int:
    """Checks and texts for the launch file."""
    return run("contact_ddp_ros.ros.bringup")


def run(module: str) -> int:
    """Import a module, run its `main`, which takes over the signals, and end the process with its exit code.

    Returns an exit code where a package is missing that the module imports.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of BLAS gain nothing here, and wait for each other
    try:
        with _told(module):
            program = importlib.import_module(module)
    except ImportError as error:
        print(f"[FATAL] [{_node(module)}]: {error}, in {sys.executable}; {_INSTALL}", file=sys.stderr)
        return _REFUSED
    code = int(program.main())
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _node(module: str) -> str:
    return module.rpartition(".")[2].removesuffix("_node")


@contextmanager
def _told(module: str) -> Iterator[None]:
    """Say at once, and again while it takes long, that a module is being imported."""
    name = _node(module)
    began, loaded = time.monotonic(), threading.Event()

    def tell(text: str) -> None:
        print(f"[INFO] [{time.time():.9f}] [{name}]: {text}", file=sys.stderr, flush=True)

    def remind() -> None:
        while not loaded.wait(_TELL_EVERY):
            latest = next(one for one in reversed(list(sys.modules)) if one.startswith("contact_ddp_ros"))
            tell(f"loading for {time.monotonic() - began:.0f} s, now {latest}; {_FIRST_TIME}")

    tell("loading")
    threading.Thread(target=remind, daemon=True).start()
    try:
        yield
    finally:
        loaded.set()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)


if __name__ == "__main__":
    sys.exit(run(sys.argv.pop(1)))
