"""Interface of a log of a run: ticks, solves, events."""

from collections.abc import Callable, Mapping
from typing import Protocol

from contact_ddp_ros.runs.recording.info import RunInfo


class RunLog(Protocol):
    """Takes ticks, solves and events; a :class:`Recorder`, whose methods these are, keeps all of them."""

    def begin(self, info: RunInfo) -> None:
        """Set the description of the run; to be called once, first."""
        ...

    @property
    def tick(self) -> Callable[..., None]:
        """As :meth:`Recorder.tick`."""
        ...

    @property
    def solve(self) -> Callable[..., None]:
        """As :meth:`Recorder.solve`."""
        ...

    def processors(self, cores: Mapping[str, float]) -> None:
        """How many processors each node kept busy on average, by name; once, at the end."""
        ...

    def event(self, time: float, text: str, *, fault: bool = False) -> None:
        """Log an event at `time` [s]; `fault` where it took the controller to DAMP."""
        ...
