"""Comparison of two robots: A keeps the parameters that B, which is tuned, had; both are in the same world."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any, Final

import viser

from contact_ddp_ros.base.config import Value
from contact_ddp_ros.base.safe_ranges import shown
from contact_ddp_ros.runs.live.commands import Command, Compare

_BUTTONS: Final = {"Keep as A": "keep", "Swap": "swap", "Drop A": "drop"}

WORLD: Final = "simulator."
"""Beginning of the names of parameters that both robots share."""


class ComparePanel:
    """Buttons of the comparison, and the parameters in which the robots differ."""

    def __init__(self, gui: viser.GuiApi, send: Callable[[Command], None]) -> None:
        """Fills a folder in the present tab."""
        with gui.add_folder("Compare"):
            hint = "A goes on beside B, the robot that is tuned, in the same world, under the same commands and pushes"
            group = gui.add_button_group("A and B", tuple(_BUTTONS), hint=hint)
            self._text: Any = gui.add_html("")

        @group.on_click
        def _(event: Any) -> None:
            send(Compare(_BUTTONS[event.target.value]))

    def show(self, kept: Mapping[str, Value] | None, values: Mapping[str, Value]) -> None:
        """Show parameters of A, None where there is no A, beside those of B."""
        differ = differing(kept or {}, values)
        lines = [f"{name}: A {shown(value)}, B {shown(values.get(name))}" for name, value in differ.items()]
        if kept is None:
            lines = ["Keep these parameters as A, change some, and see both robots."]
        elif not lines:
            lines = ["B, which is tuned, has the parameters of A."]
        self._text.content = f'<div style="margin:2px 8px;font-size:0.82em">{"<br>".join(map(escape, lines))}</div>'


def differing(kept: Mapping[str, Value], tuned: Mapping[str, Value]) -> dict[str, Value]:
    """Parameters of A that differ from those of B; those of the world are the same."""
    return {n: value for n, value in kept.items() if value != tuned.get(n) and not n.startswith(WORLD)}
