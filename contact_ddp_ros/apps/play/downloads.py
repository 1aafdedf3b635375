"""Downloads of a run, which is saved where its loop is: an archive or a replay for the browser that asked."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any, Final

import viser

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.files import new_folder
from contact_ddp_ros.runs.live.commands import Answer, Command, SaveRun

_SAVE: Final = "Save"


class Downloads:
    """Buttons that save the last minute, and the browsers that wait for its files."""

    def __init__(self, gui: viser.GuiApi, send: Callable[[Command], None]) -> None:
        """Adds the buttons to the present container."""
        self._waiting: dict[Path, tuple[viser.ClientHandle, str]] = {}
        hint = "the last minute: Save for contact-ddp report, Download its files, Replay as a page of its own"
        group = gui.add_button_group("Run", (_SAVE, *WRITERS), hint=hint)

        @group.on_click
        def _(event: Any) -> None:
            folder = new_folder("play", None).absolute()
            if event.client is not None and event.target.value in WRITERS:
                self._waiting[folder] = event.client, event.target.value
            send(SaveRun(folder))

    def take(self, answer: Answer) -> None:
        """Give a run that has been saved to the browser that waits for it."""
        if answer.saved in self._waiting:
            client, kind = self._waiting.pop(answer.saved)
            Thread(target=_give, args=(client, kind, answer.saved), name="download", daemon=True).start()


def as_zip(folder: Path) -> Path:
    """Archive of a saved run beside its folder, which it holds.

    Raises:
        OSError: it cannot be written.
    """
    return Path(shutil.make_archive(str(folder), "zip", folder.parent, folder.name))


def as_replay(folder: Path) -> Path:
    """Page of a saved run in its folder, written by a process of its own, since that takes a while.

    Raises:
        ContactDdpError: it cannot be written; the text says why.
    """
    words = [sys.executable, "-m", "contact_ddp_ros.apps.cli", "export", str(folder), "--to", "html"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise ContactDdpError(done.stderr.strip())
    return folder / "run.html"


WRITERS: Final[dict[str, Callable[[Path], Path]]] = {"Download": as_zip, "Replay": as_replay}
"""Files of a saved run by the name of their button."""


def _give(client: viser.ClientHandle, kind: str, folder: Path) -> None:
    waiting = client.add_notification(kind, f"{folder.name} is being written", loading=True)
    try:
        file = WRITERS[kind](folder)
        client.send_file_download(f"{folder.name}{file.suffix}", file.read_bytes(), save_immediately=True)
    except (OSError, ContactDdpError) as error:
        client.add_notification(kind, f"not written: {error}", color="red")
    waiting.remove()
