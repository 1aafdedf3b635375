"""Commands, options, parameters and files that README, changelog and pages name exist."""

import argparse
import io
import re
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from told import CHANGELOG, PAGES, ROOT, code, told

from benchmarks import BENCHMARKS, load
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.base.config import specs
from contact_ddp_ros.robot.motion import packaged_motions
from contact_ddp_ros.ros import interfaces
from contact_ddp_ros.ros.node_config import CONFIGURATIONS

OUR_KINDS = {".py", ".md", ".h", ".hpp", ".txt"}
"""Of files that are the package's wherever a page names them; others may be the reader's."""

PARAMETERS = {name: set(specs(config)) for name, config in CONFIGURATIONS.items()}
GROUPS = {name.partition(".")[0] for names in PARAMETERS.values() for name in names if "." in name}
EXECUTABLES = {
    "planner_node": "planner",
    "controller_node": "controller",
    "simulator_node": "simulator",
    "lcm_bridge_node": "bridge",
    "unitree_node": "unitree",
    "gazebo_bridge_node": "gazebo_bridge",
    "drives_node": "drives",
    "driver_node": "driver",
    "estimator_node": "estimator",
}
"""And the section with its parameters."""


def jobs() -> dict[str, argparse.ArgumentParser]:
    """The parser of each job of `contact-ddp`."""
    return next(action for action in build_parser()._actions if isinstance(action.choices, dict)).choices


def deeds(job: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parsers of the words that may follow a job: `check` of `robot`."""
    return [one for action in job._actions if isinstance(action.choices, dict) for one in action.choices.values()]


@cache
def options_of(benchmark: str) -> str:
    """What the benchmark's `--help` says."""
    printed = io.StringIO()
    with redirect_stdout(printed), pytest.raises(SystemExit):
        load(benchmark).main(["--help"])
    return printed.getvalue()


@pytest.mark.parametrize("words", told("./run", "contact-ddp"), ids=" ".join)
def test_a_command_is_understood(words: tuple[str, ...]) -> None:
    if words[1] == "docs":  # of `run` alone
        assert (ROOT / "mkdocs.yml").is_file() and len(words) == 2
        return
    if words[1] == "test":
        assert all((ROOT / word).exists() for word in words if word.startswith("test/"))
        return
    if "--help" in words:
        return
    if len(words) == 2:  # a job that is mentioned, without what it needs
        assert words[1] in jobs()
        return
    parsed = build_parser().parse_args(words[1:])
    if words[1] == "bench" and parsed.name != "list":
        assert parsed.name in BENCHMARKS
        for word in parsed.arguments:
            assert not word.startswith("--") or re.search(rf"{word}\b", options_of(parsed.name)), word


def test_an_option_by_itself_is_one_of_some_command() -> None:
    known = {option for job in jobs().values() for one in (job, *deeds(job)) for option in one._option_string_actions}
    known |= {option for name in BENCHMARKS for option in re.findall(r"--[a-z-]+", options_of(name))}
    used = {line.split()[0].split("=")[0] for page in PAGES for line in code(page) if re.match(r"--[a-z]", line)}
    assert len(used) > 10
    assert used - {"--params-file", "--ros-args"} <= known, "but for ROS's own"


@pytest.mark.parametrize("words", told("ros2"), ids=" ".join)
def test_a_command_of_ros_names_what_there_is(words: tuple[str, ...]) -> None:
    given = [word.split(":=")[0] for word in words if ":=" in word]
    match words[1:]:
        case ["launch", "contact_ddp_ros", file, *_]:
            declared = re.findall(r'DeclareLaunchArgument\(\s*"(\w+)"', (ROOT / "launch" / file).read_text())
            assert set(given) <= set(declared)
        case ["run", "contact_ddp_ros", executable, *_]:
            assert (ROOT / "scripts" / executable).is_file()
            allowed = PARAMETERS.get(EXECUTABLES.get(executable, ""), set()) | {"use_sim_time"}
            assert set(given) <= allowed
        case ["param", "set" | "get" | "describe", node, name, *_] if node != "NODE":
            assert name in PARAMETERS[node.strip("/")]
        case ["service", "call", name, kind, *_]:
            motions = map(interfaces.motion_service, packaged_motions())
            found = {one.name: one.type for one in (*interfaces.SERVICES, *motions)}[name.strip("/")]
            assert kind == f"{found.__module__.split('.')[0]}/srv/{found.__name__}"
        case ["topic", "pub" | "echo", *rest]:
            assert {one.name.strip("/") for one in interfaces.TOPICS} & {word.strip("/").split(".")[0] for word in rest}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_changelog_is_short() -> None:
    text = CHANGELOG.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if len(line) > 200] == []
    assert all(len(release.splitlines()) <= 120 for release in text.split("\n## "))


