"""A run as an HTML file: what is in it, and that a browser without a network plays it."""

import base64
import io
import re
import threading
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned_runs import planned_recording

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.runs.recording import Recording, save
from test.apps.play.browser import BROWSER, browser, frames, until

pytest.importorskip("viser", reason="pinned in requirements-play.txt")

LONGEST = 1.5
"""Part of the run that is written [s]."""


@pytest.fixture(scope="module")
def recording() -> Recording:
    return planned_recording()


@pytest.fixture(scope="module")
def file(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, said, threads = tmp_path_factory.mktemp("run"), io.StringIO(), threading.active_count()
    save(recording, folder)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.setattr("contact_ddp_ros.runs.export.html_file.LONGEST", LONGEST)
        assert main(["export", str(folder), "--to", "html"]) == 0
    assert "MB, the first 1.5 s of 2.0 s)" in said.getvalue() and "viser" not in said.getvalue()
    assert threading.active_count() == threads, "no server is left"
    return folder / "run.html"


def messages(page: str) -> list[tuple[float, dict[str, Any]]]:
    """Messages to viser's client by the time [s]."""
    zstandard, msgspec = pytest.importorskip("zstandard"), pytest.importorskip("msgspec")
    found = re.search(r'__VISER_EMBED_DATA__="([^"]*)"', page)
    assert found is not None
    packed = base64.b64decode(found[1])
    content = zstandard.ZstdDecompressor().decompress(packed[8:], int.from_bytes(packed[:8], "little"))
    return msgspec.msgpack.decode(content[8 : 8 + int.from_bytes(content[:8], "little")])["messages"]


def test_the_file_has_the_robot_where_it_was(file: Path, recording: Recording) -> None:
    page = file.read_text(encoding="utf-8")
    assert "<title>sim: " in page and len(page) < 1.5e6
    told = messages(page)
    trunk = {
        time: one["position"]
        for time, one in told
        if one["type"] == "SetPositionMessage" and one["name"] == "/world/robot/base_link"
    }
    begin, times = recording.ticks["time"][0], np.array(list(trunk))
    assert len(times) > 50 and times[-1] <= LONGEST, "no more than the longest part"
    rows = np.searchsorted(recording.ticks["time"], begin + times - 1e-9)
    np.testing.assert_allclose(list(trunk.values()), recording.ticks["position"][rows], atol=1e-4)
    shown = [
        one["visible"]
        for _, one in told
        if one["type"] == "SetSceneNodeVisibilityMessage" and one["name"] == "/world/plan"
    ]
    assert shown[0] is False and all(a != b for a, b in pairwise(shown)) and len(shown) >= 3, "there while a plan is"


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium; ./run test installs it as root")
def test_a_browser_without_a_network_plays_it(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("playwright.sync_api", reason="pinned in requirements-test.txt")
    with browser(tmp_path, 480, 270) as context:
        context.set_offline(True)
        page, faults, asked = context.new_page(), [], []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        canvas, time = page.locator("canvas").first, page.locator("input").first
        until(lambda: float(time.input_value()) > 0.0)
        page.keyboard.press(" ")
        frames(page)
        pictures = []
        for instant in ("0.31", "1.21"):
            time.fill(instant)
            frames(page)
            pictures.append(canvas.screenshot())
        assert pictures[0] != pictures[1] and time.input_value() == "1.2"
        assert page.title().startswith("sim: ") and "planned forces" in page.inner_text("body")
        assert faults == [] and [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
