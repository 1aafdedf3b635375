"""Journal of a long benchmark: finished items as lines of JSON, so that a run that was cut off can go on.

The first line holds the settings, each further one the name of a finished item and its result. A line is on the disk
before the next item counts as finished; one that was torn by a crash is cut off when the journal is opened again.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from contact_ddp_ros import __version__
from contact_ddp_ros.base.config import dotted
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.base.files import plain

JOURNAL_FILE = "journal.jsonl"

_NAMED = 3
"""Differences of settings that are named at most."""


class Journal:
    """An open journal; a context manager.

    Attributes:
        settings: of the benchmark, as plain data. finished: result by name, as JSON gives it back.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], finished: dict[str, Any]) -> None:
        """Opens the file for more lines; use :meth:`create` or :meth:`resume`."""
        self.settings, self.finished = settings, finished
        self._file = path.open("a", encoding="utf-8")

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, Any]) -> "Journal":
        """Begin a journal in a folder that has none.

        Raises:
            BenchmarkError: it has one.
        """
        path = folder / JOURNAL_FILE
        if path.exists():
            raise BenchmarkError(f"{path} exists; --resume {folder} goes on with it")
        journal = cls(path, _through_json(settings), {})
        journal._write({"settings": settings})
        return journal

    @classmethod
    def resume(cls, folder: Path) -> "Journal":
        """Open a folder's journal to go on with it.

        Raises:
            BenchmarkError: there is none, or it is damaged in another place than its end.
        """
        path = folder / JOURNAL_FILE
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BenchmarkError(f"nothing to resume in {folder}: cannot read {path.name}: {error.strerror}") from error
        whole = content[: content.rfind(b"\n") + 1]
        lines = [_parsed(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if not lines or "settings" not in lines[0]:
            raise BenchmarkError(
                f"{path} does not begin with the settings of a benchmark; start anew in another folder"
            )
        if len(whole) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        return cls(path, lines[0]["settings"], {line["name"]: line["result"] for line in lines[1:]})

    @classmethod
    def begin_or_resume(
        cls,
        folder: Path,
        wanted: Mapping[str, Any],
        measured: Callable[[], Mapping[str, Any]] = dict,
        *,
        resume: bool,
        unset: Mapping[str, Any] | None = None,
    ) -> "Journal":
        """The journal of a new run with the settings that are wanted, or of a run that goes on with its own.

        Args:
            wanted: settings by the names of their options.
            measured: more of them, found once at the beginning of a new run.
            resume: go on; then what is wanted must be what the run has.
            unset: values that stand for settings that were left out; empty where none was, None where all were.

        Raises:
            BenchmarkError: there is no run to go on with, or it was begun with another version or other settings.
        """
        if not resume:
            return cls.create(folder, {**wanted, **measured(), "version": __version__})
        journal = cls.resume(folder)
        begun, now = dotted(journal.settings), dotted(plain({**wanted, "version": __version__}))
        free = dotted(plain(wanted if unset is None else unset))
        names = dict.fromkeys([*begun, *now] if unset == {} else now)
        differing = [
            name for name in names if now.get(name) != begun.get(name) and (not free or now.get(name) != free.get(name))
        ]
        if differing:
            journal.close()
            words = [f"{name} is {begun.get(name, 'absent')}" for name in differing[:_NAMED]]
            raise BenchmarkError(
                f"{folder} was begun with other settings: {'; '.join(words + ['…'] * (len(differing) > _NAMED))}; "
                "leave them out, give another --out, or remove it"
            )
        return journal

    def add(self, name: str, result: Any) -> Any:
        """Keep a result; returns it as it will be read back: tuples as lists, numbers that are not finite as None."""
        self._write({"name": name, "result": result})
        self.finished[name] = _through_json(result)
        return self.finished[name]

    def close(self) -> None:
        """Close the journal; nothing can be added afterwards."""
        self._file.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(plain(line), allow_nan=False, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _through_json(data: Any) -> Any:
    return json.loads(json.dumps(plain(data), allow_nan=False))


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise BenchmarkError(f"line {number} of {path} is damaged: {error}; start anew in another folder") from error
    if not isinstance(entry, dict) or not ("settings" in entry if number == 1 else entry.keys() == {"name", "result"}):
        raise BenchmarkError(f"line {number} of {path} is no entry of a journal; start anew in another folder")
    return entry
