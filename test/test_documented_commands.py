"""The commands that the pages tell to type do what they are typed for.

A command that runs the robot is checked at the length that the page says; those that differ from each other in kind are
carried out, over shorter times.
"""

import re
from itertools import pairwise
from pathlib import Path

import pytest
import quadruped
from told import ROOT, told

from contact_ddp_ros.apps.cli import main, sweep
from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.apps.cli.report import EXIT_FELL
from contact_ddp_ros.runs.report import plots
from contact_ddp_ros.runs.scenario import check_run

ELSEWHERE = {
    "bench": "test/bench/test_benchmark.py",
    "demo --backend lcm": "test/ros/test_lcm_bridge.py",
    "demo --backend unitree": "test/ros/test_unitree_node.py",
    "docs": "test/test_docs_site.py",
    "motion backflip": "test/runs/motions/test_execution.py",
    "motion barrel_roll": "test/runs/motions/test_whole_body_motions.py",
    "motion jump": "test/apps/cli/test_motion.py",
    "motion recovery": "test/runs/motions/test_recovery.py",
    "motion running_barrel_roll": "test/runs/motions/test_whole_body_motions.py",
    "estimate": "test/runs/test_sensor_log.py",
    "gazebo-emulator": "test/plants/gazebo/test_transport.py",
    "play": "test/apps/play/test_browser.py",
    "test": "test/test_run.py",
}
"""Commands that take long or end only when told to, by their first words, and the tests that carry them out."""

FIRST = (
    "robot check my.urdf -o my_robot.yaml",
    "sdf --out world.sdf",
    "sim --gait 0:bound,2:my_gait.yaml --duration 6",
    "sim --duration 6 --out out/soft",
    "sim --duration 6 --set planner.weight.pitch=80 --out out/stiff",
    "demo --bag BAG",
)
"""Commands that leave what others read, and the first of docs/robots.md and docs/start.md, in full."""

SHORT = {"--seeds": "2"}
"""Values in place of long ones, by option."""

QUICKLY = ["--set", "controller.stand.ramp_time=0.2"]
BEGUN, APART = 0.4, 0.4
"""Time after which a robot that stands up quickly moves, and time between two things that happen to it then [s]."""

TIMES = {
    "--push": r"^[\d.]+",
    "--stop-time": r"^[\d.]+",
    "--stand-time": r"^[\d.]+",
    "--speed": r"[\d.]+(?=:)",
    "--gait": r"[\d.]+(?=:)",
}
"""Times in the values of options."""

STANDS_FOR = {
    "RUN RUN": "out/soft out/stiff",
    "RUN": "out/soft",
    "FOLDER": "out/soft",
    "NAME": "go2",
    "$folder": f"{ROOT}/config/gazebo",
}
"""What a reader puts in the place of a word."""

GIVEN = {
    "robot": ["--no-walk"],
    "motion": ["--no-video"],
    "sim": ["--no-video"],
    "demo": ["--no-video"],
    "gazebo": ["--no-video"],
    "optimize": ["--iterations", "3"],
}
"""Words that every command of a job gets."""

RUNS = ("sim", "demo", "gazebo", "sweep")
"""Jobs with a duration."""


def is_named_only(words: tuple[str, ...]) -> bool:
    """True if a page mentions a job without what it needs."""
    return len(words) == 1 and words[0] not in ("sim", "demo", "optimize", "parameters")


def meant(words: tuple[str, ...]) -> list[str]:
    """The words with what a reader puts in."""
    line = " ".join(words)
    for text, own in STANDS_FOR.items():
        line = re.sub(rf"(?<![\w-]){re.escape(text)}\b", own, line)
    return line.split()


def sooner(words: list[str]) -> tuple[list[str], float]:
    """The same words with pushes, changes and stops one soon after the other, and the last of their times [s]."""
    values = [(TIMES[option], value) for option, value in pairwise(words) if option in TIMES]
    told = sorted({float(time) for pattern, value in values for time in re.findall(pattern, value)})
    late = [time for time in told if time > BEGUN]
    times = {time: BEGUN + APART * (1 + index) for index, time in enumerate(late)}

    def moved(found: re.Match[str]) -> str:
        return f"{times.get(float(found[0]), float(found[0])):g}"

    made = [re.sub(TIMES.get(before, "$^"), moved, word) for before, word in pairwise(["", *words])]
    return made, max(times.values(), default=BEGUN)


