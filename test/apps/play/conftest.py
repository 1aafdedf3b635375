"""One session for the tests of this folder, which takes a while to build."""

from collections.abc import Iterator

import pytest

from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.options import RunOptions
from test.apps.play.player import QUICKLY, Player


@pytest.fixture(scope="session")
def shared() -> Player:
    return Player(RunOptions(overrides=QUICKLY))


@pytest.fixture
def player(shared: Player) -> Iterator[Player]:
    """At the start again, with the parameters that it began with."""
    shared.session.handle(do.Drive(0.5))
    assert shared.say(do.Reset()).accepted
    yield shared
    shared.session.handle(do.Compare("drop"))
    known = shared.world.parameters
    declared = {name: value for name, value in shared.world.declared.items() if not known[name].structural}
    shared.session.handle(do.SetParameters({**declared, "planner.variant": "ddp"}))
    shared.run_until_gait("bound")
