"""The chooser of the simulated ground: a kind and how much of it, built when asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final

import viser

from contact_ddp_ros.apps.play.tuning import with_values
from contact_ddp_ros.base.config import Value
from contact_ddp_ros.plants.terrain.words import FLAT
from contact_ddp_ros.runs.live.commands import Command, Rebuild
from contact_ddp_ros.runs.live.snapshot import World
from contact_ddp_ros.runs.options import RunOptions


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
    """What RunOptions.terrain calls it."""
    return FLAT if kind == FLAT else KINDS[kind].word.format(number)


def ground_of(world: World) -> str:
    """The word of the ground that is built."""
    return str(world.parameters[_TERRAIN].default) if _TERRAIN in world.parameters else world.options.terrain


def elsewhere(world: World, values: Mapping[str, Value], word: str) -> RunOptions:
    """The options of a world with the parameters in use, on another ground."""
    built = {name: spec.default for name, spec in world.parameters.items()}
    options = with_values(world.options, {name: value for name, value in values.items() if built.get(name) != value})
    overrides = {name: value for name, value in options.overrides.items() if name != _TERRAIN}
    return replace(options, terrain=word, overrides=overrides)


class WorldPanel:
    """Kind, number and a button."""

    def __init__(
        self, gui: viser.GuiApi, send: Callable[[Command], None], values: Callable[[], Mapping[str, Value]]
    ) -> None:
        """Fills a folder in the present tab; `values` are the parameters in use, by "section.name"."""
        self._send, self._values = send, values
        self._world: World | None = None
        with gui.add_folder("World"):
            self._shown: Any = gui.add_html("")
            self._kind: Any = gui.add_dropdown("ground", (FLAT, *KINDS), hint="planner and controller do not know it")
            self._numbers: dict[str, Any] = {
                name: gui.add_slider(one.label, one.low, one.high, one.step, one.first, visible=False)
                for name, one in KINDS.items()
            }
            build = gui.add_button("Build this world", hint="the robot begins again there; parameters stay")
        self._kind.on_update(lambda _: self._show_number())
        build.on_click(lambda _: self._build())

    def show(self, world: World) -> None:
        """Show the ground that is built."""
        self._world = world
        self._shown.content = f'<div style="margin:2px 8px;font-size:0.82em">built: {escape(ground_of(world))}</div>'

    def _show_number(self) -> None:
        for name, slider in self._numbers.items():
            slider.visible = name == self._kind.value

    def _build(self) -> None:
        if self._world is not None:
            kind = self._kind.value
            word = word_of(kind, 0.0 if kind == FLAT else self._numbers[kind].value)
            self._send(Rebuild(elsewhere(self._world, self._values(), word)))
