"""A session whose time runs only when told."""

import time as clock

from contact_ddp_ros.apps.play.session import Session
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.snapshot import News, Snapshot, World
from contact_ddp_ros.runs.options import RunOptions

QUICKLY = {"controller.stand.ramp_time": 0.2}
"""Parameters of a robot that stands up quickly."""


class Player:
    """A session whose time runs only when told, as fast as it can."""

    def __init__(self, options: RunOptions) -> None:
        self.news: list[News] = []
        self._world: World | None = None
        self.session = Session(options, self.news.append)
        self.session.handle(do.Pause(True))

    def run(self, seconds: float) -> Snapshot:
        self.session.handle(do.Step(round(seconds / 0.002)))
        while not self.session.idle:
            self.session.advance()
        return self.session.snapshot()

    def say(self, command: do.Command) -> do.Answer:
        """The answer to a command that gets one."""
        before = len(self.news)
        self.session.handle(command)
        answers = [one for one in self.news[before:] if isinstance(one, do.Answer)]
        assert len(answers) == 1, answers
        return answers[0]

    def run_until(self, mode: str, longest: float = 10.0) -> Snapshot:
        for _ in range(round(longest / 0.1)):
            snapshot = self.run(0.1)
            if snapshot.mode == mode:
                return snapshot
        raise AssertionError(f"not in {mode} after {longest} s: {snapshot.mode}, {snapshot.fall}")

    def run_until_gait(self, name: str) -> None:
        """Wait for a gait to be compiled, which takes what it takes."""
        deadline = clock.monotonic() + 600.0
        while self.session.loop.planner.config.gait.name != name:
            self.session.advance()
            assert clock.monotonic() < deadline, self.news[-1]
            clock.sleep(0.01)

    @property
    def world(self) -> World:
        self._world = next((one for one in reversed(self.news) if isinstance(one, World)), self._world)
        assert self._world is not None
        return self._world

    @property
    def answers(self) -> list[str]:
        """What was said so far."""
        return [one.text for one in self.news if isinstance(one, do.Answer)]
