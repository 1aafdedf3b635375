"""Where a job puts what it makes: a folder of its own, never one that already holds something."""

from datetime import datetime
from pathlib import Path

from contact_ddp_ros.errors import ParameterError

_DEFAULT_ROOT = Path("out")


def new_folder(job: str, wanted: Path | None) -> Path:
    """Make and return the output folder: `wanted`, or out/<job>-<local time>, numbered where that is taken.

    Raises:
        ParameterError: `wanted` is a file or holds something, or the folder cannot be made.
    """
    folder = wanted if wanted is not None else _free(_DEFAULT_ROOT / f"{job}-{datetime.now():%Y%m%d-%H%M%S}")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ParameterError(f"output folder {folder} exists and is not an empty folder; remove it or give another")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"cannot make the output folder {folder}: {error.strerror}") from error
    return folder


def _free(folder: Path) -> Path:
    candidate, number = folder, 1
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate
