"""Keys that come at once, each in a thread of its own as viser calls them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.gaits.gait import load_gait, packaged_gaits
from contact_ddp_ros.runs.live.commands import Answer, Command, Drive
from contact_ddp_ros.runs.live.snapshot import World
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.scenario import scenario

viser = pytest.importorskip("viser", reason="pinned in requirements-play.txt")

PRESSES = 8


@pytest.fixture
def gui() -> Iterator[Any]:
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield server.gui
    server.stop()


def test_parameters_are_found_by_words_and_by_having_been_changed(gui: Any) -> None:
    from contact_ddp_ros.apps.play.tune_panel import TunePanel

    parameters = scenario(RunOptions()).specs()
    declared = {name: spec.default for name, spec in parameters.items()}
    tune = TunePanel(gui, lambda _: None, lambda: 0.0)
    tune.build(World(1, RunOptions(), parameters, declared, (), frozenset()))

    def shown() -> set[str]:
        return {name for name, control in tune._controls.items() if control._input.visible}

    tune._search.value = "Trunk pitch weight"
    assert shown() == {"planner.weight.pitch"}
    assert [group for group, folder in tune._built.items() if folder.visible] == ["planner.weight"]
    tune._search.value = ""
    assert shown() == set(parameters)
    tune._only_changed.value = True
    assert shown() == set()
    tune.take(Answer(True, "", {"planner.weight.roll": 41.0}), {})
    assert shown() == {"planner.weight.roll"}


def test_the_sliders_of_the_pose_follow_the_robot(gui: Any) -> None:
    from contact_ddp_ros.apps.play.drive_panel import DrivePanel

    panel = DrivePanel(gui, lambda _: None, frozenset({"SetParameters"}), (), ("jump",), scenario(RunOptions()).specs())
    height = panel._inputs["planner.reference.height"]
    assert (height.min, height.max, height.value) == (0.15, 0.36, 0.27)
    small = scenario(RunOptions(robot="solo12")).specs()
    panel.take_robot(World(2, RunOptions(robot="solo12"), small, {}, (), frozenset(), ("hop",)))
    panel.show_parameters({"planner.reference.height": small["planner.reference.height"].default})
    assert height.max == small["planner.reference.height"].high < 0.36
    panel.show_parameters({"planner.reference.speed_limit": 1.5})
    panel.command(Drive(forward=9.0, sideways=-9.0, turn=9.0))
    assert (panel.drive, panel._speed.max) == (Drive(1.5, 6.0, -1.5), 1.5), "what the planner follows at most"
    assert panel._motion.options == ("hop",)


def test_a_gait_of_ones_own_is_kept_as_a_file_or_refused_and_listed(
    gui: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contact_ddp_ros.apps.play.drive_panel import DrivePanel, stored_gait

    monkeypatch.chdir(tmp_path)
    content = packaged_gaits()["trot"].read_bytes()
    file = stored_gait("../../mine.yaml", content)
    assert (file.name, file.read_bytes()) == ("mine.yaml", content)
    assert load_gait(str(file)).period == 0.4
    with pytest.raises(ParameterError, match=r"gait file .*bad.yaml: it holds \['period'\]; needed: period, stances"):
        stored_gait("bad.yaml", b"period: 0.4")
    assert [path.name for path in tmp_path.rglob("*.yaml")] == ["mine.yaml"], "what is refused is not kept"
    panel = DrivePanel(gui, lambda _: None, frozenset({"SetParameters"}), ("bound",))
    panel.show_parameters({"planner.gait.name": str(file)})
    handle = panel._inputs["planner.gait.name"]
    assert (handle.value, handle.options) == (str(file), ("bound", str(file)))


def test_every_key_of_several_pressed_at_once_counts_and_the_last_sent_is_the_one_shown(gui: Any) -> None:
    from contact_ddp_ros.apps.play.drive_panel import DrivePanel

    sent: list[Command] = []
    delays = iter(0.01 * (PRESSES - k) for k in range(PRESSES))  # would let the last overtake all others

    def send(command: Command) -> None:
        sleep(next(delays))
        sent.append(command)

    panel = DrivePanel(gui, send, frozenset(), ())
    with ThreadPoolExecutor(PRESSES) as threads:
        list(threads.map(panel.press, "W" * PRESSES))
    assert panel.drive == Drive(forward=0.8)
    assert sent[-1] == panel.drive
