"""Node processes as children: started, watched, and ended by their ids.

A child ends with its parent in any case: it stops when its standard input, a pipe from the parent, closes.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.base.process import END_WITH_STDIN
from contact_ddp_ros.plants.lcm.codec import ROBOT_EMULATOR
from contact_ddp_ros.plants.unitree.config import UNITREE_EMULATOR

_PATIENCE = 5.0
"""Time that a node gets to end after a request before it is killed [s]."""

_MODULES = {"bridge": "contact_ddp_ros.ros.lcm_bridge_node"}
"""Modules of the nodes that are not called like them."""

_EMULATORS = {
    ROBOT_EMULATOR: "contact_ddp_ros.plants.lcm.emulator",
    UNITREE_EMULATOR: "contact_ddp_ros.plants.unitree.emulator",
}
"""Modules of the emulators."""

_ONE_OF_A_KIND = ("planner", "controller", "simulator")
"""Nodes that look for another one of their kind."""

_DISCOVERY_TIME = 0.3
"""Time of discovery in a domain that nobody else has; as long as it mostly takes over loopback [s]."""

_TAIL = 3
"""Lines of a dead node's log that are shown."""


class NodeProcesses:
    """Context manager: nodes of this package, each in its own process; all are stopped at its end."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """`environment`: variables on top of this process's own."""
        self._folder = tempfile.TemporaryDirectory(prefix="contact_ddp_ros_")
        self._environment = {**os.environ, **environment, END_WITH_STDIN: "1", "ROS_LOG_DIR": self._folder.name}
        root = str(Path(__file__).resolve().parents[2])
        self._environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "NodeProcesses":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._folder.cleanup()

    def start(self, name: str, parameters: Mapping[str, Any], arguments: Sequence[str] = ()) -> int:
        """Start the node `name` with parameters by dotted name; returns its process id."""
        file = self._parameter_file({name: parameters})
        module = _MODULES.get(name, f"contact_ddp_ros.ros.{name}_node")
        return self._start(name, module, ["--ros-args", "--params-file", str(file), *arguments])

    def start_composed(self, robot: str, parameters: Mapping[str, Mapping[str, Any]]) -> int:
        """Start the controller and the node `robot` in one process, with parameters by node; its process id."""
        file = self._parameter_file(parameters)
        module = "contact_ddp_ros.ros.composed_node"
        return self._start(" + ".join(parameters), module, [robot, "--ros-args", "--params-file", str(file)])

    def start_emulator(self, name: str, parameters: Mapping[str, Any]) -> int:
        """Start a robot emulator, which is not a ROS node, with parameters by dotted name; returns its process id."""
        file = self._parameter_file({name: parameters})
        return self._start(name, _EMULATORS[name], ["--params-file", str(file)])

    def _parameter_file(self, parameters: Mapping[str, Mapping[str, Any]]) -> Path:
        """A file with the parameters of each node."""
        sections = {}
        for name, own in parameters.items():
            values = {"node.discovery_time": _DISCOVERY_TIME, **own} if name in _ONE_OF_A_KIND else own
            plain = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
            sections[name] = {"ros__parameters": plain}
        file = Path(self._folder.name, f"{'_'.join(parameters)}.yaml")
        file.write_text(yaml.safe_dump(sections), encoding="utf-8")
        return file

    def _start(self, name: str, module: str, arguments: Sequence[str]) -> int:
        with open(self._log(name), "wb") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "contact_ddp_ros.ros.programs", module, *arguments],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children[name] = child
        return child.pid

    def check(self) -> None:
        """Raise NodeError if a node has ended."""
        for name, child in self._children.items():
            code = child.poll()
            if code is not None:
                raise NodeError(f"the {name} ended with code {code}: {self._last_words(name)}")

    def log(self, name: str) -> str:
        """Output of a node so far."""
        return self._log(name).read_text(encoding="utf-8", errors="replace")

    def signal(self, name: str, number: int = signal.SIGINT) -> None:
        """Send a signal to one node."""
        self._children[name].send_signal(number)

    def wait(self, name: str, timeout: float = _PATIENCE) -> int:
        """Wait for a node to end and return its exit code.

        Raises:
            NodeError: it did not end within `timeout` [s].
        """
        try:
            return self._children[name].wait(timeout)
        except subprocess.TimeoutExpired:
            raise NodeError(f"the {name} did not end within {timeout} s") from None

    def stop(self) -> None:
        """Stop all nodes in the order of their start; kill those that do not end."""
        for child in self._children.values():
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
        for child in self._children.values():
            try:
                child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdin is not None:
                with contextlib.suppress(OSError):
                    child.stdin.close()
        self._children.clear()

    def _log(self, name: str) -> Path:
        return Path(self._folder.name, f"{name}.log")

    def _last_words(self, name: str) -> str:
        lines = [line for line in self.log(name).splitlines() if line.strip()]
        fatal = [line.split("]: ", 1)[-1] for line in lines if "[FATAL]" in line]
        return " ".join(fatal or lines[-_TAIL:]) or "it said nothing"
