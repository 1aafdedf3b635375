"""The tab with every parameter, and ways to take its values elsewhere: a file, a command."""

import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

import viser
import yaml

from contact_ddp_ros.apps.play.controls import Control
from contact_ddp_ros.apps.play.keys import copy_to_clipboard
from contact_ddp_ros.base.choices import DEFAULT_ROBOT
from contact_ddp_ros.base.config import ParameterSpec, Value
from contact_ddp_ros.base.files import plain, share_places
from contact_ddp_ros.base.safe_ranges import FILE_NAME, SafeRange, read
from contact_ddp_ros.runs.live.commands import Answer, Command, SetParameters
from contact_ddp_ros.runs.live.snapshot import Snapshot, World
from contact_ddp_ros.runs.options import RunOptions

YAML_NAME = "contact_ddp.yaml"


class TunePanel:
    """Controls generated from the declared parameters."""

    def __init__(self, gui: viser.GuiApi, send: Callable[[Command], None], speed: Callable[[], float]) -> None:
        """Fills the present tab; `speed` is what is commanded now, for the command that repeats the run [m/s]."""
        self._gui, self._send, self._speed = gui, send, speed
        self._controls: dict[str, Control] = {}
        self._values: dict[str, Value] = {}
        self._declared: Mapping[str, Value] = {}
        self._options = RunOptions()
        self._place = gui.add_folder("Parameters")
        self._built: list[Any] = []
        with gui.add_folder("Take along"):
            download = gui.add_button("Save as YAML", hint="the changed parameters as a ROS parameter file")
            copy = gui.add_button("Copy as command", hint="a run with these parameters, without the page")
            self._command: Any = gui.add_text("Command", "", multiline=True, hint="copied; or select and copy it here")
        download.on_click(self._download)
        copy.on_click(self._copy)

    def build(self, world: World) -> None:
        """Make the controls of a world's parameters."""
        self._options = world.options
        same = set(world.parameters) == set(self._controls)
        self._values = {name: spec.default for name, spec in world.parameters.items()}
        self._declared = world.declared
        if same:
            for name, value in self._values.items():
                self._controls[name].show(value)
        else:
            self._make(world.parameters)

    def show(self, snapshot: Snapshot) -> None:
        """Grey out what may not change now."""
        moving = snapshot.mode == "move"
        for control in self._controls.values():
            if control.spec.structural and control.spec.name != "planner.variant":
                control.enable(not moving)

    def take(self, answer: Answer, asked: Mapping[str, Any]) -> None:
        """Show the values that are in use after an answer; `asked` holds those that were wanted."""
        self._values |= {name: value for name, value in answer.parameters.items() if name in self._values}
        for name in {*answer.parameters, *asked} & set(self._controls):
            self._controls[name].show(self._values[name])

    @property
    def values(self) -> dict[str, Value]:
        """Every parameter in use, by "section.name"."""
        return dict(self._values)

    def changed(self) -> dict[str, Value]:
        """The parameters that are not at their declared values."""
        return {name: value for name, value in self._values.items() if self._declared.get(name) != value}

    def _make(self, parameters: Mapping[str, ParameterSpec]) -> None:
        for old in self._built:
            old.remove()
        self._built, self._controls = [], {}
        safe, choices = safe_ranges(), {"planner.gait.name": gaits()}
        with self._place:
            for group, specs in groupby(parameters.values(), key=lambda spec: spec.name.rpartition(".")[0]):
                with ExitStack() as stack:
                    folder = self._gui.add_folder(group, expand_by_default=False)
                    stack.enter_context(folder)
                    self._built.append(folder)
                    for spec in specs:
                        control = Control(self._gui, spec, safe.get(spec.name), choices, self._change)
                        self._controls[spec.name] = control

    def _change(self, name: str, value: Value) -> None:
        self._send(SetParameters({name: value}))

    def _download(self, event: viser.GuiEvent[viser.GuiButtonHandle]) -> None:
        if event.client is not None:
            event.client.send_file_download(YAML_NAME, as_yaml(self.changed()).encode("utf-8"), save_immediately=True)

    def _copy(self, event: viser.GuiEvent[viser.GuiButtonHandle]) -> None:
        self._command.value = as_command(self._options, self.changed(), self._speed())
        if event.client is not None:
            copy_to_clipboard(event.client, self._command.value)


def as_yaml(values: Mapping[str, Value]) -> str:
    """Parameters by "section.name" as a ROS parameter file."""
    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, rest = name.partition(".")
        sections.setdefault(section, {"ros__parameters": {}})["ros__parameters"][rest] = plain(value)
    return yaml.safe_dump(sections, sort_keys=False, allow_unicode=True)


def as_command(options: RunOptions, values: Mapping[str, Value], speed: float) -> str:
    """The command line of a run with these parameters at a speed [m/s]."""
    words = ["contact-ddp", "sim", "--speed", f"{round(speed, 3):g}"]
    words += [] if options.robot == DEFAULT_ROBOT else ["--robot", options.robot]
    words += [] if options.config is None else ["--config", str(options.config)]
    for name, value in values.items():
        if name == "planner.variant":
            words += ["--variant", str(value)]
        elif name == "planner.gait.name":
            words += ["--gait", str(value)]
        else:
            words += ["--set", f"{name}={_setting(value)}"]
    return shlex.join(words)


def _setting(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value)) if isinstance(value, tuple) else f"{value}"


def safe_ranges() -> dict[str, SafeRange]:
    """The measured safe ranges by "section.name"; none where the file is not installed."""
    path = _found(f"config/{FILE_NAME}")
    return {} if path is None else {name: one for name, one in read(path).items() if one is not None}


def gaits() -> tuple[str, ...]:
    """Names of the packaged gaits."""
    folder = _found("config/gaits")
    return () if folder is None else tuple(sorted(path.stem for path in folder.glob("*.yaml")))


def _found(relative: str) -> Path | None:
    return next((place for place in share_places(relative) if place.exists()), None)
