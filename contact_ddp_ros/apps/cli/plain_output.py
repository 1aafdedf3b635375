"""Output for terminals and pipes that know ASCII only: what they lack is spelt out instead of ending the job."""

import codecs
import sys
from io import TextIOWrapper

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
