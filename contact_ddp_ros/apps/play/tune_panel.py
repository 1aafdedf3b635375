"""The tab with every parameter, and ways to take its values elsewhere: a file, a command.

One control for one declared parameter, with its range, unit and description, and the measured safe range as a track:
green where the robot kept bounding when the safe ranges were measured, red where it did not, grey where nothing was
measured; a mark is the present value.
"""

import math
import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from html import escape
from itertools import groupby
from typing import Any, Final

import viser
import yaml

from contact_ddp_ros.apps.play.keys import copy_to_clipboard
from contact_ddp_ros.base.arguments import flag_of
from contact_ddp_ros.base.choices import DEFAULT_ROBOT
from contact_ddp_ros.base.config import ParameterSpec, Value
from contact_ddp_ros.base.files import plain
from contact_ddp_ros.base.safe_ranges import SafeRange, packaged_ranges, shown
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.runs.live.commands import Answer, Command, SetParameters
from contact_ddp_ros.runs.live.snapshot import Snapshot, World
from contact_ddp_ros.runs.options import OPTIONS, SHORT_FOR, RunOptions

YAML_NAME = "contact_ddp.yaml"

_SLIDER_SPAN: Final = 60.0
"""A slider is drawn for a range of at most so many times the default; a number is typed for a wider one."""

_STEPS = 200
_GREEN, _RED, _GREY, _MARK = "#1a9850", "#e0604c", "#c9ced3", "currentColor"


class Control:
    """A parameter's control in the page."""

    def __init__(
        self,
        gui: viser.GuiApi,
        spec: ParameterSpec,
        safe: SafeRange | None,
        choices: Mapping[str, tuple[str, ...]],
        change: Callable[[str, Value], None],
    ) -> None:
        """`choices` names values of texts that are known; `change` is called with what people set."""
        self.spec = spec
        self._safe = safe
        self._input = _input(gui, spec, _hint(spec, safe), choices.get(spec.name, spec.choices))
        self._track = gui.add_html("") if _is_number(spec.default) and spec.low is not None else None
        self._draw_track(spec.default)

        @self._input.on_update
        def _(event: Any) -> None:
            if event.client is not None:
                change(spec.name, of_kind(spec.default, self._input.value))

    def show(self, value: Value) -> None:
        """Show the value in use."""
        choose(self._input, _for_input(self._input.value, value))
        self._draw_track(value)

    def enable(self, enabled: bool) -> None:
        """Grey the control out, or not."""
        if self._input.disabled == enabled:
            self._input.disabled = not enabled

    def set_visible(self, visible: bool) -> None:
        """Show the control, or hide it."""
        for handle in (self._input, self._track):
            if handle is not None and handle.visible != visible:
                handle.visible = visible

    def _draw_track(self, value: Value) -> None:
        if self._track is not None and isinstance(value, int | float):
            self._track.content = track(self.spec, self._safe, float(value))


def choose(handle: Any, value: Any) -> None:
    """Show a value in an input; one that a list does not offer yet, such as a file, is added to it."""
    if value not in getattr(handle, "options", (value,)):
        handle.options = (*handle.options, value)
    handle.value = value


def track(spec: ParameterSpec, safe: SafeRange | None, value: float) -> str:
    """The coloured range of a number as HTML."""
    low, high = spec.low, spec.high
    if low is None or high is None:
        return ""
    scale = _scale(spec, low, high)
    begin, end = 100.0 * scale(low), 100.0 * scale(high)

    def bar(left: float, right: float, colour: str) -> str:
        return (
            f'<div style="position:absolute;left:{left:.1f}%;width:{max(right - left, 0.5):.1f}%;height:4px;top:3px;'
            f'background:{colour};border-radius:2px"></div>'
        )

    bars = [bar(begin, end, _GREY if safe is None else _RED)]
    if safe is not None and len(safe.held) == 2 and all(map(_is_number, safe.held)):
        bars.append(bar(100.0 * scale(float(safe.held[0])), 100.0 * scale(float(safe.held[1])), _GREEN))
    at = 100.0 * scale(value)
    mark = f'<div style="position:absolute;left:{at:.1f}%;width:2px;height:10px;background:{_MARK}"></div>'
    return f'<div style="position:relative;height:10px;margin:0 0.6em">{"".join(bars)}{mark}</div>'


def _scale(spec: ParameterSpec, low: float, high: float) -> Callable[[float], float]:
    """Scale from values to 0 … 1: linear for sliders, else logarithmic, with values up to zero at the left end."""
    if is_slider(spec):
        return lambda x: min(max((x - low) / (high - low), 0.0), 1.0) if high > low else 0.0
    default = abs(float(spec.default)) if _is_number(spec.default) else 1.0  # type: ignore[arg-type]
    floor = max(low, 1e-3 * (default or high))
    span = math.log(high / floor) if high > floor else 1.0
    return lambda x: min(max(math.log(max(x, floor) / floor) / span, 0.0), 1.0)


def is_slider(spec: ParameterSpec) -> bool:
    """True if a parameter's range is narrow enough for a slider."""
    if spec.low is None or spec.high is None or not _is_number(spec.default):
        return False
    return spec.high - spec.low <= _SLIDER_SPAN * max(abs(float(spec.default)), 0.02)  # type: ignore[arg-type]


