import errno
import importlib
import io
import json
import logging
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from synthetic import Gait, bounding_recorder

import benchmarks as bench
from benchmarks import BENCHMARKS
from contact_ddp_ros import __version__
from contact_ddp_ros.apps.cli import main, report
from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.apps.cli.report import EXIT_FELL
from contact_ddp_ros.base.config import parse_setting
from contact_ddp_ros.base.errors import ParameterError, SimulationError
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import RunOptions, speed_profile
from contact_ddp_ros.runs.recording import load
from contact_ddp_ros.runs.report import plots, video
from contact_ddp_ros.runs.scenario import check_run


def parsed(*words: str) -> RunOptions:
    return run_options(build_parser().parse_args(words))


@pytest.fixture
def fake_loop(monkeypatch):
    """Puts a made-up loop in place of the simulator; its attribute `behaviour` is called in the middle of the run."""

    class FakeLoop:
        behaviour = staticmethod(lambda recorder: None)
        options: RunOptions | None = None

        def run(self, options, recorder):
            self.options = options
            bounding_recorder(Gait(duration=0.6), recorder)
            self.behaviour(recorder)
            return recorder.finish()

    loop = FakeLoop()
    monkeypatch.setitem(sys.modules, "contact_ddp_ros.runs.closed_loop", loop)
    monkeypatch.setattr(plots, "save_all", lambda recording, folder: (folder / "overview.png").write_bytes(b"plot"))
    monkeypatch.setattr(video, "render_recording", lambda recording, path, **_: path.write_bytes(b"film"))
    monkeypatch.setattr(video, "render_still", lambda recording, path: path.write_bytes(b"picture"))
    return loop


def test_defaults_are_those_of_the_options():
    assert parsed("sim") == RunOptions()
    assert parsed("demo") == RunOptions()
    assert parsed("demo", "--backend", "lcm") == RunOptions(backend="lcm")
    assert parsed("demo", "--realtime", "--speed", "-0.5") == RunOptions(lockstep=False, speed=((0.0, -0.5),))


def test_every_option_arrives(tmp_path):
    words = (
        "sim --duration 20 --speed 0:0,2:1.0,8:-0.5 --ramp --stand-time 1 --stop-time 15 --variant ilqr --lockstep "
        "--push 3,0,40,0,0.1 --push 5,-10,0,0,0.2 --seed 7 --friction 0.5 --trunk-mass-scale 1.1 "
        f"--step 2,-0.02 --planner-delay 0.005 --no-video --out {tmp_path} --config {tmp_path}/c.yaml "
        "--set planner.ground.friction=0.5 --set controller.stand.kp=[1,2]"
    )
    assert parsed(*words.split()) == RunOptions(
        duration=20.0,
        speed=((0.0, 0.0), (2.0, 1.0), (8.0, -0.5)),
        ramp=True,
        stand_time=1.0,
        stop_time=15.0,
        variant="ilqr",
        lockstep=True,
        pushes=(Push(3.0, (0.0, 40.0, 0.0), 0.1), Push(5.0, (-10.0, 0.0, 0.0), 0.2)),
        seed=7,
        friction=0.5,
        trunk_mass_scale=1.1,
        terrain="step:2,-0.02",
        planner_delay=0.005,
        video=False,
        out=tmp_path,
        config=tmp_path / "c.yaml",
        overrides={"planner.ground.friction": 0.5, "controller.stand.kp": [1, 2]},
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("a.b=3", 3), ("a.b=1e-3", 1e-3), ("a.b=true", True), ("a.b=word", "word"), ("a.b=[1, 2.5]", [1, 2.5])],
)
def test_settings_are_read_by_their_kind(text, value):
    assert parse_setting(text) == ("a.b", value)
    assert type(parse_setting(text)[1]) is type(value)


