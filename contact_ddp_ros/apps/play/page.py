"""The page as a whole: a server for browsers, the robot's newest snapshot on it, and what people do sent back."""

import time as clock
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from threading import Event
from typing import Any, Final

import viser

from contact_ddp_ros.apps.play.compare_panel import ComparePanel
from contact_ddp_ros.apps.play.downloads import Downloads
from contact_ddp_ros.apps.play.drive_panel import DrivePanel
from contact_ddp_ros.apps.play.keys import add_keys
from contact_ddp_ros.apps.play.overlay import LAYERS
from contact_ddp_ros.apps.play.scene import Scene
from contact_ddp_ros.apps.play.status import StatusPanel
from contact_ddp_ros.apps.play.strips import Strips
from contact_ddp_ros.apps.play.tune_panel import TunePanel
from contact_ddp_ros.apps.play.world_panel import WorldPanel
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.runs.live.commands import (
    Answer,
    Building,
    Command,
    Drive,
    Look,
    Recover,
    Reset,
    SetMode,
    SetParameters,
)
from contact_ddp_ros.runs.live.snapshot import Link, Snapshot, World
from contact_ddp_ros.runs.options import RunOptions

RATE: Final = 30.0
"""Snapshots per second with a browser open."""

_IDLE_PERIOD = 0.5
"""Time between two without one [s]."""

_LOOK = 0.004
"""Time between two looks for news [s]."""

_TITLE = "contact_ddp"