def shorter(words: tuple[str, ...]) -> list[str]:
    """The same command in small: as long as it takes to reach the last thing that happens in it."""
    made, last = sooner(meant(words))
    short = {**SHORT, "--duration": f"{last + APART:g}"}
    made = [short.get(before, word) for before, word in pairwise(["", *made])]
    if words[0] == "sweep":
        made = [re.sub(r"(=[\d.]+:[\d.]+):\d+$", r"\1:2", word) for word in made] + ["--jobs", "1"]
    if words[0] in RUNS:
        made += QUICKLY + ([] if "--duration" in words else ["--duration", short["--duration"]])
    return made + [word for word in GIVEN.get(words[0], ()) if word not in made]


def typed() -> list[tuple[str, ...]]:
    """The commands of the pages, without the program's name."""
    found = {words[1:] for words in told("./run", "contact-ddp") if len(words) > 1 and "--help" not in words}
    return sorted(words for words in found if not is_named_only(words))


def is_known_elsewhere(words: tuple[str, ...]) -> bool:
    """True if another test carries it out, or it needs a server that is not on every machine."""
    real_server = words[0] == "gazebo" and "--emulator" not in words
    return real_server or " ".join(words).startswith(tuple(ELSEWHERE))


def features(words: tuple[str, ...]) -> set[str]:
    """Job, options and names in their values; neither files that are written nor metrics are a difference in kind."""
    found = {words[0]} | {f"{words[0]} {word}" for word in words if word.startswith("-")}
    for before, word in pairwise(words):
        if not word.startswith("-") and before not in ("-o", "--out", "--metric"):
            option = before if before.startswith("-") else ""
            found |= {f"{words[0]} {option} {name}" for name in re.findall(r"\b[a-z_][\w.]*", word)}
    return found


def of_each_kind() -> list[tuple[str, ...]]:
    """Commands that together have all features of those that no other test carries out."""
    known = set().union(*(features(tuple(line.split())) for line in FIRST))
    chosen = []
    for words in sorted(typed(), key=lambda words: -len(features(words))):
        if not is_known_elsewhere(words) and features(words) - known:
            known |= features(words)
            chosen.append(words)
    return chosen


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages talk of."""
    folder = tmp_path_factory.mktemp("desk")
    start = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    gait = re.search(r"^```yaml\n(.*?)^```", start[start.index("## 3.") :], re.MULTILINE | re.DOTALL)
    assert gait is not None
    for name in ("my_gait.yaml", "my_bound.yaml"):
        (folder / name).write_text(gait[1], encoding="utf-8")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "my_jump.yaml").symlink_to(ROOT / "config" / "motions" / "jump.yaml")
    (folder / "my.urdf").write_text(quadruped.urdf(), encoding="utf-8")
    (folder / "my.xml").write_text(quadruped.mjcf(), encoding="utf-8")
    head = '<robot name="small" xmlns:xacro="http://www.ros.org/wiki/xacro"><!-- $(arg side) -->'
    (folder / "my.xacro").write_text(quadruped.urdf().replace('<robot name="small">', head), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in FIRST:
            words = tuple(line.split())
            assert words in typed() and main([word for word in shorter(words) if word != "--no-walk"]) == 0, line
            if words[0] == "sim":
                patch.setattr(plots, "save_all", lambda *_: None)  # once is enough
    (folder / "world.sdf").rename(folder / "hall.sdf")
    assert len(list(folder.glob("out/sim-*/overview.png"))) == 1, "as the page says"
    return folder


@pytest.mark.parametrize("words", [words for words in typed() if words[0] in RUNS], ids=" ".join)
def test_a_run_of_the_pages_is_allowed(words: tuple[str, ...], desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk)
    arguments = build_parser().parse_args(meant(words))
    if words[0] == "sweep":
        sweep._study(arguments).check()
    else:
        check_run(run_options(arguments))


@pytest.mark.parametrize("words", of_each_kind(), ids=" ".join)
def test_a_command_of_the_pages_does_its_work(
    words: tuple[str, ...], desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    made = shorter(words)
    writes = {Path(word).parts[0] for before, word in pairwise(made) if before in ("-o", "--out", "--bag")}
    for path in desk.iterdir():
        if path.name not in writes | ({"out"} if words[0] in RUNS else set()):
            (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plots, "save_all", lambda *_: None)
    code = main(made)
    fallen = {EXIT_FELL} if "--recover" in made else set()  # who is to get up has been knocked over
    assert code in {0} | fallen, capsys.readouterr().err


def test_every_job_is_carried_out_or_known_elsewhere() -> None:
    assert all((ROOT / place).is_file() for place in ELSEWHERE.values())
    done = {words[0] for words in (*of_each_kind(), *(line.split() for line in FIRST))}
    assert {"sim", "demo", "optimize", "compare", "sweep", "export", "replay", "robot", "sdf", "report"} <= done
