"""The live page in a real browser: it shows a robot that moves, and keys, mouse and controls reach it.

Nothing here depends on how fast the browser is: everything waits for what is to be seen.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import unpack_archive
from typing import Any

import pytest

from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.runs.recording import load
from test.apps.play.browser import (
    BROWSER,
    UNSEEN,
    browser,
    field,
    frames,
    mode,
    served_page,
    shown,
    text,
    time_of,
    until,
    wanted,
)

pytest.importorskip("playwright.sync_api", reason="pinned in requirements-test.txt")
pytest.importorskip("viser", reason="pinned in requirements-play.txt")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        BROWSER is None, reason="no Chromium; ./run test installs it as root, else apt-get install chromium"
    ),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a page that runs."""
    options = ["--speed", "0.3", "--rate", "2", "--no-shadows", "--pace", "0.25"]
    with served_page(tmp_path_factory.mktemp("play"), *options) as found:
        yield found


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile"), script=UNSEEN) as context:
        yield context


@pytest.fixture(scope="module")
def page(chromium: Any, address: str) -> Any:
    """Open, with a robot that moves."""
    page = chromium.new_page()
    page.goto(address)
    until(lambda: mode(page) == "move", lambda: text(page))
    return page


def test_time_goes_on_and_the_robot_moves(page: Any) -> None:
    begun = time_of(page)
    until(lambda: time_of(page) > begun + 0.5, lambda: text(page))
    until(lambda: shown(page, r"real-time factor ([\d.]+)") > 0.0, lambda: text(page))
    until(lambda: shown(page, r"([+-][\d.]+) m/s") > 0.1, lambda: text(page))


def test_keys_change_speed_and_space_stops(page: Any) -> None:
    page.mouse.click(800, 40)
    before = wanted(page)
    page.keyboard.press("w")
    until(lambda: wanted(page) == pytest.approx(before + 0.1), lambda: text(page))
    page.keyboard.press("s")
    until(lambda: wanted(page) == pytest.approx(before), lambda: text(page))
    page.keyboard.press(" ")
    until(lambda: wanted(page) == 0.0, lambda: text(page))
    for _ in range(3):
        page.keyboard.press("w")
    until(lambda: wanted(page) == pytest.approx(0.3), lambda: text(page))


def test_space_and_escape_stop_with_a_field_or_a_button_in_focus(page: Any) -> None:
    box, push = field(page, "impulse [N·s]"), page.get_by_role("button", name="up", exact=True)
    for key, place in ((" ", box), ("Escape", box), (" ", push)):
        page.mouse.click(800, 40)
        page.keyboard.press("w")
        until(lambda: wanted(page) > 0.0, lambda: text(page))
        place.focus()
        page.keyboard.press(key)
        until(lambda: wanted(page) == 0.0, lambda: text(page))
    assert box.input_value() == "4" and "a push of" not in text(page), "the key is not typed and presses no button"


def test_what_is_typed_is_taken_as_a_whole_or_refused_with_words(page: Any) -> None:
    box = field(page, "impulse [N·s]")

    def typed(words: str) -> str:
        box.press("Control+a")
        box.press_sequentially(words)
        assert box.input_value() == words, "nothing is left out while it is typed"
        box.press("Enter")
        until(lambda: box.input_value() != words)
        return str(box.evaluate("box => box.validationMessage"))

    assert typed("1e9") == "1e9 is out of range; allowed: 0.5 to 15"
    assert box.input_value() == "4"
    assert typed("5o") == "'5o' is no number; type one like 0.5 or 1e-3"
    assert box.input_value() == "4"
    assert typed("50e-1") == "" and box.input_value() == "5"
    page.get_by_role("button", name="up", exact=True).click()
    until(lambda: "a push of 5.0 N·s" in text(page), lambda: text(page))
    assert typed("+4.0") == "" and box.input_value() == "4"


def test_the_trunk_is_lowered(page: Any) -> None:
    box = field(page, "height [m]")
    box.fill("0.25")
    box.press("Enter")
    until(lambda: "set planner.reference.height = 0.25" in text(page), lambda: text(page))


def test_a_gait_of_ones_own_is_taken_or_refused(page: Any, tmp_path: Path) -> None:
    chooser = page.locator("input[type=file]")
    (tmp_path / "bad.yaml").write_text("period: 0.4")
    chooser.set_input_files(tmp_path / "bad.yaml")
    until(lambda: "bad.yaml: it holds ['period']; needed: period, stances" in text(page), lambda: text(page))
    (tmp_path / "mine.yaml").write_bytes(packaged_gaits()["trot"].read_bytes())
    chooser.set_input_files(tmp_path / "mine.yaml")
    until(lambda: re.search(r"set planner.gait.name = \S+mine.yaml", text(page)) is not None, lambda: text(page))


