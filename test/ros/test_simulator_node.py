"""The simulator's node in one process: who changes the world from outside waits for who looks at it."""

import time as clock
from collections.abc import Callable, Iterator
from threading import Event, Thread, get_ident
from typing import Any

import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from ros_graph import NodeMaker, Watcher
from std_srvs.srv import Trigger

from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros import simulator_node
from contact_ddp_ros.ros.runtime import publisher, subscribe
from contact_ddp_ros.ros.simulator_node import SimulatorNode

LOOKS = ("read", "truth", "_specific_force", "_foot_heights", "_contact_forces")
CHANGES = ("write", "advance", "push", "reset")

LONG_ENOUGH = 0.0005
"""Time that every call is made to take, so that others get their turn in it [s]."""


class Slow(MujocoSimulator):
    """A world that takes its time, and notes who comes in while somebody else is in it."""

    def __init__(self, *arguments: Any) -> None:
        self.owner: int | None = None
        self.entered: dict[str, int] = dict.fromkeys((*LOOKS, *CHANGES), 0)
        self.meetings: list[str] = []
        super().__init__(*arguments)


def _slowly(name: str) -> Callable[..., Any]:
    def method(self: Slow, *arguments: Any) -> Any:
        before, self.owner = self.owner, get_ident()
        if before not in (None, self.owner):
            self.meetings.append(name)
        self.entered[name] += 1
        clock.sleep(LONG_ENOUGH)
        try:
            return getattr(super(Slow, self), name)(*arguments)
        finally:
            self.owner = before

    return method


for _name in (*LOOKS, *CHANGES):
    setattr(Slow, _name, _slowly(_name))


@pytest.fixture
def running(make_node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatorNode]:
    monkeypatch.setattr(simulator_node, "make_simulator", Slow)
    work, stop = SimulatorNode(make_node("simulator")), Event()
    thread = Thread(target=work.run, args=(stop,))
    thread.start()
    yield work
    stop.set()
    thread.join()


def test_nobody_changes_the_world_while_somebody_looks_at_it(
    make_node: NodeMaker, executor: SingleThreadedExecutor, running: SimulatorNode
) -> None:
    watcher, world = Watcher(make_node, executor), running._plant
    executor.add_node(running.node)
    for topic in (io.FORCE_MARKERS, io.IMU, io.RECORD):
        subscribe(watcher.node, topic, lambda _message: None)
    pushes = publisher(watcher.node, io.PUSH)

    def disturb() -> bool:
        watcher.call(io.RESET, Trigger.Request())
        pushes.publish(WrenchStamped())
        return all(count > 20 for count in world.entered.values())

    watcher.until(disturb)
    assert world.meetings == []
