"""What is told about a run while it happens, whoever listens."""

from collections.abc import Callable, Mapping
from typing import Protocol

from contact_ddp_ros.recording.info import RunInfo


class RunLog(Protocol):
    """Takes ticks, solves and events; a :class:`Recorder`, whose methods these are, keeps all of them."""

    def begin(self, info: RunInfo) -> None:
        """Once, before anything else."""
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
        """Something happened at `time` [s]."""
        ...
