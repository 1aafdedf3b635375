"""The launch file, run for real where ROS 2's launch is installed; test_launch_file.py reads it where it is not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from installation import PACKAGE, ROOT, install, register
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from ros_graph import BUILDING, NodeMaker, Operator

from contact_ddp_ros.ros import interfaces as io

LAUNCH_FILE = ROOT / "launch" / "bringup.launch.py"
NAMESPACE = "/cheetah"

RUNNER = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

arguments = [tuple(word.split(":=", 1)) for word in sys.argv[2:]]
include = IncludeLaunchDescription(PythonLaunchDescriptionSource(sys.argv[1]), launch_arguments=arguments)
service = LaunchService()
service.include_launch_description(LaunchDescription([include]))
sys.exit(service.run())
"""

Launcher = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def launcher(loopback: dict[str, str], tmp_path: Path) -> Iterator[Launcher]:
    """Runs the launch file with arguments, on an installation like that of colcon, and ends it."""
    pytest.importorskip("launch_ros.actions", reason="ROS 2's launch_ros is not installed (it is not on PyPI)")
    import launch

    prefix = tmp_path / "install"
    install(prefix)
    runner = tmp_path / "runner.py"
    runner.write_text(RUNNER)
    paths = [str(Path(launch.__file__).parents[1]), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        **loopback,
        "AMENT_PREFIX_PATH": os.pathsep.join(filter(None, [str(prefix), os.environ.get("AMENT_PREFIX_PATH", "")])),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "ROS_LOG_DIR": str(tmp_path / "log"),
    }
    started: list[subprocess.Popen[bytes]] = []

    def run(*arguments: str) -> subprocess.Popen[bytes]:
        with open(tmp_path / "output", "wb") as output:
            started.append(
                subprocess.Popen(
                    [sys.executable, str(runner), str(LAUNCH_FILE), *arguments],
                    cwd=tmp_path, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                    preexec_fn=_mind_ctrl_c,
                )
            )  # fmt: skip
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        process.wait(30.0)


def _mind_ctrl_c() -> None:
    """A test that runs in the background of a shell has inherited to ignore it, and launch would go on doing so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def children(launched: subprocess.Popen[bytes]) -> dict[int, list[str]]:
    """Command lines of the processes that a launch has started, by process id."""
    found = Path(f"/proc/{launched.pid}/task/{launched.pid}/children").read_text().split()
    return {int(child): Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0") for child in found}


def pids(launched: subprocess.Popen[bytes]) -> dict[str, int]:
    """Process ids of the nodes that a launch has started, by executable."""
    named = [(word, child) for child, words in children(launched).items() for word in words[:2]]
    return {Path(word).name: child for word, child in named if f"/lib/{PACKAGE}/" in word}


@pytest.mark.slow
def test_the_robot_bounds_under_a_namespace_and_a_killed_planner_comes_back(
    launcher: Launcher, context: Context, executor: SingleThreadedExecutor, tmp_path: Path, make_node: NodeMaker
) -> None:
    launched = launcher(f"namespace:={NAMESPACE.strip('/')}", "lockstep:=true")
    operator = Operator(lambda name: make_node(name, namespace=NAMESPACE), executor)
    operator.until(lambda: len(operator.heights) > 0, BUILDING)

    def bound() -> None:
        while operator.mode != "move":
            assert launched.poll() is None, (tmp_path / "output").read_text()
            operator.tell(io.STAND)
            operator.tell(io.MOVE)
            operator.watch(0.5)

    bound()
    first = pids(launched)
    assert set(first) == {"planner_node", "controller_node", "simulator_node"}
    known = len(operator.events)
    os.kill(first["planner_node"], signal.SIGKILL)
    operator.until(lambda: any(mode == "stand" for mode, _ in operator.events[known:]))
    bound()
    second = pids(launched)
    assert {name for name in first if second[name] != first[name]} == {"planner_node"}
    os.killpg(launched.pid, signal.SIGINT)  # as a terminal does
    assert launched.wait(30.0) == 0
    output = (tmp_path / "output").read_text()
    assert "Traceback" not in output
    assert "escalating" not in output, "somebody did not end when told to"
    for name, pid in second.items():
        assert not _runs(pid), f"{name} has outlived the launch"


def test_nobody_outlives_a_launch_that_is_killed(launcher: Launcher, tmp_path: Path) -> None:
    """Nor do programs of others, which know nothing of the launch; a sleep stands for them."""
    register(tmp_path / "install", "robot_state_publisher")
    for package, name in (("robot_state_publisher", "robot_state_publisher"), (PACKAGE, "frames_node")):
        program = tmp_path / "install" / "lib" / package / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\nexec sleep 1000\n")
        program.chmod(0o755)
    launched = launcher("lockstep:=true")
    deadline = time.monotonic() + BUILDING
    while "simulating" not in (tmp_path / "output").read_text() or len(children(launched)) < 5:
        assert time.monotonic() < deadline, (tmp_path / "output").read_text()
        time.sleep(0.1)
    started = children(launched)
    launched.kill()
    while left := [words for pid, words in started.items() if _runs(pid)]:
        assert time.monotonic() < deadline, f"{left} have outlived the launch"
        time.sleep(0.1)


def _runs(pid: int) -> bool:
    """Whether there is such a process; one that nobody has waited for does not count."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["backend:=vacuum"], "vacuum"),
        (["rviz:=true"], "rviz2"),
        (["record:=true"], "ros2bag"),
        (["joystick:=true"], "joy"),
        (["model:=/nowhere/robot.urdf"], "/nowhere/robot.urdf"),
        (["params_file:=/nowhere/mine.yaml"], "/nowhere/mine.yaml"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_left(
    launcher: Launcher, tmp_path: Path, arguments: list[str], words: str
) -> None:
    from ament_index_python.packages import get_packages_with_prefixes

    if os.environ.get("AMENT_PREFIX_PATH") and words in get_packages_with_prefixes():
        pytest.skip(f"{words} is installed here")
    launched = launcher("backend:=none", *arguments) if "backend" not in arguments[0] else launcher(*arguments)
    assert launched.wait(60.0) == 1
    output = (tmp_path / "output").read_text()
    assert words in output
    assert "Traceback" not in output


def test_the_files_that_the_launch_file_hands_on_are_well_formed_and_apply_in_every_namespace() -> None:
    for name in ("base.yaml", "joy.yaml"):
        content = yaml.safe_load((ROOT / "config" / name).read_text(encoding="utf-8"))
        for node, body in content.items():
            assert node.startswith("/**/"), f"{name}: {node} is taken for a node of the root namespace"
            assert set(body) == {"ros__parameters"}
    joystick = yaml.safe_load((ROOT / "config" / "joy.yaml").read_text(encoding="utf-8"))
    actions = joystick["/**/joy_teleop"]["ros__parameters"].values()
    services = {action["service_name"] for action in actions if action["type"] == "service"}
    assert services == {service.name for service in (io.DAMP, io.STAND, io.MOVE, io.RECOVER)}
    assert [action["topic_name"] for action in actions if action["type"] == "topic"] == [io.CMD_VEL.name]