def _input(gui: viser.GuiApi, spec: ParameterSpec, hint: str, choices: tuple[str, ...]) -> Any:
    value, label = spec.default, _label(spec)
    common: dict[str, Any] = {"hint": hint}
    if isinstance(value, bool):
        return gui.add_checkbox(label, value, **common)
    if isinstance(value, str):
        if choices:
            options = choices if value in choices else (*choices, value)
            return gui.add_dropdown(label, options, initial_value=value, **common)
        return gui.add_text(label, value, **common)
    return range_slider(gui, spec, hint) if is_slider(spec) else gui.add_text(label, _text(value), **common)


def range_slider(gui: viser.GuiApi, spec: ParameterSpec, hint: str, label: str = "") -> Any:
    """Slider of a number over its declared range; its label is the name with the unit where none is given."""
    label = label or _label(spec)
    low, high, value = spec.low, spec.high, spec.default
    assert low is not None and high is not None and isinstance(value, int | float)
    if isinstance(value, int):
        return gui.add_slider(label, int(low), int(high), 1, value, hint=hint)
    return gui.add_slider(label, float(low), float(high), _nice((high - low) / _STEPS), value, hint=hint)


def _label(spec: ParameterSpec) -> str:
    short = spec.name.rpartition(".")[2].replace("_", " ")
    return f"{short} [{spec.unit}]" if spec.unit else short


def _hint(spec: ParameterSpec, safe: SafeRange | None) -> str:
    unit = f" {spec.unit}" if spec.unit else ""
    words = [f"{spec.name}: {spec.description}"]
    if spec.low is not None and spec.high is not None:
        words.append(f"allowed: {spec.low:g} to {spec.high:g}{unit}")
    if safe is not None:
        words.append(f"held: {shown(list(safe.held))}{unit}")
        words += [f"beyond: {text}" for text in safe.lost.values()]
    if spec.structural:
        words.append("changes while the robot does not move; the loop is built anew")
    return escape(". ".join(words), quote=False)


def of_kind(default: Value, found: Any) -> Value:
    """Content of an input as the parameter's type; a text that holds no numbers stays one, to be refused."""
    if isinstance(default, bool | str) or not isinstance(found, str):
        return type(default)(found)
    try:
        numbers = tuple(float(part) for part in found.replace(",", " ").split())
    except ValueError:
        return found
    if isinstance(default, tuple):
        return numbers
    if len(numbers) != 1:
        return found
    return int(numbers[0]) if isinstance(default, int) and numbers[0].is_integer() else numbers[0]


def _for_input(present: Any, value: Value) -> Any:
    return _text(value) if isinstance(present, str) else value


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _nice(step: float) -> float:
    """A step of 1, 2 or 5 times a power of ten, not above."""
    power = 10.0 ** math.floor(math.log10(step))
    return float(f"{max(m for m in (1.0, 2.0, 5.0) if m * power <= step * 1.0001) * power:.3g}")


class TunePanel:
    """Controls generated from the declared parameters."""

    def __init__(self, gui: viser.GuiApi, send: Callable[[Command], None], speed: Callable[[], float]) -> None:
        """Fills the present tab; `speed` is what is commanded now, for the command that repeats the run [m/s]."""
        self._gui, self._send, self._speed = gui, send, speed
        self._controls: dict[str, Control] = {}
        self._values: dict[str, Value] = {}
        self._declared: Mapping[str, Value] = {}
        self._options = RunOptions()
        self._search: Any = gui.add_text("search", "", hint="part of a name or of its description")
        self._only_changed: Any = gui.add_checkbox("changed only", False)
        self._place = gui.add_folder("Parameters")
        self._built: dict[str, Any] = {}
        self._search.on_update(lambda _: self._filter())
        self._only_changed.on_update(lambda _: self._filter())
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
        if self._only_changed.value:
            self._filter()

    @property
    def values(self) -> dict[str, Value]:
        """Every parameter in use, by "section.name"."""
        return dict(self._values)

    def changed(self) -> dict[str, Value]:
        """The parameters that are not at their declared values."""
        return {name: value for name, value in self._values.items() if self._declared.get(name) != value}

    def _make(self, parameters: Mapping[str, ParameterSpec]) -> None:
        for old in self._built.values():
            old.remove()
        self._built, self._controls = {}, {}
        safe, choices = packaged_ranges(), {"planner.gait.name": tuple(packaged_gaits())}
        with self._place:
            for group, specs in groupby(parameters.values(), key=lambda spec: spec.name.rpartition(".")[0]):
                with ExitStack() as stack:
                    folder = self._gui.add_folder(group, expand_by_default=False)
                    stack.enter_context(folder)
                    self._built[group] = folder
                    for spec in specs:
                        control = Control(self._gui, spec, safe.get(spec.name), choices, self._change)
                        self._controls[spec.name] = control

    def _filter(self) -> None:
        """Show the controls that are searched for, and the folders that have some."""
        words = str(self._search.value).lower().split()
        changed = self.changed()
        shown = {
            name
            for name, control in self._controls.items()
            if all(word in f"{name} {control.spec.description}".lower() for word in words)
            and (name in changed or not self._only_changed.value)
        }
        for name, control in self._controls.items():
            control.set_visible(name in shown)
        groups = {name.rpartition(".")[0] for name in shown}
        for group, folder in self._built.items():
            folder.visible = group in groups

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
    short = {target: flag_of(OPTIONS[name]) for name, target in SHORT_FOR.items()}
    for name, value in values.items():
        words += [short[name], str(value)] if name in short else ["--set", f"{name}={_setting(value)}"]
    return shlex.join(words)


def _setting(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value)) if isinstance(value, tuple) else f"{value}"
