"""The chooser of robot and world: engine, state, ground, friction and payload, built when asked for.

Pushes and pulls of the simulated robot, and which of them a fall may be put down to.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final

import numpy as np
import viser
from numpy.typing import NDArray

from contact_ddp_ros.apps.play.keys import MouseSpring
from contact_ddp_ros.apps.play.tune_panel import choose, range_slider
from contact_ddp_ros.base.choices import DEFAULT_ROBOT
from contact_ddp_ros.base.config import Value
from contact_ddp_ros.control.safety import Fault
from contact_ddp_ros.plants.engines import PACKAGES
from contact_ddp_ros.plants.terrain.words import FLAT
from contact_ddp_ros.robot.profile import packaged_robots
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.live.commands import Command, PushTrunk, Rebuild
from contact_ddp_ros.runs.live.snapshot import Spring, World
from contact_ddp_ros.runs.options import OPTIONS, RunOptions

Array = NDArray[np.float64]

_BLAME = 1.0
"""A fall this soon after a disturbance is said together with it [s]."""

DISTURBED: Final = "in the second before came"
"""Beginning of what is said of such a disturbance."""


class Disturbances:
    """Pushes, pulls and loads that people put on one simulated robot."""

    def __init__(self, simulator: Any) -> None:
        """`simulator` has what :class:`contact_ddp_ros.apps.play.keys.MouseSpring` needs."""
        self._simulator = simulator
        self._mouse = MouseSpring(simulator)
        self._push, self._push_end = np.zeros(3), -math.inf
        self._last = ("", math.inf, -math.inf)
        """Latest disturbance in words, with its begin and end [s]."""

    def push(self, push: PushTrunk) -> str:
        """Push the trunk; what it was, for people.

        Raises:
            ParameterError: a number is not finite, or the duration is not positive.
        """
        simulator = self._simulator
        yaw = float(quaternion_to_rpy(simulator.truth().state.orientation)[2])
        forward, left, up = push.force
        cos, sin = math.cos(yaw), math.sin(yaw)
        force = np.array([cos * forward - sin * left, sin * forward + cos * left, up])
        simulator.push(force, push.duration)
        self._push, self._push_end = force, simulator.time + push.duration
        text = f"a push of {float(np.linalg.norm(force)) * push.duration:.1f} N·s"
        self._last = (text, simulator.time, self._push_end)
        return text

    def grab(self, link: str, point: Array, target: Array) -> None:
        """Begin of a pull, see :meth:`contact_ddp_ros.apps.play.keys.MouseSpring.grab`."""
        new = self._mouse.view is None
        self._mouse.grab(link, point, target)
        if new:
            self._last = ("a pull by the mouse", self._simulator.time, math.inf)

    def release(self) -> str:
        """Let go; what it was, for people, and empty where nothing was grabbed."""
        impulse = self._mouse.release()
        if not impulse:
            return ""
        text = f"a pull of {impulse:.1f} N·s"
        self._last = (text, self._last[1], self._simulator.time)
        return text

    def act(self, dt: float) -> None:
        """Set the mouse's force for the tick of `dt` [s] that follows."""
        self._mouse.act(dt)

    @property
    def spring(self) -> Spring | None:
        """The mouse's pull now."""
        return self._mouse.view

    @property
    def force(self) -> Array:
        """(3,) push on the trunk now, in `odom` [N]."""
        return self._push if self._simulator.time < self._push_end else np.zeros(3)

    def reason(self, fault: Fault) -> str:
        """Why the robot fell: the fault, and the disturbance just before it."""
        text, begin, end = self._last
        return f"{fault}; {DISTURBED} {text}" if begin <= fault.time <= end + _BLAME else str(fault)


@dataclass(frozen=True)
class Kind:
    """One kind of ground.

    Attributes:
        label: of its number.
        word: of the ground, with the number left open.
        first: number to begin with.
        low, high, step: of the number.
    """

    label: str
    word: str
    first: float
    low: float
    high: float
    step: float


KINDS: Final = {
    "slope": Kind("climb [deg]", "slope:{:g}", 6.0, -15.0, 15.0, 0.5),
    "step": Kind("rise [m], 1.2 m ahead", "step:1.2,{:g}", 0.02, -0.05, 0.05, 0.005),
    "stairs": Kind("rise [m] of 5 steps", "stairs:{:g},5", 0.02, -0.05, 0.05, 0.005),
    "boxes": Kind("height [m]", "boxes:{:g},1", 0.02, 0.0, 0.06, 0.005),
    "stones": Kind("height [m]", "stones:{:g},1", 0.02, 0.0, 0.05, 0.005),
    "kerb": Kind("rise of the left [m]", "kerb:{:g}", 0.03, -0.05, 0.05, 0.005),
    "rough": Kind("height of hills [m]", "rough:{:g}", 0.1, 0.0, 0.2, 0.01),
}
"""Besides level ground, which has no number."""


