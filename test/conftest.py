"""Common to all rooms' tests; the helpers beside this file are imported by name (`oracle`).

`--quick`, as does `colcon test`, selects the tests that take less than a minute together once everything is compiled:
all but the marked and those of SLOW. They start no process, which every run enforces: one that does fails, and belongs
into SLOW.
"""

import importlib.util
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from contact_ddp_ros.base import numba_cache
from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.lcm.transport import Link, LinkOptions, free_port
from contact_ddp_ros.runs import kernels

# How long an example takes says something about the machine, not about the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Those who install the package get the same examples each time; whole runs look for new ones.
settings.register_profile("quick", settings.get_profile("steady"), max_examples=20, derandomize=True)
settings.load_profile("steady")


HERE = Path(__file__).parent

collect_ignore = [] if importlib.util.find_spec("viser") else ["apps/play"]
"""Tests of the live page, where requirements-play.txt is not installed."""

SLOW = (
    "apps/cli",
    "base/test_numba_cache.py",
    "base/test_realtime_priority.py",
    "bench/dynamics",
    "bench/loop",
    "bench/peers",
    "bench/ros",
    "bench/solver",
    "bench/test_engine.py",
    "bench/test_output.py",
    "bench/test_study.py",
    "control/test_stand_simulated.py",
    "dynamics",
    "library",
    "mpc/test_constraint.py",
    "mpc/test_cost_term.py",
    "mpc/test_gait_change.py",
    "mpc/test_gait_kernels.py",
    "mpc/test_midpoint.py",
    "mpc/test_node_parts.py",
    "mpc/test_offline.py",
    "mpc/test_planner_inputs.py",
    "mpc/test_variants.py",
    "ocp/test_checks.py",
    "plants",
    "plants/gazebo",
    "plants/lcm",
    "robot/models/test_planar.py",
    "robot/test_foreign.py",
    "ros",
    "ros/test_programs.py",
    "runs/export",
    "runs/motions/test_execution.py",
    "runs/motions/test_optimiser.py",
    "runs/motions/test_whole_body_motions.py",
    "runs/recording/test_storage.py",
    "runs/replay",
    "runs/report",
    "runs/study",
    "runs/study/test_engine.py",
    "runs/test_closed_loop.py",
    "runs/test_late_policies.py",
    "runs/test_robot_scaling.py",
    "runs/test_whole_body_loop.py",
    "runs/test_worlds.py",
    "test_colcon.py",
    "test_docs.py",
    "test_docs_site.py",
    "test_documented_commands.py",
    "test_examples.py",
    "test_hybrid_ddp.py",
    "test_notebook.py",
    "test_packaging.py",
    "test_recipes.py",
    "test_reruns.py",
    "test_run.py",
)
"""Folders and modules of tests that start processes, compile, simulate or render."""

QUICK = (
    "library/test_casadi_arguments.py",
    "library/test_derivatives.py",
    "plants/gazebo/test_config.py",
    "plants/gazebo/test_sdf.py",
    "plants/gazebo/test_states.py",
    "ros/test_conversions.py",
    "ros/test_estimate_messages.py",
    "ros/test_exchange.py",
    "ros/test_loop_messages.py",
    "ros/test_monitor.py",
    "ros/test_policy_message.py",
    "ros/test_timebase.py",
    "runs/recording/test_analysis.py",
)
"""Modules of those folders that do not."""

LIVE = (
    "apps/play",
    "plants/gazebo",
    "plants/lcm",
    "ros",
    "test_documented_commands.py",
)
"""Folders and modules of tests that wait for other processes, on a machine that others may keep busy.

One that fails is run once more, and the summary says so; a failure that is not by chance fails twice. Where more than
MOST_RERUNS of them needed that, the run fails, too: a fault of one in ten would show as one in a hundred otherwise.
"""

MOST_RERUNS = 0.01
"""Largest share of the live tests of a run that may need their second try; one always may."""

PROGRAMS = ("cc", "gcc", "clang", "git", "fc-list")
"""Programs that a quick test may start: compilers of kernels, git, and what lists fonts for Matplotlib."""


def is_left_out(place: Path) -> bool:
    """Whether `--quick` leaves out a folder or module, given relative to this folder."""
    slow = any(str(one) in SLOW for one in (place, *place.parents))
    return slow and not any(str(place) == one or one.startswith(f"{place}/") for one in QUICK)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile every kernel where that is all that is to be done, so that the processes of a run do not do it each."""
    if session.config.option.collectonly:
        planner = kernels.begin_planner()
        kernels.load_control()
        planner.join()
        numba_cache.load(*numba_cache.ROOMS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what `--quick` leaves out."""
    inside = config.getoption("--quick") and collection_path.is_relative_to(HERE)
    return True if inside and is_left_out(collection_path.relative_to(HERE)) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the marked tests, too; give the live ones a second try."""
    for item in items:
        if _is_live(item):
            item.add_marker(pytest.mark.flaky(reruns=1))
    if config.getoption("--quick"):
        marked = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=marked)
        items[:] = [item for item in items if item not in marked]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which too many live tests passed at their second try only."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(session.config, "workerinput"):
        return
    outcomes = ("passed", "failed", "error", "skipped")
    live = {report.nodeid for outcome in outcomes for report in terminal.stats.get(outcome, []) if _is_live(report)}
    again = {report.nodeid for report in terminal.stats.get("rerun", [])}
    if len(again) > max(1.0, MOST_RERUNS * len(live)) and session.exitstatus == pytest.ExitCode.OK:
        terminal.write_line(f"{len(again)} of {len(live)} live tests needed a second try: {', '.join(sorted(again))}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _is_live(test: pytest.TestReport | pytest.Item) -> bool:
    place = Path(test.nodeid.partition("::")[0])
    place = place.relative_to(HERE.name) if place.is_relative_to(HERE.name) else place
    return any(str(one) in LIVE for one in (place, *place.parents))


class ProcessStartedError(Exception):
    """A test selected by `--quick` has started a process."""


def is_colcon(config: pytest.Config) -> bool:
    """Detection of `colcon test`, which names its report after the package, where no path was given to it."""
    return (
        config.getoption("--junit-prefix") == "contact_ddp_ros"
        and config.args_source is not pytest.Config.ArgsSource.ARGS
    )


def pytest_configure(config: pytest.Config) -> None:
    """Few examples of each property, and no processes."""
    config.option.quick |= is_colcon(config)
    if config.getoption("--quick"):
        settings.load_profile("quick")
    sys.addaudithook(_refuse_processes)


_running: list[pytest.Item] = []
"""The quick test that runs."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watch a quick test's processes."""
    if not is_left_out(item.path.relative_to(HERE)) and not item.get_closest_marker("slow"):
        _running.append(item)
    try:
        return (yield)
    finally:
        _running.clear()


def _refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and _running and Path(str(arguments[0])).name not in PROGRAMS:
        raise ProcessStartedError(f"{arguments[0]}: its module belongs into SLOW in test/conftest.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only tests that take less than a minute together")
    parser.addoption("--fuzz", type=int, default=300, metavar="N", help="damaged messages of each topic")


@pytest.fixture
def link_options() -> LinkOptions:
    """A link of the test's own: its port is nobody else's, so that two runs at once do not meet."""
    options = LinkOptions(port=free_port())
    try:
        Link(options)
    except LinkError as error:
        pytest.skip(str(error))
    return options
