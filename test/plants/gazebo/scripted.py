"""A server that does what a test tells it: states in uniform motion, requests and efforts on record."""

import time as clock
from threading import Thread
from typing import Any

import numpy as np
from plants.gazebo.messages import STEP, joint_states, odometry

from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import PLAIN, BridgeConfig, Names
from contact_ddp_ros.plants.gazebo.emulator.messages import TYPES
from contact_ddp_ros.plants.gazebo.emulator.transport import Bus, emulator_bindings
from contact_ddp_ros.plants.gazebo.world_control import DirectControl
from contact_ddp_ros.robot.joints import JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import RobotState

ROBOT = load_robot()
GAINS = DriveConfig().gains(len(LEG_NAMES))


def step(bridge: GazeboBridge, steps: int) -> RobotState:
    """The state after so many physics steps."""
    bridge.advance(steps)
    return bridge.state


class ScriptedServer:
    """Tells the joints of :mod:`gazebo.messages`; steps where it is asked to, at once."""

    def __init__(self) -> None:
        self.bus = Bus()
        self.names = Names()
        self.stamp = 0
        self.requests: list[Any] = []
        self.events: list[str] = []
        self.efforts = np.full(len(JOINT_NAMES), np.nan)
        self.deaf = False
        """Whether steps are accepted and not made."""
        self.acknowledging = True
        """Whether marks are answered."""
        self.format = PLAIN
        self.halt_after: int | None = None
        """After how many steps of the next request somebody pauses the world."""
        self._left = 0
        self.lose = 0
        """How many of the next steps' odometry gets lost."""
        self.repeats = 2
        """How often joint states are told again before and after steps."""
        for index, joint in enumerate(JOINT_NAMES):
            self.bus.subscribe(self.names.effort(joint), lambda message, index=index: self._on_effort(index, message))
        self.bus.subscribe(self.names.efforts_sent, self._on_mark)
        self.bus.serve(self.names.control, TYPES["WorldControl"], self._on_request)

    def bridge(self, **config: object) -> GazeboBridge:
        bindings = emulator_bindings(self.bus)
        control = DirectControl(bindings, self.names, bindings.node())
        defaults: dict[str, object] = {"settle": False, "answer_timeout": 0.2}
        whole = BridgeConfig(**{**defaults, **config})  # type: ignore[arg-type]
        return GazeboBridge(ROBOT, GAINS, bindings, control, whole)

    def tell(self, steps: int = 1, joints: Any = None, base: Any = None) -> None:
        """Let time go on and tell each state, or `joints` and `base` instead."""
        for _ in range(steps):
            self.stamp += STEP
            self.bus.publish(self.names.joint_state, joint_states(self.stamp) if joints is None else joints)
            if self.lose:
                self.lose -= 1
            else:
                self.bus.publish(self.names.odometry, odometry(self.stamp) if base is None else base)

    def stand(self) -> None:
        """Tell the joint states of the present instant again, as a server does whose time stands."""
        for _ in range(self.repeats):
            self.bus.publish(self.names.joint_state, joint_states(self.stamp))

    def _stand_still(self) -> None:
        """Tell the joint states of the present instant again and again until time goes on."""
        while self._left:
            self.stand()
            clock.sleep(0.01)

    def expected(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities of the joints at the present stamp."""
        return np.arange(12.0) + 1e-9 * self.stamp, -np.arange(12.0)

    def _on_effort(self, index: int, message: Any) -> None:
        self.efforts[index] = message.data
        self.events.append("effort")

    def _on_mark(self, _message: Any) -> None:
        self.events.append("mark")
        if self.acknowledging:
            answer = TYPES["Double"]()
            answer.data = self.format
            self.bus.publish(self.names.efforts_received, answer)

    def _on_request(self, request: Any) -> Any:
        self.requests.append(request)
        self.events.append("request")
        if request.reset.all:
            self.stamp = 0
            self.bus.publish(self.names.joint_state, joint_states(0))
        elif not self.deaf:
            self.stand()
            steps = self._left + request.multi_step
            made, self.halt_after = steps if self.halt_after is None else self.halt_after, None
            self._left = steps - made
            self.tell(made)
            self.stand()
            if self._left:
                Thread(target=self._stand_still, daemon=True).start()
        answer = TYPES["Boolean"]()
        answer.data = True
        return answer
