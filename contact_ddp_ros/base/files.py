"""Folders for output, files written whole or not at all, JSON that every reader accepts, the package's data files."""

import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from contact_ddp_ros.base.errors import ParameterError

_OUTPUT_ROOT = Path("out")


def new_folder(job: str, wanted: Path | None) -> Path:
    """Make and return the output folder: `wanted`, or out/<job>-<local time>, numbered where that is taken.

    Raises:
        ParameterError: `wanted` is a file or holds something, or the folder cannot be made.
    """
    folder = wanted if wanted is not None else _free(_OUTPUT_ROOT / f"{job}-{datetime.now():%Y%m%d-%H%M%S}")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ParameterError(f"output folder {folder} exists and is not an empty folder; remove it or give another")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"cannot make the output folder {folder}: {error.strerror}") from error
    return folder


@contextmanager
def kept_unless_empty(folder: Path) -> Iterator[Path]:
    """Gives an output folder and takes it away again where the block ends with an error before anything is in it."""
    try:
        yield folder
    except BaseException:
        with suppress(OSError):  # whoever put something into it may want to see it
            folder.rmdir()
        raise


def _free(folder: Path) -> Path:
    candidate, number = folder, 1
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Gives a temporary path beside `path`, of the same suffix, that replaces it when the block ends without an error.

    A reader finds the old file or the new one, never a part of it, also after a power failure; after an error the old
    one, if any, remains. Several processes and threads may write the same file at once; the last one counts.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.part{path.suffix}")
    try:
        yield temporary
        _to_disk(temporary)
        os.replace(temporary, path)
        _to_disk(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    """Have a file's content, or the names in a folder, written to the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole, in UTF-8."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, data: Any) -> None:
    """Write strictly valid JSON whole; see :func:`plain` for what becomes of numbers."""
    write_text(path, json.dumps(plain(data), indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def plain(data: Any) -> Any:
    """`data` as JSON knows it: NumPy values as Python's, tuples as lists, numbers that are not finite as null.

    Dataclasses become objects of their fields.
    """
    if is_dataclass(data):
        return {one.name: plain(getattr(data, one.name)) for one in fields(data)}
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, np.ndarray):
        return plain(data.tolist())
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    if isinstance(data, np.generic):
        return plain(data.item())
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if data is None or isinstance(data, str | int):
        return data
    return str(data)


PACKAGE_NAME = "contact_ddp_ros"


def share_places(relative: str) -> list[Path]:
    """Candidate paths of a file such as `urdf/NAME`: in the source checkout, else in a share folder above the code.

    An installation has its code in PREFIX/lib/.../site-packages and its files in PREFIX/share, whoever made it: pip for
    an environment, for a user or into a folder, colcon for a workspace, Debian for the system.
    """
    above = Path(__file__).resolve().parents
    return [above[2] / relative, *(prefix / "share" / PACKAGE_NAME / relative for prefix in above[2:])]