def test_profiles_and_pushes_are_read():
    assert speed_profile("0.5") == ((0.0, 0.5),)
    assert speed_profile("0:0, 2:1") == ((0.0, 0.0), (2.0, 1.0))
    turned = Push(3.0, (0.0, 40.0, 0.0), 0.1, (10.0, 0.0, 0.0))
    assert parsed("sim", "--push", "3,0,40,0,0.1,10,0,0").pushes == (turned,)


BAD_WORDS = [
    ("", "JOB"),
    ("sim --speed fast", "speed"),
    ("sim --speed 0:1:2,3", "profile"),
    ("sim --speed 0:0,5:1,2:0", "increase"),
    ("sim --speed 1:0", "first breakpoint"),
    ("sim --speed 99", "99"),
    ("sim --duration -1", "duration"),
    ("sim --duration nan", "duration"),
    ("sim --duration long", "long"),
    ("sim --variant newton", "newton"),
    ("sim --push 1,2,3", "T,FX,FY,FZ,DT"),
    ("sim --push 1,2,3,4,x", "x"),
    ("sim --push 1,2,3,4,0", "lasts"),
    ("sim --step 2", "X,H"),
    ("sim --step 2,nan", "finite"),
    ("sim --lockstep --realtime", "not allowed"),
    ("sim --realtime --planner-delay 0.005", "lock-step"),
    ("sim --friction 0", "friction"),
    ("sim --seed -3", "seed"),
    ("sim --set nonsense", "NAME=VALUE"),
    ("sim --set friction=1", "section"),
    ("sim --config /does/not/exist.yaml", "parameter file"),
    ("sim --set planer.rate=50", "did you mean planner?"),
    ("sim --set planner.friction=0.5", "did you mean ground.friction?"),
    ("sim --speed 4", "2.5 m/s of planner.reference.speed_limit"),
    ("sim --speed 0:0,1:-3,2:1", "speed of -3 m/s"),
    ("sim --left 3", "speed to the left of 3 m/s"),
    ("sim --turn 50", "turn is 50 rad/s; allowed: -6 to 6"),
    ("sim --gait trot --set planner.gait.name=pace", "trot by an option and pace by --set"),
    ("sim --gait walks", "no gait is called"),
    ("demo --set planner.gait.step=0.007", "whole number of steps"),
    ("optimize --model planar --gait trot", "planar model moves fr and fl alike"),
    ("sim --gait walk --speed 1.2", "1.2 m/s is beyond the 1.05 m/s of the gait walk"),
    ("sim --gait walk --speed 0.5 --left -1.2", "beyond the 1.05 m/s of the gait walk"),
    ("sim --gait 0:trot,5:walk --speed 0:0.5,6:1.5", "beyond the 1.05 m/s of the gait walk"),
    ("sim --gait 0:trot,5:walk --speed 0:2.4,10:0 --ramp", "the commanded speed of 1.2 m/s"),
    ("demo --gait trott", "did you mean trot or fly_trot?"),
    ("play --engine havok", "known: mujoco, dart, bullet"),
    ("demo --gait 0:bound,2:trott", "from 2 s on: no gait is called"),
    ("sim --gait 0:bound,3:pronk,2:bound", "times must increase"),
    ("optimize --gait 0:bound,3:pronk", "one trajectory is optimised in one gait"),
    ("optimize --gait /no/such/gait.yaml", "/no/such/gait.yaml cannot be read"),
    ("optimize --speed 3", "planner.reference.speed_limit"),
    ("optimize --cycles 0", "cycles"),
    ("optimize --iterations 0", "iterations"),
    ("optimize --speed inf", "finite"),
    ("bench sovler", "did you mean solver?"),
    ("smi", "did you mean sim?"),
    ("robot chek FILE", "did you mean check?"),
    ("sim --sped=1", "unknown option '--sped'; did you mean --speed"),
    ("sim trot", "unknown word 'trot'; see contact-ddp sim --help"),
    ("sim --variant dpp", "there is no 'dpp'; did you mean ddp?"),
    ("sim --speed -1e9", "speed is -1000000000.0 m/s; it must lie in ±4.0 m/s"),
    ("sim --turn -inf", "'-inf' is not finite"),
    ("sim --push -1,0,40,0,0.1", "begins at -1.0 s"),
    ("sim --seed 1.5", "'1.5' is not a whole number"),
    ("sim --push 3,0,40,0,0.1 --push 12,0,40,0,0.1", "push 2 begins at 12 s, and the run ends at 10 s"),
    ("sim --stop-time 12", "stop_time is at 12 s, and the run ends at 10 s"),
    ("demo --stand-time 10", "stand_time is at 10 s, and the run ends at 10 s"),
    ("sim --stand-time 4 --stop-time 3", "stop_time is 3 s and stand_time 4 s"),
    ("sim --gait 0:bound,14:trot", "the change to the gait trot is at 14 s"),
    ("sim --speed 0:0,5:1,12:0", "a breakpoint of the speed is at 12 s"),
    ("sim --speed 0:0,11:1,12:0 --ramp", "a breakpoint of the speed is at 11 s"),
    ("sweep --set x=20:80", "'x' is neither a parameter SECTION.NAME nor an option to vary; known: duration, speed"),
    ("sweep --set sped=0:1:3", "did you mean speed?"),
    ("sweep --set planner.weight.pitch=20:80", "write LOW:HIGH:COUNT, such as planner.weight.pitch=20:80:5"),
    ("motion jump --friction -1", "friction is -1"),
    ("motion jump --trials 2 --seed -1", "--seed is -1"),
    ("play --delay state=-1", "delay.state is -1"),
    ("play --host 999.1", "--host is '999.1'"),
    ("replay BAG --tolerance -1", "--tolerance is -1"),
]


