"""A robot that has fallen gets up by itself where it can, is put back on its feet where not, and says which."""

import numpy as np
import pytest

from contact_ddp_ros.runs.live import commands as do
from test.apps.play.player import Player


def test_it_stands_up_where_it_lies(player: Player) -> None:
    player.run_until("move")
    player.say(do.SetMode("damp"))
    fallen = player.run(1.0)
    assert player.say(do.Recover()).text == "getting up from where it lies"
    path = [fallen.state.position]
    while (up := player.run(0.1)).mode != "move":
        path.append(up.state.position)
        assert len(path) < 80, up.fall
    assert up.fall == ""
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 0.1, "by itself, not by magic"
    assert player.answers[-1] == "got up by itself"
    assert player.say(do.Recover()).text == "it is on its feet"
    assert player.run(0.1).mode == "move"


@pytest.mark.parametrize("force", [(0.0, 900.0, 0.0), (800.0, 0.0, 0.0)])
def test_it_gets_up_from_its_side_or_back(player: Player, force: tuple[float, float, float]) -> None:
    player.run_until("move")
    player.run(0.5)
    player.say(do.PushTrunk(force, 0.1))
    fallen = player.run(2.0)
    assert fallen.mode == "damp"
    assert f"in the second before came a push of {0.1 * max(force):.1f} N·s" in fallen.fall
    assert player.say(do.Recover()).text == "getting up from where it lies"
    up = player.run_until("move", 20.0)
    assert player.answers[-1] == "got up by itself"
    assert np.linalg.norm(up.state.position[:2] - fallen.state.position[:2]) < 1.5


def test_one_that_cannot_get_up_is_put_back_on_its_feet(player: Player) -> None:
    player.run_until("move")
    player.say(do.SetMode("damp"))
    player.run(1.0)
    player.say(do.Recover())
    player.run(0.2)
    player.say(do.PushTrunk((0.0, 3000.0, 3000.0), 0.1))
    player.run_until("move", 20.0)
    assert player.answers[-1].startswith("put back on its feet: getting up failed, ")


def test_whoever_wants_something_else_ends_the_way_up(player: Player) -> None:
    player.run_until("move")
    player.say(do.SetMode("damp"))
    player.run(1.0)
    player.say(do.Recover())
    player.run(0.5)
    player.say(do.SetMode("damp"))
    assert player.run(4.0).mode == "damp", "longer than the way up takes"
