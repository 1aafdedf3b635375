"""Jobs of `contact-ddp` that run a closed loop, a benchmark or print a page; each takes the parsed arguments.

Every job returns the exit code.
"""

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.apps.cli.report import EXIT_FELL, save_and_report
from contact_ddp_ros.base.errors import ParameterError, did_you_mean
from contact_ddp_ros.base.files import kept_unless_empty, new_folder
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.report.progress import LiveProgress
from contact_ddp_ros.runs.scenario import check_run

Loop = Callable[[RunOptions, Recorder], Recording]


def run_sim(arguments: argparse.Namespace) -> int:
    """Closed loop without ROS."""

    def loop(options: RunOptions, recorder: Recorder) -> Recording:
        from contact_ddp_ros.runs.closed_loop import run

        return run(options, recorder)

    return _run("sim", arguments, loop)


def run_demo(arguments: argparse.Namespace) -> int:
    """Closed loop through the ROS 2 nodes, each in its own process."""

    def loop(options: RunOptions, recorder: Recorder) -> Recording:
        from contact_ddp_ros.ros.demo import run_demo

        return run_demo(options, recorder, arguments.bag)

    return _run("demo", arguments, loop)


def _benchmarks() -> Any:
    """The package `benchmarks`, which lies beside this one in a checkout.

    Raises:
        ParameterError: there is none.
    """
    try:
        return import_module("benchmarks")
    except ModuleNotFoundError as error:
        if error.name != "benchmarks":
            raise
        raise ParameterError(
            "benchmarks are not part of the installed package; run `./run bench` in a checkout of its sources"
        ) from error


def run_bench(arguments: argparse.Namespace) -> int:
    """A benchmark by name; `list` names them."""
    benchmarks = _benchmarks()

    name = arguments.name
    if name == "list":
        width = max(map(len, benchmarks.BENCHMARKS))
        print("\n".join(f"{one:<{width}}  {text}" for one, text in benchmarks.BENCHMARKS.items()))
        return 0
    if name not in benchmarks.BENCHMARKS:
        raise ParameterError(f"no benchmark is called {name!r}; {did_you_mean(name, benchmarks.BENCHMARKS)}")
    return benchmarks.load(name).main(arguments.arguments)


def run_gazebo(arguments: argparse.Namespace) -> int:
    """Closed loop in a Gazebo server, without ROS."""

    def loop(options: RunOptions, recorder: Recorder) -> Recording:
        from contact_ddp_ros.apps.cli.gazebo import run_in_gazebo

        return run_in_gazebo(options, recorder, release=arguments.release, emulator=arguments.emulator)

    return _run("gazebo", arguments, loop)


def run_parameters(_arguments: argparse.Namespace) -> int:
    """Every parameter of every node as a page of Markdown."""
    from contact_ddp_ros.ros.parameter_docs import parameters_page

    print(parameters_page(), end="")
    return 0


def run_security_policy(arguments: argparse.Namespace) -> int:
    """Write a policy of SROS 2: who may publish and subscribe what."""
    from contact_ddp_ros.ros.security import security_policy

    print(security_policy(arguments.namespace), end="")
    return 0


def _run(job: str, arguments: argparse.Namespace, loop: Loop) -> int:
    """Run a closed loop with live progress; whatever happens, keep what was recorded.

    The exit code is EXIT_FELL where the robot fell or never stood.
    """
    options = run_options(arguments)
    check_run(options)
    console = Console()
    progress = LiveProgress(console, options.duration)
    recorder = Recorder(progress, options.record_plans)
    with kept_unless_empty(new_folder(job, options.out)) as folder:
        try:
            with progress:
                recording = loop(options, recorder)
        except BaseException as error:
            reason = "interrupted" if isinstance(error, KeyboardInterrupt) else f"stopped: {error}"
            _keep(recorder, folder, console, reason)
            raise
    found = save_and_report(recording, folder, console, film=options.video)
    return 0 if found["stood"] and not found["fell"] else EXIT_FELL


def _keep(recorder: Recorder, folder: Path, console: Console, reason: str) -> None:
    """Save and report a run that ended early, unless it ended before its first tick."""
    if not recorder.n_ticks:
        return
    recorder.event(recorder.last_time, reason)
    save_and_report(recorder.finish(interrupted=True), folder, console, film=False)
