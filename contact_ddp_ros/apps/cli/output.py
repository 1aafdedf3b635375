"""Output of the command line: remarks on the robot, and text without colours."""

import codecs
import sys
from io import TextIOWrapper

from rich.console import Console

from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.planar import PlanarModel, averaged
from contact_ddp_ros.runs.report.progress import say


def say_of_robot(robot: Robot, model: str, console: Console) -> None:
    """Say what the planar model leaves out of a robot whose left and right differ; the whole body has all of it."""
    difference = averaged(robot) if model == PlanarModel.name else None
    if difference is not None:
        say(console, f"{robot.tree.name}: the planner averages left and right; they differ at most in the {difference}")


_HANDLER = "contact_ddp_ros.spelt_out"

_SPELT_OUT = {
    "°": " deg", "µ": "u", "μ": "mu", "θ": "theta", "ρ": "rho", "σ": "sigma", "δ": "delta", "ε": "eps", "τ": "tau",
    "−": "-", "–": "-", "—": "-", "×": "x", "≥": ">=", "≤": "<=", "≠": "!=", "±": "+-", "→": "->", "…": "...", "·": ".",
    "²": "^2", "³": "^3", "½": "1/2", "‖": "||", "∞": "inf", "━": "=", "╌": "-", "─": "-", "│": "|",
}  # fmt: skip


def spell_out() -> None:
    """Let standard output and error write any text, whatever their encoding."""
    codecs.register_error(_HANDLER, _spelt_out)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors=_HANDLER)


def _spelt_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_SPELT_OUT.get(letter, "?") for letter in text), error.end
