"""Command-line options that several benchmarks have."""

import argparse
from pathlib import Path

from contact_ddp_ros.config import parse_setting


def benchmark_parser(name: str, text: str, quick: str) -> argparse.ArgumentParser:
    """Of `contact-ddp bench NAME` with the options that all have, `--quick` and `--out`.

    Args:
        name: of the benchmark.
        text: of its module, whose first line describes it.
        quick: what `--quick` makes of it.
    """
    parser = bare_parser(name, text)
    add_quick_option(parser, quick)
    add_out_option(parser, name)
    return parser


def bare_parser(name: str, text: str) -> argparse.ArgumentParser:
    """The same without options, for a benchmark that has many and puts them in groups."""
    return argparse.ArgumentParser(prog=f"contact-ddp bench {name}", description=text.split("\n")[0])


def add_quick_option(parser: argparse._ActionsContainer, text: str) -> None:
    """`--quick`, which does what the text says."""
    parser.add_argument("--quick", action="store_true", help=text)


def add_out_option(parser: argparse._ActionsContainer, name: str) -> None:
    """`--out` of a benchmark; None where it is left out."""
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help=f"new or empty folder (default: out/bench-{name}-<time>)"
    )


def add_setting_option(parser: argparse._ActionsContainer) -> None:
    """`--set NAME=VALUE`, repeatable: pairs of a parameter's name and its value in `set`."""
    parser.add_argument(
        "--set",
        type=parse_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter, with its section; repeatable",
    )
