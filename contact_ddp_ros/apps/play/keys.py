"""Keys and gamepads of the browser.

Each key is a command of the page's palette with a hotkey. The 3D view has uses of its own for W, A, S, D, Q and E: a
listener keeps these keys from it. A gamepad is read by the browser and presses the same keys.

The spring between the mouse and the robot: f = k (target − place) − d v at the point that was grabbed, limited.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import viser
from numpy.typing import NDArray
from viser import _messages

from contact_ddp_ros.runs.live.snapshot import Spring

Hotkey = Literal["W", "A", "S", "D", "Q", "E", "space", "X", "P", "R"]


@dataclass(frozen=True)
class Key:
    """One key: what it is called in the browser, and what it does, for people."""

    hotkey: Hotkey
    label: str


KEYS: Final = (
    Key("W", "Faster forward"),
    Key("S", "Slower, backward"),
    Key("A", "Turn left"),
    Key("D", "Turn right"),
    Key("Q", "Sideways to the left"),
    Key("E", "Sideways to the right"),
    Key("space", "Stop: no speed, no turn"),
    Key("X", "Damp"),
    Key("P", "Pause or go on"),
    Key("R", "Recover: up on its feet again"),
)
"""W to E change the command by a step at every press, and on as long as the key is held."""

_SCRIPT: Final = """
if (!window.contactDdpKeys) {
  window.contactDdpKeys = true;
  const driving = new Set(["KeyW", "KeyA", "KeyS", "KeyD", "KeyQ", "KeyE"]);
  const root = document.documentElement;
  root.addEventListener("keydown", (event) => {
    if (driving.has(event.code)) event.stopPropagation();
  });
  const press = (code, key) =>
    root.dispatchEvent(new KeyboardEvent("keydown", {code: code, key: key, bubbles: true, cancelable: true}));
  const stop = (event) => {
    if (event.code !== "Space" || event.target === root) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === "keydown") press("Space", " ");
  };
  window.addEventListener("keydown", stop, true);
  window.addEventListener("keyup", stop, true);
  window.addEventListener("keydown", (event) => { if (event.code === "Escape") press("Space", " "); }, true);
  const dead = 0.5;
  let last = 0, buttons = [];
  const poll = (now) => {
    const pad = Array.from(navigator.getGamepads ? navigator.getGamepads() : []).find((one) => one);
    if (pad) {
      const was = buttons;
      buttons = pad.buttons.map((button) => button.pressed);
      const struck = (index) => buttons[index] && !was[index];
      if (struck(0)) press("Space", " ");
      if (struck(1)) press("KeyX", "x");
      if (struck(3)) press("KeyR", "r");
      if (struck(9)) press("KeyP", "p");
      if (now - last > 150) {
        last = now;
        const [x, y, turn] = [pad.axes[0] || 0, pad.axes[1] || 0, pad.axes[2] || 0];
        if (y < -dead) press("KeyW", "w");
        if (y > dead) press("KeyS", "s");
        if (turn < -dead) press("KeyA", "a");
        if (turn > dead) press("KeyD", "d");
        if (x < -dead) press("KeyQ", "q");
        if (x > dead) press("KeyE", "e");
      }
    }
    window.requestAnimationFrame(poll);
  };
  window.requestAnimationFrame(poll);
}
"""
"""Left stick: forward and sideways; right stick: turn; first button stops, second damps, fourth recovers, start pauses.

Space stops wherever the focus is, in a field, too, where it would be typed, or on a button, which it would press; so
does Escape, which keeps its other uses. Hotkeys are listened for on the root element and the view listens on the
document around it, so what stops at the root reaches the former only.
"""

_TYPING: Final = """
if (!window.contactDdpTyping) {
  window.contactDdpTyping = true;
  const native = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const number = /^[+-]?(\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d+)?$/i;
  const plain = (value) => value.toLocaleString("en-US", {useGrouping: false, maximumFractionDigits: 20});
  const before = new WeakMap();
  const isField = (box) => box.matches?.("input.mantine-TextInput-input, input.mantine-NumberInput-input");
  const why = (box) => {
    const text = box.value.trim(), value = Number(text);
    if (!number.test(text) || !Number.isFinite(value)) return `'${text}' is no number; type one like 0.5 or 1e-3`;
    const slider = box.closest("div:has([role=slider])")?.querySelector("[role=slider]");
    const [low, high] = slider ? [slider.ariaValueMin, slider.ariaValueMax].map(Number) : [-Infinity, Infinity];
    return low <= value && value <= high ? "" : `${text} is out of range; allowed: ${low} to ${high}`;
  };
  document.addEventListener("focusin", ({target}) => { if (isField(target)) before.set(target, target.value); }, true);
  window.addEventListener("input", (event) => {
    if (!isField(event.target)) return;
    event.target.setCustomValidity("");
    event.stopImmediatePropagation();
  }, true);
  window.addEventListener("change", (event) => {
    const box = event.target;
    if (!isField(box)) return;
    if (box.matches(".mantine-NumberInput-input")) {
      const wrong = why(box);
      if (wrong) event.stopImmediatePropagation();
      native.call(box, wrong ? before.get(box) : plain(Number(box.value)));
      box.setCustomValidity(wrong);
      box.reportValidity();
    }
    before.set(box, box.value);
  }, true);
}
"""
"""Fields of text and numbers that take what is typed as a whole: with Enter, or where the focus leaves them.