@pytest.mark.parametrize(("words", "told"), BAD_WORDS)
def test_bad_words_are_one_line_and_code_two(words, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("contact-ddp: ")
    assert told in captured.err
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_section_of_a_file_is_an_error(tmp_path, capsys):
    file = tmp_path / "mine.yaml"
    file.write_text("/**/plannr:\n  ros__parameters: {rate: 50.0}\n")
    assert main(["sim", "--config", str(file), "--out", str(tmp_path / "new")]) == 2
    assert "section /**/plannr is of no node here; did you mean planner?" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_sections_that_the_launch_file_reads_are_accepted(fake_loop, tmp_path):
    folder = Path(__file__).parents[3] / "config"
    for number, name in enumerate(("base.yaml", "robot.yaml", "joy.yaml")):
        words = ["sim", "--no-video", "--config", str(folder / name), "--out", str(tmp_path / str(number))]
        assert main(words) == 0


@pytest.mark.parametrize("job", ["sim", "demo"])
def test_the_examples_of_the_help_are_allowed(job, capsys, tmp_path):
    with pytest.raises(SystemExit):
        main([job, "--help"])
    lines = re.findall(rf"^  contact-ddp ({job} .*?)(?:   .*)?$", capsys.readouterr().out, re.MULTILINE)
    assert len(lines) == 8
    (tmp_path / "my.yaml").write_text("planner:\n  ros__parameters: {rate: 50.0}\n")
    for line in lines:
        check_run(parsed(*line.replace("my.yaml", str(tmp_path / "my.yaml")).split()))


def test_a_gait_that_is_over_or_not_yet_begun_allows_a_higher_speed():
    check_run(parsed(*["sim", "--gait", "0:trot,5:walk", "--speed", "0:1.5,5:0.5"]))
    check_run(parsed(*["sim", "--gait", "0:walk,5:trot", "--speed", "0:0.5,5:1.5"]))
    check_run(parsed(*["sim", "--gait", "walk", "--speed", "1.5", "--set", "planner.gait.stretch=0.5"]))


def test_a_higher_limit_allows_a_higher_speed():
    check_run(parsed(*["sim", "--speed", "3", "--set", "planner.reference.speed_limit=3.5"]))


def test_a_full_disk_is_one_line(fake_loop, tmp_path, capsys, monkeypatch):
    def full(recording, folder):
        raise OSError(errno.ENOSPC, "No space left on device", str(folder / "overview.png"))

    monkeypatch.setattr(plots, "save_all", full)
    assert main(["sim", "--no-video", "--out", str(tmp_path / "new")]) == 1
    captured = capsys.readouterr()
    assert captured.err == f"contact-ddp: {tmp_path / 'new' / 'overview.png'}: No space left on device\n"
    assert "forward speed" in captured.out  # the table comes before the pictures


def test_a_terminal_that_knows_ascii_only_gets_plain_text(fake_loop, tmp_path, monkeypatch):
    bytes_out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(bytes_out, encoding="ascii", write_through=True))
    assert main(["sim", "--no-video", "--out", str(tmp_path / "new")]) == 0
    text = bytes_out.getvalue().decode("ascii")
    assert "1.1 deg" in text
    assert "?" not in text


