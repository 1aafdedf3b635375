"""The option `--engine` of the command line, the same for every job and benchmark that simulates."""

import argparse

from contact_ddp_ros.plants.options import ENGINES

PARAMETER = "simulator.engine"


def add_engine_option(parser: argparse._ActionsContainer) -> None:
    """Add `--engine NAME`, which is short for `--set simulator.engine=NAME`: a pair in `set` of the parsed options."""
    parser.add_argument(
        "--engine",
        dest="set",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME",
        help=f"physics of the simulated world: {', '.join(ENGINES)} (default: {ENGINES[0]})",
    )


def chosen_engine(options: argparse.Namespace) -> str:
    """Name of the engine that parsed options ask for."""
    return str(dict(options.set).get(PARAMETER, ENGINES[0]))


def _setting(text: str) -> tuple[str, str]:
    if text not in ENGINES:
        raise argparse.ArgumentTypeError(f"{text!r} is no engine; allowed: {', '.join(ENGINES)}")
    return PARAMETER, text
