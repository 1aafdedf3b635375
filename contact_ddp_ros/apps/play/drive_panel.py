"""The tab that leads the robot: modes, motion, gait, time and pushes, each only where the robot can do it."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import rmtree
from threading import RLock
from typing import Any, Final

import viser

from contact_ddp_ros.apps.play.tune_panel import choose, range_slider
from contact_ddp_ros.base.choices import GAIT_SUFFIXES
from contact_ddp_ros.base.config import ParameterSpec
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import new_folder
from contact_ddp_ros.mpc.config import MOST_TURN, PlannerConfig
from contact_ddp_ros.robot.gaits.gait import load_gait
from contact_ddp_ros.runs.live.commands import (
    Command,
    Drive,
    Pause,
    Perform,
    PushTrunk,
    Recover,
    Reset,
    SetMode,
    SetParameters,
    Slow,
    Step,
)
from contact_ddp_ros.runs.live.snapshot import Snapshot, World

_STEPS: Final = {
    "W": Drive(forward=0.1),
    "S": Drive(forward=-0.1),
    "A": Drive(turn=0.1),
    "D": Drive(turn=-0.1),
    "Q": Drive(sideways=0.05),
    "E": Drive(sideways=-0.05),
}
"""Increments of a press of a key."""

_SPEED_LIMIT: Final = "planner.reference.speed_limit"
"""Parameter whose value ends the sliders of both speeds; the planner reports what it cuts for a gait's sake."""

_GAIT: Final = "planner.gait.name"
"""Parameter of the gait: a name or a file."""

_POSE: Final = ("planner.reference.height", "planner.reference.roll", "planner.reference.pitch")
"""Parameters of the trunk's pose."""

_DIRECTIONS: Final = {
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
    "forward": (1.0, 0.0, 0.0),
    "backward": (-1.0, 0.0, 0.0),
    "up": (0.0, 0.0, 1.0),
    "down": (0.0, 0.0, -1.0),
}
PACES: Final = {"real time": 1.0, "1/2": 0.5, "1/4": 0.25, "1/10": 0.1, "1/50": 0.02}
"""Choices of the wanted real-time factor."""

_ONE_STEP = 5
"""Control ticks of the button: one period of the planner."""