def test_a_gamepad_drives(page: Any) -> None:
    page.evaluate("navigator.getGamepads = () => [{axes: [0, -1, 0, 0], buttons: Array(10).fill({pressed: false})}]")
    until(lambda: wanted(page) >= 0.5, lambda: text(page))
    page.evaluate("navigator.getGamepads = () => []")
    page.keyboard.press(" ")
    until(lambda: wanted(page) == 0.0, lambda: text(page))


def test_dragging_the_robot_pulls_it(page: Any) -> None:
    """The view, the first canvas, follows the robot, which is in the middle of it."""
    canvas = page.locator("canvas").first.bounding_box()
    lifts = itertools.cycle((0.04, 0.06, 0.02))

    def dragged() -> bool:
        x, y = canvas["x"] + 0.5 * canvas["width"], canvas["y"] + (0.5 - next(lifts)) * canvas["height"]
        page.mouse.move(x, y)
        frames(page)
        page.mouse.down()
        for step in range(1, 6):
            frames(page)
            page.mouse.move(x + 8 * step, y - 3 * step)
        frames(page)
        page.mouse.up()
        frames(page, 10)
        return re.search(r"a pull of [\d.]+ N·s", text(page)) is not None

    until(dragged, lambda: text(page))


def test_buttons_push_and_a_fall_is_said_and_ended(page: Any) -> None:
    left = page.get_by_role("button", name="left", exact=True)
    left.click()
    until(lambda: "a push of 4.0 N·s" in text(page), lambda: text(page))
    impulse = field(page, "impulse [N·s]")
    impulse.fill("15")
    impulse.press("Enter")

    def fallen() -> bool:
        left.evaluate("button => { for (let n = 0; n < 3; n++) button.click(); }")
        return "Fallen:" in text(page)

    until(fallen, lambda: text(page))
    page.get_by_role("button", name="Continue").click()
    until(lambda: "Fallen:" not in text(page) and mode(page) == "move", lambda: text(page))


def test_another_world_is_chosen_and_built(page: Any) -> None:
    field(page, "ground").click()
    page.get_by_role("option", name="boxes", exact=True).click()
    page.get_by_role("button", name="Build this world").click()
    until(lambda: "built: boxes:0.02,1" in text(page), lambda: text(page))
    until(lambda: mode(page) == "move", lambda: text(page))


def test_a_control_changes_a_parameter(page: Any) -> None:
    page.get_by_role("tab", name="Tune").click()
    page.get_by_text("planner.weight", exact=True).click()
    box = field(page, "pitch [1/rad^2]")
    first = box.input_value()
    for words, refusal in (("1e9", "pitch is 1000000000.0; allowed: 0 to"), ("5o", "pitch is '5o'; allowed: a number")):
        box.fill(words)
        box.press("Enter")
        until(lambda refusal=refusal: refusal in text(page), lambda: text(page))
        until(lambda: box.input_value() == first, lambda: text(page))
    page.get_by_role("button", name="Keep as A").click()
    until(lambda: "B, which is tuned, has the parameters of A." in text(page), lambda: text(page))
    box.press("Control+a")
    box.press_sequentially("5.5e1")
    box.press("Enter")
    until(lambda: "set planner.weight.pitch = 55" in text(page), lambda: text(page))
    assert "pitch = 5" not in text(page).replace("pitch = 55", ""), "no number is taken before it is whole"
    until(lambda: f"planner.weight.pitch: A {float(first):g}, B 55" in text(page), lambda: text(page))
    assert re.search(r"\bA (move|stand|damp)", text(page)), "the status shows it, too"
    page.get_by_role("button", name="Drop A").click()
    until(lambda: "B 55" not in text(page), lambda: text(page))
    page.get_by_role("tab", name="Drive").click()


def test_a_second_browser_and_a_reload_see_the_same(page: Any, chromium: Any, address: str) -> None:
    page.mouse.click(800, 40)
    page.keyboard.press("w")
    until(lambda: wanted(page) != 0.0, lambda: text(page))
    other = chromium.new_page()
    other.goto(address)
    until(lambda: wanted(other) == wanted(page), lambda: text(other))
    other.close()
    page.reload()
    until(lambda: mode(page) in ("move", "stand", "damp"), lambda: text(page))
    begun = time_of(page)
    until(lambda: time_of(page) > begun, lambda: text(page))
    page.keyboard.press(" ")
    until(lambda: wanted(page) == 0.0, lambda: text(page))


def test_run_and_changed_parameters_are_offered_as_files_and_a_command(page: Any, tmp_path: Path) -> None:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    download.value.save_as(tmp_path / "run.zip")
    unpack_archive(tmp_path / "run.zip", tmp_path)
    assert load(next(tmp_path.glob("play-*"))).info.job == "play"
    page.get_by_role("tab", name="Tune").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as YAML").click()
    download.value.save_as(tmp_path / "one.yaml")
    assert "weight.pitch: 55.0" in (tmp_path / "one.yaml").read_text()
    page.get_by_role("button", name="Copy as command").click()
    command = page.locator("textarea").first
    until(lambda: "--set planner.weight.pitch=55.0" in command.input_value(), command.input_value)