def test_what_is_compiled_is_told(fake_loop, tmp_path, capsys):
    log = logging.getLogger("contact_ddp_ros.dynamics.kernels")
    fake_loop.behaviour = lambda recorder: log.info("compiled first_0 (1/20, 0.9 s)")
    assert main(["sim", "--no-video", "--out", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().err == "compiled first_0 (1/20, 0.9 s)\n"


def test_a_fall_has_an_exit_status_of_its_own(fake_loop, tmp_path, capsys):
    fake_loop.behaviour = lambda recorder: recorder.event(0.55, "tilt: the trunk tilts by 1.1 rad", fault=True)
    assert main(["sim", "--no-video", "--out", str(tmp_path / "new")]) == EXIT_FELL == 3
    assert (tmp_path / "new" / "summary.json").exists()
    assert "yes, at 0.55 s" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["sim", "--help"])
    assert "3 done but the robot fell" in capsys.readouterr().out


def test_a_run_without_a_stand_says_so_and_has_that_exit_status(tmp_path, capsys, monkeypatch):
    """The controller finds the first state at fault, so the stand is refused."""
    first = MujocoSimulator.read
    monkeypatch.setattr(
        MujocoSimulator, "read", lambda self: replace(first(self), linear_velocity=np.array([0.0, 0.0, 421.5]))
    )
    words = ["--no-video", "--duration", "0.1", "--state", "true", "--out", str(tmp_path / "new")]
    assert main(["sim", *words]) == EXIT_FELL
    told = capsys.readouterr().out
    assert "The robot never stood: at 0 s stand refused: cannot stand up" in " ".join(told.split())


def test_a_run_leaves_everything(fake_loop, tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["sim", "--duration", "0.6", "--out", str(folder)]) == 0
    names = {path.name for path in folder.iterdir()}
    wanted = {"summary.json", "recording.npz", "recording.json", "overview.png", "run.mp4", "robot.png"}
    assert wanted <= names
    assert not [name for name in names if name.startswith(".")]
    assert json.loads((folder / "summary.json").read_text())["sim_time_s"] == pytest.approx(0.6)
    out = capsys.readouterr().out
    assert "forward speed" in out
    assert f"Saved in {folder}" in out


def test_a_machine_that_cannot_render_still_reports(fake_loop, tmp_path, capsys, monkeypatch):
    def cannot(recording, path, **_):
        raise SimulationError("cannot render: neither libEGL nor libOSMesa is installed")

    monkeypatch.setattr(video, "render_recording", cannot)
    assert main(["sim", "--out", str(tmp_path / "new")]) == 0
    assert "No video: cannot render" in capsys.readouterr().out
    assert (tmp_path / "new" / "summary.json").exists()


def test_whoever_does_not_wait_for_the_pictures_has_the_rest(fake_loop, tmp_path, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(plots, "save_all", interrupted)
    assert main(["sim", "--out", str(tmp_path / "new")]) == 0
    assert f"contact-ddp report {tmp_path / 'new'} makes them" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "new" / "recording.npz").exists() and not (tmp_path / "new" / "run.mp4").exists()


def test_at_a_terminal_pictures_are_drawn_in_the_background(fake_loop, tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    started = []
    monkeypatch.setattr(report.subprocess, "Popen", lambda words, **_: started.append(words))
    monkeypatch.setattr(sys, "stdout", Terminal())
    folder = tmp_path / "new"
    assert main(["sim", "--out", str(folder)]) == 0
    assert "forward speed" in sys.stdout.getvalue() and "in the background" in sys.stdout.getvalue()
    assert not (folder / "overview.png").exists()
    ((python, _, module, *words),) = started
    assert (python, module) == (sys.executable, "contact_ddp_ros.apps.cli") and main(words) == 0
    assert (folder / "overview.png").exists() and (folder / "run.mp4").exists()


def test_default_folders_do_not_collide(fake_loop, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert main(["sim", "--no-video"]) == 0
    folders = list((tmp_path / "out").iterdir())
    assert len(folders) == 2
    assert all(folder.name.startswith("sim-") for folder in folders)


def test_a_folder_that_holds_something_is_not_touched(fake_loop, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["sim", "--out", str(tmp_path)]) == 2
    assert "not an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_interruption_keeps_what_was_recorded(fake_loop, tmp_path, capsys):
    def interrupt(recorder):
        raise KeyboardInterrupt

    fake_loop.behaviour = interrupt
    assert main(["sim", "--out", str(tmp_path / "new")]) == 130
    recording = load(tmp_path / "new")
    assert recording.info.interrupted
    assert len(recording.ticks["time"]) == 300
    assert recording.events[-1].text == "interrupted"
    assert json.loads((tmp_path / "new" / "summary.json").read_text())["interrupted"] is True
    assert not (tmp_path / "new" / "run.mp4").exists()


def test_a_failure_is_one_line_code_one_and_keeps_the_record(fake_loop, tmp_path, capsys):
    def fail(recorder):
        raise SimulationError("the state is no longer finite\nat 0.6 s")

    fake_loop.behaviour = fail
    assert main(["sim", "--out", str(tmp_path / "new")]) == 1
    assert capsys.readouterr().err == "contact-ddp: the state is no longer finite at 0.6 s\n"
    assert (tmp_path / "new" / "recording.npz").exists()


def test_a_failure_before_the_first_tick_leaves_no_folder(fake_loop, tmp_path, monkeypatch):
    def fail(options, recorder):
        raise ParameterError("unknown parameter planner.colour")

    monkeypatch.setattr(fake_loop, "run", fail)
    assert main(["sim", "--out", str(tmp_path / "new")]) == 2
    assert not (tmp_path / "new").exists()


def test_a_missing_package_is_named(fake_loop, tmp_path, capsys, monkeypatch):
    def fail(options, recorder):
        raise ModuleNotFoundError("No module named 'rclpy'", name="rclpy")

    monkeypatch.setattr(fake_loop, "run", fail)
    assert main(["sim", "--out", str(tmp_path / "new")]) == 1
    assert "'rclpy'" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_report_draws_again_a_recorded_run_that_has_no_video(fake_loop, tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["sim", "--no-video", "--out", str(folder)]) == 0
    assert not (folder / "run.mp4").exists()
    for name in ("summary.json", "overview.png"):
        (folder / name).unlink()
    assert main(["report", "--no-video", str(folder)]) == 0
    assert {"summary.json", "overview.png"} <= {path.name for path in folder.iterdir()}


def test_report_of_nothing_is_an_error(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 1
    assert "recording.json" in capsys.readouterr().err


def test_benchmarks_are_called_with_their_words(monkeypatch, capsys):
    seen = []

    def called(arguments):
        seen.append(arguments)
        return 3

    module = SimpleNamespace(BENCHMARK=SimpleNamespace(main=called))
    monkeypatch.setattr(bench, "ROOMS", {"room": {"a-fake": "what it measures"}})
    monkeypatch.setattr(bench, "BENCHMARKS", {"a-fake": "what it measures"})
    real, named = importlib.import_module, f"{bench.__name__}.room.a_fake"
    monkeypatch.setattr(bench.importlib, "import_module", lambda name: module if name == named else real(name))
    assert main(["bench", "a-fake", "--runs", "3", "x"]) == 3
    assert seen == [["--runs", "3", "x"]]
    assert main(["bench", "list"]) == 0
    assert capsys.readouterr().out.strip() == "a-fake  what it measures"
    assert main(["bench", "iteration"]) == 2
    assert "a-fake" in capsys.readouterr().err


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_listed_can_be_run(name):
    assert bench.load(name).name == name


@pytest.mark.parametrize("words", [["--help"], ["sim", "--help"], ["demo", "--help"], ["bench", "--help"]])
def test_help_explains_and_succeeds(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 0
    assert "contact-ddp" in capsys.readouterr().out


def test_help_as_a_process_imports_nothing_heavy():
    code = (
        "import sys; from contact_ddp_ros.apps.cli import main\n"
        "try: main(['sim', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'casadi', 'numba', 'mujoco', 'pinocchio', 'matplotlib', 'rclpy', 'rich'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_version_as_a_module():
    words = [sys.executable, "-m", "contact_ddp_ros.apps.cli", "--version"]
    done = subprocess.run(words, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"contact-ddp {__version__}"


def test_sdf_is_written_to_a_file_or_to_the_terminal(tmp_path, capsys):
    file = tmp_path / "made" / "world.sdf"
    assert main(["sdf", "--set", "simulator.friction=0.45", "--out", str(file)]) == 0
    assert capsys.readouterr().out == ""
    text = file.read_text(encoding="utf-8")
    assert "<world " in text
    assert "<mu>0.45</mu>" in text
    assert main(["sdf", "--set", "simulator.friction=0.45"]) == 0
    assert capsys.readouterr().out == text
    assert main(["sdf", "--model", "--controllers", str(file)]) == 0
    model = capsys.readouterr().out
    assert "<world " not in model
    assert f"<parameters>{file}</parameters>" in model
    assert main(["sdf", "--ros2-control"]) == 0
    assert "<ros2_control " in capsys.readouterr().out
    assert main(["sdf", "--set", "simulator.friction=-1"]) == 2


def test_sdf_takes_the_world_of_a_run(capsys):
    assert main(["sdf", "--friction", "0.4", "--ground", "step:1,0.02", "--payload", "2,0.1,0"]) == 0
    text = capsys.readouterr().out
    assert "<mu>0.4</mu>" in text
    assert '<collision name="collision_1">' in text
    assert main(["sdf", "--ground", "hill:3"]) == 2
    assert main(["sdf", "--model", "--ground", "slope:3"]) == 2
    assert "simulator.terrain is 'slope:3'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--ros2-control", "--friction", "0.4"],
        ["--ros2-control", "--real-time-factor", "0.5"],
        ["--ros2-control", "--no-rotors"],
        ["--model", "--real-time-factor", "0.5"],
    ],
)
def test_an_option_that_changes_nothing_of_what_sdf_writes_is_refused(words, capsys):
    assert main(["sdf", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words[1].removeprefix("--") in said.err


def test_a_running_server_keeps_the_world_of_its_file(capsys):
    assert main(["gazebo", "--ground", "slope:3", "--friction", "0.4", "--no-video"]) == 2
    assert "simulator.friction is 0.4; a running server has" in capsys.readouterr().err