class DrivePanel:
    """Modes, motion, time and pushes."""

    def __init__(
        self,
        gui: viser.GuiApi,
        send: Callable[[Command], None],
        abilities: frozenset[str],
        gaits: tuple[str, ...],
        motions: tuple[str, ...] = (),
        parameters: Mapping[str, ParameterSpec] | None = None,
    ) -> None:
        """Fills the present tab with what the robot, of these parameters, is able to."""
        self._gui, self._send = gui, send
        self.drive = Drive()
        limit = (parameters or {}).get(_SPEED_LIMIT)
        self._speed_limit = PlannerConfig().reference.speed_limit if limit is None else float(limit.default)  # type: ignore[arg-type]
        self._leading = RLock()  # keys and sliders come in threads of their own
        self._paused = False
        self._inputs: dict[str, Any] = {}
        self._pace: Any = None
        self._motion: Any = None
        self._add_modes(abilities)
        self._add_motion()
        if "SetParameters" in abilities:
            self._add_pose(parameters or {})
            self._add_gait(gaits, live="Rebuild" in abilities)
        if motions:
            self._add_motions(motions)
        if {"Pause", "Step", "Slow", "Reset"} & abilities:
            self._add_time(abilities)
        if "PushTrunk" in abilities:
            self._add_pushes()

    def command(self, drive: Drive) -> None:
        """Command a motion, within the limits of the sliders, and show it."""
        with self._leading:
            self.drive = Drive(
                forward=_within(drive.forward, self._speed_limit),
                turn=_within(drive.turn, MOST_TURN),
                sideways=_within(drive.sideways, self._speed_limit),
            )
            self._send(self.drive)
            self._show_drive()

    def press(self, key: str) -> None:
        """Do what a key stands for; of several at once each counts."""
        if key in _STEPS:
            step = _STEPS[key]
            with self._leading:
                now = self.drive
                self.command(Drive(now.forward + step.forward, now.turn + step.turn, now.sideways + step.sideways))
        elif key == "space":
            self.command(Drive())
        elif key == "X":
            self._send(SetMode("damp"))
        elif key == "P":
            self._send(Pause(not self._paused))
        elif key == "R":
            self._send(Recover())

    def take_drive(self, drive: Drive) -> None:
        """Begin with a motion that is commanded already."""
        self.drive = drive
        self._show_drive()

    def show_parameters(self, values: dict[str, Any]) -> None:
        """Show pose, gait and solver in use, and the limit of the speed."""
        self._speed_limit = values.get(_SPEED_LIMIT, self._speed_limit)
        for handle in (self._speed, self._sideways):
            handle.min, handle.max = -self._speed_limit, self._speed_limit
        for name, handle in self._inputs.items():
            if name in values:
                choose(handle, values[name])

    def take_robot(self, world: World) -> None:
        """Show motions and ranges of the pose of another robot."""
        for name in _POSE:
            if name in self._inputs:
                handle, spec = self._inputs[name], world.parameters[name]
                handle.min, handle.max = spec.low, spec.high
        if self._motion is not None and world.motions:
            self._motion.options = world.motions

    def show(self, snapshot: Snapshot) -> None:
        """Follow a snapshot."""
        self._paused = snapshot.paused
        if self._pace is not None:
            self._pace.value = min(PACES, key=lambda name: abs(PACES[name] - snapshot.pace))

    def _add_modes(self, abilities: frozenset[str]) -> None:
        modes = ["Stand", "Move", "Damp"] if "SetMode" in abilities else []
        modes += ["Recover"] if "Recover" in abilities else []
        if not modes:
            return
        group = self._gui.add_button_group("Mode", modes, hint="Recover: up from where it lies, or put on its feet")

        @group.on_click
        def _(event: Any) -> None:
            name = event.target.value
            self._send(Recover() if name == "Recover" else SetMode(name.lower()))

    def _add_motion(self) -> None:
        gui, speed = self._gui, self._speed_limit
        # typed as Any: viser's stubs give values no setter
        self._speed: Any = gui.add_slider("speed [m/s]", -speed, speed, 0.05, 0.0, hint="keys W and S")
        self._turn: Any = gui.add_slider(
            "turn [rad/s]", -MOST_TURN, MOST_TURN, 0.05, 0.0, hint="keys A and D, + is left"
        )
        self._sideways: Any = gui.add_slider("sideways [m/s]", -speed, speed, 0.05, 0.0, hint="keys Q and E, left is +")
        for slider in (self._speed, self._turn, self._sideways):

            @slider.on_update
            def _(event: Any) -> None:
                if event.client is not None:
                    self.command(Drive(self._speed.value, self._turn.value, self._sideways.value))

        stop = gui.add_button("Stop (space)", color="red")
        stop.on_click(lambda _: self.command(Drive()))

    def _add_pose(self, parameters: Mapping[str, ParameterSpec]) -> None:
        for spec in (parameters[name] for name in _POSE if name in parameters):
            self._set_by(range_slider(self._gui, spec, spec.description), spec.name)

    def _set_by(self, handle: Any, name: str) -> None:
        """Have an input set a parameter, and show it."""
        self._inputs[name] = handle

        @handle.on_update
        def _(event: Any) -> None:
            if event.client is not None:
                self._send(SetParameters({name: handle.value}))

    def _add_gait(self, gaits: tuple[str, ...], *, live: bool) -> None:
        """With `live` the solver may change while the robot moves, too; nodes take another one at rest: a parameter."""
        gait = self._gui.add_dropdown("gait", gaits or ("bound",), hint="a change begins at a cycle's end")
        self._set_by(gait, _GAIT)
        if live:
            hint = "a YAML file with period and stances, as for --gait"
            upload = self._gui.add_upload_button("Gait of your own", hint=hint, mime_type=",".join(GAIT_SUFFIXES))
            upload.on_upload(self._take_gait)
            hint = "full second order, or Gauss-Newton: the blend theta is then 0"
            self._set_by(self._gui.add_dropdown("solver", ("ddp", "ilqr"), hint=hint), "planner.variant")

    def _take_gait(self, event: Any) -> None:
        """Use the gait of a file that somebody has given, or say what is wrong with it."""
        file = event.target.value
        try:
            self._send(SetParameters({_GAIT: str(stored_gait(file.name, file.content))}))
        except (OSError, ParameterError) as error:
            event.client.add_notification("Refused", str(error), color="red")

    def _add_motions(self, motions: tuple[str, ...]) -> None:
        self._motion = chosen = self._gui.add_dropdown("jump or flip", motions)
        do = self._gui.add_button("Do it", hint="out of a stand; the first time it is optimised before")
        do.on_click(lambda _: self._send(Perform(chosen.value)))

    def _add_time(self, abilities: frozenset[str]) -> None:
        names = {"Pause": "Pause", "Step": "Step", "Reset": "Reset"}
        group = self._gui.add_button_group(
            "Time", [name for name, kind in names.items() if kind in abilities], hint="Step: 10 ms of a paused robot"
        )

        @group.on_click
        def _(event: Any) -> None:
            do: dict[str, Command] = {"Pause": Pause(not self._paused), "Step": Step(_ONE_STEP), "Reset": Reset()}
            self._send(do[event.target.value])

        if "Slow" in abilities:
            self._pace = self._gui.add_dropdown("pace", tuple(PACES))

            @self._pace.on_update
            def _(event: Any) -> None:
                if event.client is not None:
                    self._send(Slow(PACES[event.target.value]))

    def _add_pushes(self) -> None:
        gui = self._gui
        with gui.add_folder("Push"):
            impulse = gui.add_slider("impulse [N·s]", 0.5, 15.0, 0.5, 4.0, hint="force times duration")
            duration = gui.add_slider("duration [s]", 0.02, 0.5, 0.02, 0.1)
            angle = gui.add_slider("bearing [deg]", -180, 180, 5, 90, hint="0 forward, 90 left; of the button Push")
            group = gui.add_button_group("direction", tuple(_DIRECTIONS))
            push = gui.add_button("Push along the bearing")
            gui.add_markdown("Or drag the trunk or a leg with the mouse: a spring pulls it.")

            def act(direction: tuple[float, float, float]) -> None:
                force = impulse.value / duration.value
                x, y, z = (force * part for part in direction)
                self._send(PushTrunk((x, y, z), duration.value))

            @group.on_click
            def _(event: Any) -> None:
                act(_DIRECTIONS[event.target.value])

            @push.on_click
            def _(_event: Any) -> None:
                bearing = math.radians(angle.value)
                act((math.cos(bearing), math.sin(bearing), 0.0))

    def _show_drive(self) -> None:
        self._speed.value = round(self.drive.forward, 3)
        self._turn.value = round(self.drive.turn, 3)
        self._sideways.value = round(self.drive.sideways, 3)


def stored_gait(name: str, content: bytes) -> Path:
    """File of a gait in an output folder, which is there only if it holds one.

    Raises:
        ParameterError: it is no gait, or the folder cannot be made; the text says why.
    """
    folder = new_folder("gait", None).absolute()
    file = folder / Path(name).name
    try:
        file.write_bytes(content)
        load_gait(str(file))
    except (OSError, ParameterError):
        rmtree(folder)
        raise
    return file


def _within(value: float, limit: float) -> float:
    return round(min(max(value, -limit), limit), 3)
