"""The live page in a process of its own, and a browser without a screen that uses it as a person does."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.process import END_WITH_STDIN

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
SELDOM = "const draw = requestAnimationFrame; requestAnimationFrame = then => setTimeout(() => draw(then), 100)"
"""At most ten pictures a second: what a page draws in software takes most of the time of its tests."""

UNSEEN = """
for (const name of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced"])
  WebGL2RenderingContext.prototype[name] = () => {};
"""
"""For a page at whose picture no test looks: to draw it in software takes several times what all else does."""

PATIENCE = 180.0
"""With a busy machine [s]."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def served_page(folder: Path, *options: str) -> Iterator[str]:
    """The address of `contact-ddp play` with further options, which ends with the context; it writes to `folder`."""
    words = [sys.executable, "-u", "-m", "contact_ddp_ros.apps.cli", "play", "--port", str(free_port()), *options]
    with (folder / "stderr").open("w") as errors:
        process = subprocess.Popen(
            words,
            env={**os.environ, END_WITH_STDIN: "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
            start_new_session=True,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + (folder / "stderr").read_text()
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 0, (folder / "stderr").read_text()


@contextmanager
def browser(profile: Path, width: int = 1280, height: int = 720, script: str = "") -> Iterator[Any]:
    """A Chromium of playwright that draws in software, after a `script` of the test's own in every page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=BROWSER,
            headless=True,
            args=OPTIONS,
            viewport={"width": width, "height": height},
            device_scale_factor=0.5,
        )
        context.set_default_timeout(1e3 * PATIENCE)
        context.add_init_script(script)
        context.add_init_script(SELDOM)
        yield context
        context.close()


def until(condition: Callable[[], bool], found: Callable[[], object] = lambda: "") -> None:
    deadline = clock.monotonic() + PATIENCE
    while not condition():
        assert clock.monotonic() < deadline, found()
        clock.sleep(0.2)


def frames(page: Any, count: int = 3) -> None:
    """Let the browser draw, so that it has seen what went before."""
    script = "n => new Promise(done => { const next = () => n-- > 0 ? requestAnimationFrame(next) : done(); next(); })"
    page.evaluate(script, count)


def field(page: Any, label: str) -> Any:
    """The input beside a label; of a slider the one with the number."""
    row = page.get_by_text(label, exact=True).locator("xpath=ancestor::div[.//input][1]")
    return row.locator("input:not([type=hidden])").first


def text(page: Any) -> str:
    return str(page.inner_text("body"))


def shown(page: Any, pattern: str) -> float:
    """A number of the status; not a number where it is not shown."""
    found = re.search(pattern, text(page))
    return float(found[1]) if found else float("nan")


def mode(page: Any) -> str:
    found = re.search(r"\b(move|stand|damp)\s+(?:paused )?t =", text(page))
    return found[1] if found else ""


def wanted(page: Any) -> float:
    return shown(page, r"wanted ([+-][\d.]+)")


def time_of(page: Any) -> float:
    return shown(page, r"t = ([\d.]+) s")
