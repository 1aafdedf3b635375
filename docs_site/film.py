"""Films a page in a browser: pictures with the simulated time that they show, and a GIF of them."""

import itertools
import math
import time as clock
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from PIL import Image

from contact_ddp_ros.base.files import written_whole
from test.apps.play.browser import text, time_of

INTERVAL: Final = 0.36
"""Simulated time between two frames of the film, or more where the browser is slow [s]."""

COLOURS: Final = 128
LONGEST: Final = 0.5
"""How long a picture is shown at most, but for the last [s]."""

_LABEL = 0.1
"""What the page rounds the time to [s]."""

OVERLAY = """
() => {
  const add = (style, parent) => {
    const one = document.createElement("div");
    one.style.cssText = "position:fixed;pointer-events:none;z-index:99999;" + style;
    (parent || document.body).appendChild(one);
    return one;
  };
  const caption = add("left:18px;bottom:18px;max-width:820px;font:600 30px sans-serif;color:#fff;" +
                      "background:#1d2733;border-radius:8px;padding:10px 16px;display:none");
  const key = add("left:18px;top:18px;font:700 40px sans-serif;color:#1d2733;background:#fff;" +
                  "border:3px solid #1d2733;border-radius:9px;padding:6px 18px;display:none");
  const hand = add("left:0;top:0;width:30px;height:30px;margin:-15px;border-radius:50%;border:4px solid #cc1e3c;" +
                   "background:#cc1e3c22;box-sizing:border-box;display:none");
  window.say = (words) => { caption.textContent = words; caption.style.display = words ? "block" : "none"; };
  window.addEventListener("mousemove", (event) => {
    hand.style.display = "block";
    hand.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
  }, true);
  window.addEventListener("pointerdown", () => { hand.style.background = "#cc1e3caa"; }, true);
  window.addEventListener("pointerup", () => { hand.style.background = "#cc1e3c22"; }, true);
  let hide = 0;
  window.addEventListener("keydown", (event) => {
    if (event.key.length !== 1) return;
    key.textContent = event.key === " " ? "space" : event.key.toUpperCase();
    key.style.display = "block";
    clearTimeout(hide);
    hide = setTimeout(() => { key.style.display = "none"; }, 10000);
  }, true);
}
"""
"""What a screenshot would lack: the pointer, the key that is pressed, and a line that says what is done."""


class Film:
    """A page and the pictures that were taken of it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self._shots: list[tuple[float, Image.Image]] = []
        page.evaluate(OVERLAY)

    def say(self, words: str) -> None:
        """Caption of what follows."""
        self.page.evaluate("words => window.say(words)", words)

    def run(self, seconds: float, meanwhile: Callable[[float], object] = lambda _share: None) -> None:
        """Film so much simulated time; after each picture do something, given the share of it that has passed."""
        begun = time_of(self.page)
        self.until(
            lambda: time_of(self.page) >= begun + seconds - 1e-6,
            lambda: meanwhile((time_of(self.page) - begun) / seconds),
        )

    def until(self, condition: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None) -> None:
        """Film until something holds; after each picture do something."""
        deadline = clock.monotonic() + 600.0
        while not condition():
            assert clock.monotonic() < deadline, text(self.page)
            now = time_of(self.page)
            self._shots.append((now, Image.open(BytesIO(self.page.screenshot())).convert("RGB")))
            meanwhile()

    def frames(self) -> list[tuple[float, Image.Image]]:
        """Pictures that are far enough apart in simulated time, with that; those of one time are spread over it."""
        found: list[tuple[float, Image.Image]] = []
        following = -math.inf
        for label, group in itertools.groupby(self._shots, key=lambda shot: shot[0]):
            same = [image for _, image in group]
            for index, image in enumerate(same):
                time = label + _LABEL * index / len(same)
                if time >= following - 1e-6:
                    found.append((time, image))
                    following = time + INTERVAL if following < time - INTERVAL else following + INTERVAL
        return found


def save(film: list[tuple[float, Image.Image]], path: Path) -> None:
    """A GIF of one palette, in real time, whole or not at all."""
    times, pictures = zip(*film, strict=True)
    chosen = pictures[:: max(1, len(pictures) // 6)]
    sample = Image.new("RGB", (chosen[0].width, chosen[0].height * len(chosen)))
    for row, picture in enumerate(chosen):
        sample.paste(picture, (0, row * picture.height))
    common, rare = (
        sample.quantize(COLOURS // 2, method=method).getpalette()[: 3 * (COLOURS // 2)]
        for method in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE)
    )
    palette = Image.new("P", (1, 1))
    palette.putpalette(common + rare)
    images = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    shown = [round(1e3 * min(after - before, LONGEST)) for before, after in itertools.pairwise(times)] + [2500]
    with written_whole(path) as temporary:
        images[0].save(
            temporary, format="GIF", save_all=True, append_images=images[1:], duration=shown, loop=0, optimize=True
        )