A slider's takes a number within its ends, with or without an exponent, or refuses with words and shows the one before.
By itself it leaves out letters, so that 1e9 would be 19.
"""


def add_keys(server: viser.ViserServer, press: Callable[[str], None]) -> None:
    """Call `press` with the hotkey of every key that is pressed in any browser."""
    for key in KEYS:
        command = server.gui.add_command(key.label, hotkey=key.hotkey)

        @command.on_trigger
        def _(_event: Any, name: str = key.hotkey) -> None:
            press(name)

    run_javascript(server.gui, _SCRIPT)
    run_javascript(server.gui, _TYPING)


def copy_to_clipboard(client: viser.ClientHandle, text: str) -> None:
    """Put a text into the clipboard of a browser, where it allows that."""
    run_javascript(client.gui, f"navigator.clipboard && navigator.clipboard.writeText({text!r}).catch(() => {{}})")


def run_javascript(gui: viser.GuiApi, source: str) -> None:
    """Run a script in the browsers of a user interface, later ones included; viser has no public way to."""
    gui._websock_interface.queue_message(_messages.RunJavascriptMessage(source=source))


Array = NDArray[np.float64]

STIFFNESS: Final = 300.0
"""Stiffness of the spring [N/m]."""

DAMPING: Final = 10.0
"""Against the velocity of the point that was grabbed [N s/m]."""

LARGEST_FORCE: Final = 120.0
"""Above the robot's weight [N]."""


class MouseSpring:
    """Pulls a link of the simulated robot, where the simulator can: MuJoCo's does."""

    def __init__(self, simulator: Any) -> None:
        """`simulator` has `pull` and `point_motion` as :class:`contact_ddp_ros.plants.mujoco.MujocoSimulator`."""
        self._simulator = simulator
        self._grip: tuple[str, Array] | None = None
        self._target = np.zeros(3)
        self._impulse = 0.0
        self._force = np.zeros(3)

    def grab(self, link: str, point: Array, target: Array) -> None:
        """Pull a point (3,) of a link, in its axes [m], towards a target (3,) in `odom` [m], from the next tick on.

        Raises:
            ParameterError: there is no such link, or a number is not finite.
        """
        self._simulator.pull(link, point, 0.0 * target)
        if self._grip is None:
            self._impulse = 0.0
        self._grip, self._target = (link, point), target

    def release(self) -> float:
        """Let go; the impulse since it was grabbed [N s], 0 where nothing was."""
        if self._grip is None:
            return 0.0
        link, point = self._grip
        self._grip, self._force = None, np.zeros(3)
        self._simulator.pull(link, point, np.zeros(3))
        return self._impulse

    def act(self, dt: float) -> None:
        """Set the force for the tick of `dt` [s] that follows."""
        if self._grip is None:
            return
        link, point = self._grip
        place, velocity = self._simulator.point_motion(link, point)
        force = STIFFNESS * (self._target - place) - DAMPING * velocity
        size = math.sqrt(float(force @ force))
        self._force = force * min(1.0, LARGEST_FORCE / size) if size > 0.0 else force
        self._impulse += float(np.linalg.norm(self._force)) * dt
        self._simulator.pull(link, point, self._force)

    @property
    def view(self) -> Spring | None:
        """Geometry to draw."""
        if self._grip is None:
            return None
        place, _ = self._simulator.point_motion(*self._grip)
        return Spring(place, self._target, self._force, self._impulse)
