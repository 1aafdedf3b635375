"""Records docs/play.gif: a minute with the live page, driven in a browser without a screen as a person would.

    python -m docs_site.play_minute [FILE [FOLDER OF FRAMES]]

in the root of a checkout where `./run test` and `./run play` have installed what they need. Time passes
slowly, since the browser draws in software; the film is shown in real time, but for gaps. It takes about six minutes.
"""

import itertools
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from docs_site.film import Film, save
from test.apps.play.browser import browser, field, frames, mode, served_page, text, until

WIDTH, HEIGHT, SCALE = 1280, 740, 0.5625
"""Of the page, and pixels of the recording for each of the page's."""

PACE: Final = 0.06


def perform(film: Film) -> None:
    """The minute."""
    page = film.page
    film.say("A robot bounds in MuJoCo; blue is its plan")
    film.run(0.8)
    film.say("Drive by keys. W: faster")
    press(film, "w", 3, 1.5)
    film.say("A: turn left")
    press(film, "a", 5, 1.2)
    pull(film)
    tune(film)
    fall(film)
    film.say("Continue: back on its feet …")
    button = page.get_by_role("button", name="Continue", exact=True)
    button.hover()
    film.run(0.1)
    button.click()
    film.run(0.1)
    page.mouse.move(*_on_ground(page))
    film.until(lambda: mode(page) == "move")
    film.say("… and goes on")
    film.run(1.2)


def press(film: Film, key: str, times: int, seconds: float) -> None:
    """Press a key now and then."""
    pressed = itertools.count(1)
    film.page.keyboard.press(key)

    def again(share: float) -> None:
        if share * times >= (count := next(pressed)) and count < times:
            film.page.keyboard.press(key)

    film.run(seconds, again)


def pull(film: Film) -> None:
    """Drag the trunk by the mouse."""
    page = film.page
    canvas = page.locator("canvas").first.bounding_box()
    x, y = canvas["x"] + 0.5 * canvas["width"], canvas["y"] + 0.46 * canvas["height"]
    film.say("Pull it with the mouse: a spring")
    page.mouse.move(x, y)
    film.run(0.1)
    page.mouse.down()
    film.run(0.9, lambda share: page.mouse.move(x - 170 * share, y + 100 * share))
    page.mouse.up()
    film.run(0.4)


def tune(film: Film) -> None:
    """Change a weight of the cost."""
    page = film.page
    film.say("Change a weight of the cost")
    tab = page.get_by_role("tab", name="Tune")
    tab.hover()
    tab.click()
    film.run(0.1)
    page.get_by_text("planner.weight", exact=True).click()
    box = field(page, "pitch [1/rad^2]")
    box.scroll_into_view_if_needed()
    box.hover()
    film.run(0.2)
    box.fill("150")
    box.press("Enter")
    film.run(0.9)


def fall(film: Film) -> None:
    """Push until it lies."""
    page = film.page
    page.get_by_role("tab", name="Drive").click()
    field(page, "impulse [N·s]").fill("15")
    film.say("Push it: 15 N·s backward")
    button = page.get_by_role("button", name="backward", exact=True)
    button.hover()
    film.run(0.2)

    def push() -> None:
        if mode(page) == "move":
            button.click()

    film.until(lambda: "Fallen:" in text(page), push)
    film.say("It falls, and the page says why")
    film.run(0.8)


def _on_ground(page: Any) -> tuple[float, float]:
    """A place of the view where there is nothing."""
    canvas = page.locator("canvas").first.bounding_box()
    return canvas["x"] + 0.15 * canvas["width"], canvas["y"] + 0.7 * canvas["height"]


def _tidy(page: Any) -> None:
    """Nothing but robot and controls, from near by."""
    page.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach((one) => one.click())")
    page.get_by_text("«", exact=True).or_(page.locator(".tabler-icon-chevrons-left")).first.click()
    page.mouse.move(*_on_ground(page))
    for _ in range(3):
        page.mouse.wheel(0, -120)
        frames(page)


def main(path: Path, kept: Path | None = None) -> None:
    """Record to a file, and where asked for keep the frames in a folder."""
    options = ["--speed", "0.2", "--rate", "3", "--no-shadows", "--pace", str(PACE)]
    with (
        TemporaryDirectory() as name,
        served_page(Path(name), *options) as address,
        browser(Path(name) / "profile", WIDTH, HEIGHT, SCALE) as context,
    ):
        page = context.new_page()
        page.goto(address)
        until(lambda: mode(page) == "move", lambda: text(page))
        _tidy(page)
        film = Film(page)
        try:
            perform(film)
        finally:
            found = film.frames()
            for time, picture in found if kept else []:
                picture.save(kept / f"{time:06.2f}.png")
    save(found, path)
    print(f"{path}: {len(found)} frames, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:] or ["docs/play.gif"]))
