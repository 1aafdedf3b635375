"""The commands that the pages tell to type do what they are typed for: each is carried out, over shorter times."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
import quadruped
from told import ROOT, told

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.apps.cli.report import EXIT_FELL
from contact_ddp_ros.runs.report import plots

ELSEWHERE = {
    "bench": "test/bench/test_benchmark.py",
    "docs": "test/test_docs_site.py",
    "motion backflip_whole_body": "test/runs/motions/test_whole_body_motions.py",
    "motion barrel_roll": "test/runs/motions/test_whole_body_motions.py",
    "motion running_barrel_roll": "test/runs/motions/test_whole_body_motions.py",
    "motion recovery": "test/runs/motions/test_recovery.py",
    "motion recovery_side": "test/runs/motions/test_recovery.py",
    "estimate": "test/runs/test_sensor_log.py",
    "gazebo-emulator": "test/plants/gazebo/test_transport.py",
    "play": "test/apps/play/test_browser.py",
    "test": "test/test_run.py",
}
"""Jobs that take minutes or end only when told to, and the tests that know them."""

SHORT = {"--seeds": "2", "--trials": "1"}
"""Values in place of long ones, by option."""

BEGUN, APART = 1.6, 0.4
"""Time after which a robot moves, and time between two things that happen to it then [s]."""

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


def is_named_only(words: list[str]) -> bool:
    """Whether a page mentions a job without what it needs, or a server that is not on every machine."""
    real_server = words[0] == "gazebo" and "--emulator" not in words
    return (len(words) == 1 and words[0] not in ("sim", "demo", "optimize", "parameters")) or real_server


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


def shorter(words: list[str]) -> list[str]:
    """The same command in small: as long as it takes to reach the last thing that happens in it."""
    words, last = sooner(words)
    short = {**SHORT, "--duration": f"{last + APART:g}"}
    line = " ".join(short.get(before, word) for before, word in zip(["", *words], words))
    for text, meant in STANDS_FOR.items():
        line = re.sub(rf"(?<![\w-]){re.escape(text)}\b", meant, line)
    made = line.split()
    if words[0] == "sweep":
        made = [re.sub(r"(=[\d.]+:[\d.]+):\d+$", r"\1:2", word) for word in made] + ["--jobs", "1"]
    if words[0] in RUNS and "--duration" not in words:
        made += ["--duration", short["--duration"]]
    return made + [word for word in GIVEN.get(words[0], ()) if word not in made]


def typed() -> list[list[str]]:
    """The commands to carry out, without the program's name, once each: in small some are the same."""
    found = {words[1:] for words in told("./run", "contact-ddp") if len(words) > 1 and "--help" not in words}
    here = [
        list(words)
        for words in sorted(found)
        if not ELSEWHERE.keys() & {words[0], " ".join(words[:2])} and not is_named_only(list(words))
    ]
    return list({tuple(shorter(words)): words for words in here}.values())


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
    head = '<robot name="small" xmlns:xacro="http://www.ros.org/wiki/xacro"><!-- $(arg side) -->'
    (folder / "my.xacro").write_text(quadruped.urdf().replace('<robot name="small">', head), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(plots, "save_all", lambda *_: None)
        assert main(["robot", "check", "--no-walk", "my.urdf", "-o", "my_robot.yaml"]) == 0
        assert main(["sdf", "--out", "world.sdf"]) == 0
        for name in ("soft", "stiff"):
            assert main(["sim", *GIVEN["sim"], "--duration", "2.5", "--out", f"out/{name}"]) == 0
        assert main(["demo", *GIVEN["demo"], "--duration", "4", "--bag", "BAG", "--out", "out/demo"]) == 0
    (folder / "world.sdf").rename(folder / "hall.sdf")
    return folder


@pytest.mark.parametrize("words", typed(), ids=" ".join)
def test_a_command_of_the_pages_does_its_work(
    words: list[str], desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
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
    done = {words[0] for words in typed()}
    assert {"sim", "demo", "optimize", "compare", "sweep", "export", "replay", "robot", "sdf", "report"} <= done
