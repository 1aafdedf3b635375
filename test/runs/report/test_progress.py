import io
import re
import time

from rich.console import Console
from rich.table import Table
from synthetic import Gait, bounding_recorder

from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.figures import figures_of
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.report.progress import LiveProgress, closing_table, patience, progress_bar, working


def shown(what: object) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(what)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_plain_lines_come_once_per_simulated_second():
    console = Console(file=io.StringIO(), force_terminal=False, width=40)
    with LiveProgress(console, 3.0) as progress:
        bounding_recorder(Gait(duration=3.0), Recorder(progress))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line.split()[0] for line in lines] == ["0.00", "1.00", "2.00"]
    assert all("\x1b" not in line for line in lines)
    assert "move" in lines[2]
    assert "speed +0.50 (+0.50) m/s" in lines[2]
    assert "solve" in lines[2]


def test_a_terminal_gets_a_live_line():
    console = Console(file=io.StringIO(), force_terminal=True, width=140)
    with LiveProgress(console, 1.0) as progress:
        bounding_recorder(Gait(duration=0.1), Recorder(progress))
    assert "╌" in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_long_preparation_is_told_until_the_first_tick():
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    told: list[float] = []
    with patience(told.append, 0.0, 1e6):
        deadline = time.monotonic() + 60.0
        while not told and time.monotonic() < deadline:
            time.sleep(0.01)
    assert told == [0.0]
    with LiveProgress(console, 1.0) as progress:
        progress._still_preparing(30.0)
        bounding_recorder(Gait(duration=0.1), Recorder(progress))
    first = console.file.getvalue().splitlines()[0]  # type: ignore[attr-defined]
    assert "compiled" in first


def test_work_is_told_in_lines_where_there_is_no_terminal():
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    with progress_bar(console, "Rendering the video") as advance:
        for k in range(101):
            advance(k / 100)
    with working(console, "Drawing plots"):
        pass
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "Rendering the video ..."
    assert lines[1:-1] == [f"Rendering the video: {share} %" for share in (25, 50, 75)]
    assert lines[-1] == "Drawing plots ..."


def closed(recording: Recording, **changes: object) -> Table:
    """The closing table of a recording, some figures changed."""
    return closing_table(recording, {**figures_of(recording), **changes})


def test_the_force_at_impact_is_said_to_be_the_contact_models():
    text = shown(closed(bounding_recorder(Gait(duration=2.0)).finish()))
    assert "foot force at impact (stiff contact)" in text


def test_the_table_tells_what_happened():
    pushes = (Push(1.0, (0.0, 40.0, 0.0), 0.1), Push(2.0, (0.0, 0.0, 0.0), 0.1, (5.0, 0.0, 0.0)))
    text = shown(closed(bounding_recorder(Gait(duration=4.0), pushes=pushes).finish()))
    assert "push of (0.5, 0, 0) N m s at 2 s" in text
    for words in ("0.500 / 0.500 m/s", "8.6°, 1.1°", "push of (0, 4, 0) N s at 1 s", "straight after 0.00 s"):
        assert words in text


def test_a_fall_and_unknown_figures_are_told_as_such():
    recording = bounding_recorder(Gait(duration=2.0)).finish()
    fallen = {"fell": True, "fall_time_s": 1.25, "fall_reason": "tilt", "fall_cause": "late policies"}
    text = shown(closed(recording, **fallen, up_again_time_s=6.5, real_time_factor=None))
    assert "yes, at 1.25 s (tilt)" in text
    assert "cause of the fall" in text and "late policies" in text
    assert "up again" in text and "at 6.50 s" in text
    assert "nan" not in text
    assert "stood" not in text
    assert re.search(r"stood\W+never", shown(closed(recording, stood=False)))