class Page:
    """Everything in the browser."""

    def __init__(self, link: Link, host: str, port: int, rate: float = RATE, shadows: bool = True) -> None:
        """Opens a server at an address; where the port is taken, the next free one is.

        `rate` is that of the snapshots [Hz]: a slow browser or connection gets along with fewer.
        """
        self._link = link
        self._rate = rate
        with redirect_stdout(StringIO()):  # it announces itself there
            self.server = viser.ViserServer(host=host, port=port, label=_TITLE, verbose=False)
        self.server.gui.main_panel.dock_right()
        self._shadows = shadows
        self.scene = Scene(self.server, self._send, shadows)
        self._darken(False)
        self._asked: dict[str, Any] = {}
        self._world: World | None = None
        self._drive: DrivePanel | None = None
        self._chooser: WorldPanel | None = None
        self._compare: ComparePanel | None = None
        self._strips: Strips | None = None
        self._downloads: Downloads | None = None
        self._waiting = False
        self._next = 0.0
        self._status = StatusPanel(self.server.gui, self._send, Recover())

    @property
    def port(self) -> int:
        """Port of the page."""
        return int(self.server.get_port())

    def run(self, stop: Event | None = None) -> None:
        """Serve until `stop` is set or the robot cannot be reached any more.

        Raises:
            ContactDdpError: the robot cannot be reached; the text says why.
        """
        stop = stop or Event()
        while not stop.is_set():
            self.look()
            failure = self._link.failure()
            if failure:
                self._status.say(failure)
                raise ContactDdpError(failure)
            stop.wait(_LOOK)

    def look(self) -> None:
        """Take what has come, and ask for a snapshot where one is due."""
        for news in self._link.news():
            if isinstance(news, Snapshot):
                self._waiting = False
                self._draw(news)
            elif isinstance(news, World):
                self._build(news)
            elif isinstance(news, Building):
                self._status.say(f"Starting: {news.text}")
            else:
                self._answer(news)
        now = clock.monotonic()
        if self._world is not None and not self._waiting and now >= self._next:
            self._waiting = True
            watched = bool(self.server.get_clients())
            self._next = now + (1.0 / self._rate if watched else _IDLE_PERIOD)
            self._link.send(Look(watched))

    def show(self, options: RunOptions) -> None:
        """Draw the robot standing in its world before it can be reached."""
        self.scene.build(options, draggable=False)

    def close(self) -> None:
        """End the server and the robot's link."""
        self._link.close()
        self.server.stop()

    def _send(self, command: Command) -> None:
        if isinstance(command, SetParameters):
            self._asked |= command.values
        self._link.send(command)

    def _build(self, world: World) -> None:
        """Draw a world, and the controls where it is the first."""
        first, kept = self._world is None, world.kept is not None
        self._world = world
        self.scene.build(world.options, draggable="Grab" in world.abilities, kept=kept)
        if first:
            self._add_panels(world)
        self._tune.build(world)
        if self._compare is not None:
            self._compare.show(world.kept, self._tune.values)
        if self._strips is not None:
            self._strips.remove()
        with self._charts:
            self._strips = Strips(self.server.gui, world.cost_terms, kept=kept)
        if self._chooser is not None:
            self._chooser.show(world)
        values = {name: spec.default for name, spec in world.parameters.items()}
        if self._drive is not None:
            self._drive.take_robot(world)
            self._drive.show_parameters(values)

    def _add_panels(self, world: World) -> None:
        gui = self.server.gui
        tabs = gui.add_tab_group()
        with tabs.add_tab("Drive"):
            gaits = tuple(packaged_gaits())
            self._drive = drive = DrivePanel(gui, self._send, world.abilities, gaits, world.motions, world.parameters)
            if "SaveRun" in world.abilities:
                self._downloads = Downloads(gui, self._send)
            if "Rebuild" in world.abilities:
                self._chooser = WorldPanel(gui, self._send, lambda: self._tune.values, world)
        with tabs.add_tab("Tune"):
            if "Compare" in world.abilities:
                self._compare = ComparePanel(gui, self._send)
            self._tune = TunePanel(gui, self._send, lambda: drive.drive.forward)
        with tabs.add_tab("Scene"):
            self._add_scene_options(gui)
        charts = gui.add_panel()
        charts.dock_left()
        charts.set_width(330)
        self._charts = charts.add_tab("Strips")
        if "Recover" not in world.abilities:
            self._status.continue_with(Reset() if "Reset" in world.abilities else SetMode("stand"))
        self._drive.take_drive(Drive(forward=world.options.speed_at(0.0)))
        add_keys(self.server, self._drive.press)

    def _darken(self, dark: bool) -> None:
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="large", dark_mode=dark)
        self.scene.darken(dark)

    def _add_scene_options(self, gui: viser.GuiApi) -> None:
        follow = gui.add_checkbox("follow the robot", True)
        rate = gui.add_slider("updates per second", 1.0, 60.0, 1.0, self._rate, hint="fewer for slow browsers")
        dark = gui.add_checkbox("dark", False, hint="page and ground, in every browser")
        dark.on_update(lambda _: self._darken(dark.value))
        shadows = gui.add_checkbox("shadows", self._shadows, hint="dear without a graphics card")
        shadows.on_update(lambda _: self.scene.cast_shadows(shadows.value))
        aside = gui.add_slider("A aside [m]", 0.0, 1.0, 0.05, self.scene.aside, hint="to the left of its place")
        ghost = gui.add_slider("ghost ahead [s]", 0.0, 0.36, 0.02, self.scene.ghost_ahead)
        for owner, name, handle in (
            (self.scene, "follow", follow),
            (self, "_rate", rate),
            (self.scene, "aside", aside),
            (self.scene, "ghost_ahead", ghost),
        ):
            handle.on_update(partial(_assign, owner, name))
        for layer in LAYERS:
            box = gui.add_checkbox(layer, True)

            @box.on_update
            def _(event: Any, layer: str = layer) -> None:
                shown = self.scene.shown
                shown.add(layer) if event.target.value else shown.discard(layer)

    def _draw(self, snapshot: Snapshot) -> None:
        if self._world is None or self._drive is None or self._strips is None or snapshot.world != self._world.number:
            return
        self._status.show(snapshot)
        self._drive.show(snapshot)
        self._strips.show(snapshot)
        self._tune.show(snapshot)
        self.scene.draw(snapshot)

    def _answer(self, answer: Answer) -> None:
        """Show what became of a command; values that were refused go back to what they are."""
        if self._world is not None:
            asked = self._asked if answer.parameters or not answer.accepted else {}
            self._tune.take(answer, asked)
            if self._compare is not None:
                self._compare.show(self._world.kept, self._tune.values)
            if self._drive is not None:
                self._drive.show_parameters(self._tune.values)
            if asked:
                self._asked = {}
        if self._downloads is not None:
            self._downloads.take(answer)
        if answer.text:
            self._status.note(answer.text, accepted=answer.accepted)
            for client in self.server.get_clients().values():
                client.add_notification(
                    "Done" if answer.accepted else "Refused",
                    answer.text,
                    color="green" if answer.accepted else "red",
                    auto_close_seconds=3.0 if answer.accepted else 10.0,
                )


def _assign(owner: Any, name: str, event: Any) -> None:
    setattr(owner, name, event.target.value)


def serve(
    link: Link,
    options: RunOptions,
    host: str,
    port: int,
    tell: Callable[[str], None],
    rate: float = RATE,
    shadows: bool = True,
) -> None:
    """Serve the page of a robot until interrupted; `tell` gets the address, as a line for people.

    `options` describe the robot that is drawn until the link has one.

    Raises:
        ContactDdpError: the robot cannot be reached.
    """
    page = Page(link, host, port, rate, shadows)
    try:
        shown = "localhost" if host in ("0.0.0.0", "127.0.0.1", "::") else host
        tell(f"The page is at http://{shown}:{page.port} (Ctrl-C ends it)")
        page.show(options)
        page.run()
    finally:
        page.close()
