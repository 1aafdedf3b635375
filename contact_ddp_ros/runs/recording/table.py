"""Columnar table with amortised growth, for logging a run without slowing the loop.

Interface of a log of a run: ticks, solves, events.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.runs.recording.info import RunInfo


class RunLog(Protocol):
    """Takes ticks, solves and events; a :class:`Recorder`, whose methods these are, keeps all of them."""

    def begin(self, info: RunInfo) -> None:
        """Set the description of the run; to be called once, first."""
        ...

    @property
    def tick(self) -> Callable[..., None]:
        """Add a tick; arguments of :meth:`Recorder.tick`."""
        ...

    @property
    def solve(self) -> Callable[..., None]:
        """Add a solve; arguments of :meth:`Recorder.solve`."""
        ...

    def processors(self, cores: Mapping[str, float]) -> None:
        """Set the mean number of processors that each node kept busy, by name; once, at the end."""
        ...

    def event(self, time: float, text: str, *, fault: bool = False) -> None:
        """Log an event at `time` [s]; `fault` where it took the controller to DAMP."""
        ...


Columns = Mapping[str, tuple[type, tuple[int, ...]]]
"""Column name → (float, int, bool or str; shape of one entry)."""

_FIRST_CAPACITY = 1024
"""Rows held at first; doubled whenever they are full."""


class Table:
    """Rows of named, fixed-size entries. Missing floats become NaN, missing integers -1, missing texts empty."""

    def __init__(self, columns: Columns | None = None) -> None:
        self._columns = dict(columns or {})
        self._data = {name: _empty(kind, shape, _FIRST_CAPACITY) for name, (kind, shape) in self._columns.items()}
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, **entries: object) -> None:
        """Add a row; None counts as missing. Raises RecordingError where a name or a shape does not fit."""
        unknown = entries.keys() - self._columns.keys()
        if unknown:
            raise RecordingError(f"no column {', '.join(sorted(unknown))}; there are {', '.join(self._columns)}")
        checked = {}
        for name, (kind, shape) in self._columns.items():
            entry = entries.get(name)
            if entry is None:
                continue
            value: NDArray = np.asarray(entry, dtype=object if kind is str else kind)
            if value.shape != shape:
                raise RecordingError(f"{name} has shape {value.shape}, expected {shape}")
            checked[name] = value
        if self._columns and self._rows == len(next(iter(self._data.values()))):
            self._grow()
        for name, value in checked.items():
            self._data[name][self._rows] = value
        self._rows += 1

    def row(self, index: int) -> dict[str, Any]:
        """A row by column; negative counts from the end, clamped to the first row; empty where there is none."""
        if not self._rows:
            return {}
        at = max(self._rows + index, 0) if index < 0 else index
        return {name: data[at] for name, data in self._data.items()}

    def columns(self) -> dict[str, NDArray]:
        """Every column with its rows so far, as read-only copies; texts as fixed-width unicode."""
        result = {}
        for name, (kind, _) in self._columns.items():
            column = self._data[name][: self._rows]
            result[name] = np.array(column, dtype=np.str_) if kind is str else column.copy()
            result[name].flags.writeable = False
        return result

    def forget(self, rows: int) -> int:
        """Drop the first so many rows, and say how many there were."""
        rows = min(max(rows, 0), self._rows)
        for name, (kind, shape) in self._columns.items():
            data, kept = self._data[name], self._rows - rows
            data[:kept] = data[rows : self._rows].copy()
            data[kept : self._rows] = _empty(kind, shape, rows)
        self._rows -= rows
        return rows

    def _grow(self) -> None:
        for name, (kind, shape) in self._columns.items():
            old = self._data[name]
            self._data[name] = np.concatenate([old, _empty(kind, shape, len(old))])


def _empty(kind: type, shape: tuple[int, ...], rows: int) -> NDArray:
    missing: object = {float: np.nan, int: -1, bool: False, str: ""}[kind]
    return np.full((rows, *shape), missing, dtype=object if kind is str else kind)
