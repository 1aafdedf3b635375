"""A recording on disk: `recording.npz` holds the numbers, `recording.json` what they mean.

The JSON is written last and names the digest of the numbers it belongs to, so that a pair from two runs, or one of
which only half was copied, is detected on loading.
"""

import hashlib
import json
import zipfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.base.files import write_json, written_whole
from contact_ddp_ros.runs.recording.info import RunInfo
from contact_ddp_ros.runs.recording.record import Event
from contact_ddp_ros.runs.recording.recording import Recording

NUMBERS_FILE = "recording.npz"
MEANING_FILE = "recording.json"
_TABLES = ("ticks", "solves", "plans", "motion")

_SCHEMA = 2
"""Version of this layout; raised when an older reader could misread it."""

_LATER = ("fall_height",)
"""Entries added later; recordings without them have their defaults."""


def save(recording: Recording, folder: Path) -> None:
    """Write recording.npz and recording.json into `folder`, and create it if needed.

    Raises:
        RecordingError: the folder cannot be written.
    """
    tables = {table: getattr(recording, table) for table in _TABLES}
    arrays = {f"{table}/{name}": column for table, columns in tables.items() for name, column in columns.items()}
    meaning = {"schema": _SCHEMA, "info": asdict(recording.info), "events": [asdict(e) for e in recording.events]}
    try:
        with written_whole(folder / NUMBERS_FILE) as temporary:
            np.savez_compressed(temporary, allow_pickle=False, **arrays)
            digest = _digest(temporary)
        write_json(folder / MEANING_FILE, {"numbers_sha256": digest, **meaning})
    except OSError as error:
        raise RecordingError(f"cannot write the recording into {folder}: {error}") from error


def load(folder: Path) -> Recording:
    """Read a recording back.

    Raises:
        RecordingError: a file is missing or damaged, of another layout, or the two do not belong together.
    """
    try:
        meaning = json.loads((folder / MEANING_FILE).read_text(encoding="utf-8"))
        digest = _digest(folder / NUMBERS_FILE)
        with np.load(folder / NUMBERS_FILE, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise RecordingError(f"cannot read a recording from {folder}: {error}") from error
    if not isinstance(meaning, dict) or meaning.get("schema") != _SCHEMA:
        found = meaning.get("schema") if isinstance(meaning, dict) else None
        raise RecordingError(f"{folder / MEANING_FILE} has layout {found}, this version reads {_SCHEMA}")
    if meaning.get("numbers_sha256") != digest:
        raise RecordingError(f"{NUMBERS_FILE} and {MEANING_FILE} in {folder} are not of the same run; record again")
    try:
        said = meaning["info"]
        known = [field.name for field in fields(RunInfo) if field.name in said or field.name not in _LATER]
        info = RunInfo(**{name: _tuples(said[name]) for name in known})
        events = tuple(Event(**event) for event in meaning["events"])
    except (KeyError, TypeError) as error:
        raise RecordingError(f"{folder / MEANING_FILE} lacks or misnames an entry: {error}") from error
    for array in arrays.values():
        array.flags.writeable = False
    return Recording(info, events=events, **{table: _table(arrays, f"{table}/") for table in _TABLES})


def _table(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(entry) for entry in value) if isinstance(value, list) else value


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