def test_the_readme_leads_to_every_page() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    linked = {"README.md"}
    todo = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("robots.md", "library.md", "index.md"))]
    for page in todo:
        linked |= {Path(target).name for target in re.findall(r"\]\(([^)#]+\.md)", page.read_text(encoding="utf-8"))}
    assert pages - linked == {"index.md"}


def test_every_parameter_that_is_named_exists() -> None:
    checked, unknown = 0, []
    everywhere = {name for names in PARAMETERS.values() for name in names}
    for page in PAGES:
        for line in code(page, without="python"):
            for name in re.findall(r"(?<![\w./-])[a-z_]+(?:\.[a-z_]+)+(?![\w*./…])", line):
                section, _, rest = name.partition(".")
                if Path(name).suffix in {".md", ".py", ".png", ".yaml", ".json", ".sdf", ".urdf", ".xml", ".h"}:
                    continue
                if section in PARAMETERS and (rest in PARAMETERS[section] or section not in GROUPS):
                    checked += 1
                    unknown += [] if rest in PARAMETERS[section] else [f"{page.name}: {name}"]
                elif section in GROUPS:
                    checked += 1
                    unknown += [] if name in everywhere else [f"{page.name}: {name}"]
    assert checked > 100
    assert unknown == []


def test_every_file_that_is_named_exists() -> None:
    folders = (ROOT / name for name in ("contact_ddp_ros", "test", "robot_side", "docs", "launch"))
    names = {path.name for folder in folders for path in folder.rglob("*.*")}
    missing, checked = [], 0
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                checked += 1
                missing += [] if (page.parent / target).exists() else [f"{page.name}: {target}"]
        for line in code(page):
            for word in re.findall(r"(?<![\w~*/.-])[\w./-]+\.\w+(?![\w*])", line):
                if Path(word).suffix not in OUR_KINDS or word.startswith("Cheetah-Software/"):
                    continue
                checked += 1
                word = word.removeprefix("src/contact_ddp_ros/")  # in a workspace
                places = (ROOT, page.parent, ROOT / "contact_ddp_ros")
                there = any((place / word).exists() for place in places) or ("/" not in word and word in names)
                missing += [] if there else [f"{page.name}: {word}"]
    assert checked > 50
    assert missing == []


def test_every_anchor_of_a_link_is_a_heading() -> None:
    missing, checked = [], 0
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            text = (page.parent / target if target else page).read_text(encoding="utf-8")
            headings = {
                re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
                for line in text.splitlines()
                if line.startswith("#")
            }
            checked += 1
            missing += [] if anchor in headings else [f"{page.name}: {target}#{anchor}"]
    assert checked > 5
    assert missing == []


def test_the_container_has_what_the_page_installs_and_runs_a_command_that_there_is() -> None:
    container = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    (needed,) = re.findall(r"^sudo apt-get install (.+)$", page, re.M)
    (installed,) = re.findall(r"apt-get install -y --no-install-recommends (.+?) \\", container)
    assert set(needed.split()) <= set(installed.split())
    (run,) = re.findall(r"^RUN \./run (.+)$", container, re.M)
    assert build_parser().parse_args(run.split()).duration == 4.0
