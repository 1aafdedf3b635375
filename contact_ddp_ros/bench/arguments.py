"""Command-line options that several benchmarks have."""

import argparse
from typing import Any

import yaml


def add_setting_option(parser: argparse._ActionsContainer) -> None:
    """`--set NAME=VALUE`, repeatable: pairs of a parameter's name and its value, read as YAML, in `set`."""
    parser.add_argument(
        "--set", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="a parameter, with its section"
    )


def _setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, yaml.safe_load(value)