_TERRAIN = "simulator.terrain"


def word_of(kind: str, number: float) -> str:
    """Terrain word of RunOptions.terrain."""
    return FLAT if kind == FLAT else KINDS[kind].word.format(number)


def ground_of(world: World) -> str:
    """The word of the ground that is built."""
    built = world.parameters.get(_TERRAIN)
    return str(world.options.in_effect("terrain") if built is None else built.default)


def elsewhere(
    world: World, values: Mapping[str, Value], robot: str, state: str, wanted: Mapping[str, Value]
) -> RunOptions:
    """Options of a run with the parameters in use, in another world.

    Another robot has its own parameters: of those in use it takes the simulator's alone.

    Args:
        world: the present one.
        values: parameters in use, by "section.name".
        robot: name or file.
        state: source of the state estimate.
        wanted: parameters of the simulator, by "section.name".
    """
    built = {name: spec.default for name, spec in world.parameters.items()}
    unlike = {name: value for name, value in values.items() if built.get(name) != value}
    options = replace(world.options, state=state)
    if robot != options.robot:
        unlike = {name: value for name, value in unlike.items() if name.startswith("simulator.")}
        kept = {name: value for name, value in options.overrides.items() if name.startswith("simulator.")}
        options = replace(options, robot=robot, config=None, overrides=kept)
    return options.changed({**unlike, **wanted})


_FRICTION, _PAYLOAD, _ENGINE = "simulator.friction", "simulator.payload.mass", "simulator.engine"


class WorldPanel:
    """Folder of the robot and its world: what may be chosen, and a button that builds it."""

    def __init__(
        self,
        gui: viser.GuiApi,
        send: Callable[[Command], None],
        values: Callable[[], Mapping[str, Value]],
        world: World,
    ) -> None:
        """Fills a folder in the present tab; `values` are the parameters in use, by "section.name"."""
        self._send, self._values = send, values
        self._world: World | None = None
        with gui.add_folder("World"):
            self._shown: Any = gui.add_html("")
            self._robot: Any = gui.add_dropdown("robot", tuple(packaged_robots()), initial_value=DEFAULT_ROBOT)
            self._engine: Any = gui.add_dropdown("engine", tuple(PACKAGES))
            self._state: Any = gui.add_dropdown("state", OPTIONS["state"].choices, hint="of IMU and joints, or true")
            self._kind: Any = gui.add_dropdown("ground", (FLAT, *KINDS), hint="planner and controller do not know it")
            self._numbers: dict[str, Any] = {
                name: gui.add_slider(one.label, one.low, one.high, one.step, one.first, visible=False)
                for name, one in KINDS.items()
            }
            self._friction: Any = range_slider(gui, world.parameters[_FRICTION], "of the ground")
            self._payload: Any = range_slider(gui, world.parameters[_PAYLOAD], "on the trunk", "payload [kg]")
            build = gui.add_button("Build this world", hint="the robot begins again there; its parameters stay")
        self._kind.on_update(lambda _: self._show_number())
        build.on_click(lambda _: self._build())

    def show(self, world: World) -> None:
        """Show the world that is built."""
        self._world = world
        robot, state = world.options.robot, world.options.state
        self._shown.content = f'<div style="margin:2px 8px;font-size:0.82em">built: {escape(ground_of(world))}</div>'
        choose(self._robot, robot)
        self._state.value = state
        for name, handle in ((_ENGINE, self._engine), (_FRICTION, self._friction), (_PAYLOAD, self._payload)):
            handle.value = world.parameters[name].default

    def _show_number(self) -> None:
        for name, slider in self._numbers.items():
            slider.visible = name == self._kind.value

    def _build(self) -> None:
        if self._world is None:
            return
        kind = self._kind.value
        wanted = {
            _TERRAIN: word_of(kind, 0.0 if kind == FLAT else self._numbers[kind].value),
            _ENGINE: self._engine.value,
            _FRICTION: self._friction.value,
            _PAYLOAD: self._payload.value,
        }
        self._send(Rebuild(elsewhere(self._world, self._values(), self._robot.value, self._state.value, wanted)))
