"""A session without a page: what it is told it does, between two ticks and with a reason where it does not."""

import time as clock
from pathlib import Path
from shutil import unpack_archive

import numpy as np
import pytest

from contact_ddp_ros.apps.play.downloads import as_replay, as_zip
from contact_ddp_ros.apps.play.overlay import below
from contact_ddp_ros.apps.play.world_panel import KINDS, elsewhere, word_of
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.plants.engines import PACKAGES
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.commands import EVERYTHING
from contact_ddp_ros.runs.live.snapshot import Snapshot
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import load
from test.apps.play.player import QUICKLY, Player


def test_it_bounds_at_the_commanded_speed(player: Player) -> None:
    player.run_until("move")
    player.session.handle(do.Drive(0.8))
    snapshot = player.run(2.0)
    assert snapshot.speed == pytest.approx(0.8, abs=0.1)
    assert snapshot.plan is not None
    assert snapshot.plan.landings
    assert snapshot.solves_total > 150
    assert snapshot.fall == ""


def test_it_stands_damps_and_moves_when_asked(player: Player) -> None:
    player.run_until("move")
    assert player.say(do.SetMode("stand")).accepted
    player.run_until("stand")
    assert player.run(1.0).mode == "stand", "nobody asked for more"
    assert player.say(do.SetMode("move")).accepted
    player.run_until("move")
    player.say(do.SetMode("stand"))
    player.run_until("stand")
    assert player.say(do.SetMode("damp")).accepted
    assert player.run(3.0).mode == "damp"
    assert player.say(do.SetMode("move")).accepted, "stands up first"
    player.run_until("move")


def test_an_unknown_mode_is_refused_by_name(player: Player) -> None:
    answer = player.say(do.SetMode("fly"))
    assert not answer.accepted
    assert "'fly'; allowed: stand, move, damp" in answer.text


def test_a_push_moves_it_to_that_side_and_is_drawn(player: Player) -> None:
    player.run_until("move")
    player.run(0.5)
    assert "4.0 N·s" in player.say(do.PushTrunk((0.0, 40.0, 0.0), 0.1)).text
    assert player.run(0.05).push[1] > 30.0
    assert player.run(0.05).state.linear_velocity[1] > 0.1
    assert not player.run(0.1).push.any()


def test_the_mouse_pulls_a_leg_and_its_impulse_is_counted(player: Player) -> None:
    player.run_until("move")
    start = player.run(0.2).state.position
    player.session.handle(do.Grab("fl_hip", (0.0, 0.0, 0.0), tuple(start + [0.2, 0.6, 0.1])))
    spring = player.run(0.1).spring
    assert spring is not None
    assert spring.force[1] > 5.0
    assert 0.0 < spring.impulse <= 120.0 * 0.1
    assert "N·s" in player.say(do.Release()).text
    assert player.run(0.1).spring is None


def test_there_is_no_such_link_to_pull(player: Player) -> None:
    answer = player.say(do.Grab("tail", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    assert not answer.accepted
    assert "no link 'tail'; there are base_link" in answer.text


def test_parameters_change_while_it_moves_all_or_none(player: Player) -> None:
    player.run_until("move")
    answer = player.say(do.SetParameters({"planner.weight.pitch": 60, "controller.stand.ramp_time": 0.8}))
    assert answer.parameters == {"planner.weight.pitch": 60.0, "controller.stand.ramp_time": 0.8}
    refused = player.say(do.SetParameters({"planner.weight.pitch": 70, "planner.reference.height": 9.0}))
    assert not refused.accepted
    assert "planner.reference.height is 9.0; allowed: 0.15 to 0.36 m" in refused.text
    assert player.session.loop.planner.config.weight.pitch == 60.0
    player.say(do.Reset())
    assert player.session.loop.planner.config.weight.pitch == 60.0, "a reset keeps them"
    assert "did you mean" in player.say(do.SetParameters({"planner.weight.pich": 1.0})).text


def test_the_solver_changes_in_flight(player: Player) -> None:
    player.run_until("move")
    assert any(solve.theta > 0.0 for solve in player.run(0.5).solves)
    assert player.say(do.SetParameters({"planner.variant": "ilqr"})).accepted
    solves = player.run(0.5).solves
    assert solves
    assert all(solve.theta == 0.0 for solve in solves)
    assert player.run(1.0).mode == "move"


def test_another_gait_is_prepared_while_time_goes_on(player: Player) -> None:
    player.run_until("move")
    assert "preparing" in player.say(do.SetParameters({"planner.gait.name": "pronk"})).text
    player.run_until_gait("pronk")
    assert player.run(1.5).mode == "move"


def test_a_gait_that_does_not_exist_is_refused_and_what_waited_behind_it_applied(player: Player) -> None:
    player.run_until("move")
    player.session.handle(do.SetParameters({"planner.gait.name": "galop"}))
    player.session.handle(do.SetParameters({"planner.weight.pitch": 44.0}))
    deadline = clock.monotonic() + 600.0
    while player.session.loop.planner.config.weight.pitch != 44.0:
        player.session.advance()
        assert clock.monotonic() < deadline, player.news[-1]
        clock.sleep(0.01)
    refused = [one for one in player.news if isinstance(one, do.Answer) and not one.accepted][-1]
    assert "galop" in refused.text


def test_what_shapes_the_loop_changes_at_rest_only(player: Player) -> None:
    player.run_until("move")
    refused = player.say(do.SetParameters({"simulator.friction": 0.7}))
    assert not refused.accepted
    assert "stand first" in refused.text
    player.say(do.SetMode("damp"))
    player.run(0.1)
    number = player.world.number
    assert player.say(do.SetParameters({"simulator.friction": 0.8})).accepted
    assert player.world.number == number + 1
    assert player.run(0.1).world == number + 1


def test_it_steps_when_paused_and_stands_still_otherwise(player: Player) -> None:
    before = player.session.snapshot().state.time
    for _ in range(10):
        player.session.advance()
    assert player.session.snapshot().state.time == before
    assert player.run(0.02).state.time == pytest.approx(before + 0.02)


def test_a_snapshot_comes_only_when_asked_for(player: Player) -> None:
    before = len(player.news)
    player.run(0.1)
    assert len(player.news) == before
    player.session.handle(do.Look())
    player.session.advance()
    player.session.advance()
    assert [type(one) for one in player.news[before:]] == [Snapshot]


@pytest.mark.slow
def test_the_run_is_saved(player: Player, tmp_path: Path) -> None:
    player.run_until("move")
    before = len(player.news)
    player.session.handle(do.SaveRun(tmp_path / "run"))
    deadline = clock.monotonic() + 600.0
    while len(player.news) == before:
        player.run(0.002)
        assert clock.monotonic() < deadline
        clock.sleep(0.05)
    answer = player.news[-1]
    assert isinstance(answer, do.Answer)
    assert answer.accepted, answer.text
    assert answer.saved == tmp_path / "run"
    assert load(tmp_path / "run").info.job == "play"
    unpack_archive(as_zip(answer.saved), tmp_path / "elsewhere")
    assert len(load(tmp_path / "elsewhere" / "run").ticks["time"]) > 100
    assert "</html>" in as_replay(answer.saved).read_text(encoding="utf-8")[-100:]
    with pytest.raises(ContactDdpError, match="cannot read a recording"):
        as_replay(tmp_path / "elsewhere")


def test_a_kept_robot_goes_on_alike_until_a_parameter_differs(player: Player) -> None:
    def compare(what: str) -> str:
        player.session.handle(do.Compare(what))
        return player.answers[-1]

    player.run_until("move")
    assert compare("swap") == "there is no A; keep one first"
    assert compare("hold") == "compare is 'hold'; allowed: keep, swap, drop"
    player.session.handle(do.Drive(0.4))
    assert compare("keep").startswith("kept as A")
    assert player.world.kept == {name: spec.default for name, spec in player.world.parameters.items()}
    assert "4.0 N·s" in player.say(do.PushTrunk((0.0, 40.0, 0.0), 0.1)).text
    start = player.run(0.2).state.position
    player.session.handle(do.Grab("fl_hip", (0.0, 0.0, 0.0), tuple(start + [0.2, 0.6, 0.1])))
    pulled = player.run(0.1)
    assert pulled.kept is not None and pulled.kept.spring is not None
    assert player.say(do.Release()).accepted
    both = player.run(0.5)
    assert both.kept is not None
    assert np.array_equal(both.kept.state.position, both.state.position), "same commands and pushes"
    player.say(do.SetParameters({"planner.weight.pitch": 60.0, "simulator.noise.joint_positions": 0.001}))
    differing = player.run(0.5)
    assert differing.kept is not None
    assert not np.array_equal(differing.kept.state.position, differing.state.position)
    compare("swap")
    kept, tuned = player.world.kept, player.world.parameters
    assert kept is not None and kept["planner.weight.pitch"] == 60.0 != tuned["planner.weight.pitch"].default
    assert tuned["simulator.noise.joint_positions"].default == 0.001, "the world is one for both"
    swapped = player.session.snapshot()
    assert swapped.kept is not None
    assert np.array_equal(swapped.kept.state.position, differing.state.position)
    compare("drop")
    assert player.run(0.1).kept is None and player.world.kept is None


def test_one_robot_goes_on_where_the_simulation_of_the_other_has_failed(player: Player) -> None:
    player.run_until("move")
    player.session.handle(do.Compare("keep"))
    tuned, kept = player.session._runs
    tuned.broken = "the simulation has failed"
    begun, clock = kept.loop.plant.time, player.session._clock()
    failed = player.run(0.1)
    assert failed.kept is not None and failed.kept.state.time == pytest.approx(begun + 0.1)
    assert (failed.fall, failed.kept.fall) == ("the simulation has failed", "")
    assert player.session._clock() == pytest.approx(clock + 0.1), "time goes on with the one that runs"
    said = player.say(do.Recover()).text
    assert said == "put back on its feet: the simulation had failed; A: it is on its feet"
    assert player.run(0.1).fall == ""


def test_another_world_is_another_loop_with_the_same_robot() -> None:
    player = Player(RunOptions(overrides={"planner.weight.pitch": 60.0, **QUICKLY}))
    player.session.handle(do.Compare("keep"))
    player.session.handle(do.Rebuild(RunOptions(terrain="step:3,0.01", speed=((0.0, 0.2),))))
    kept = player.world.kept
    assert kept is not None and kept["planner.weight.pitch"] == 60.0, "A comes along"
    assert kept["simulator.terrain"] == "step:3,0.01"
    assert player.world.options.terrain == "step:3,0.01"
    assert player.say(do.SetParameters({"planner.rate": 50.0})).accepted
    kept = player.world.kept
    assert kept is not None and kept["planner.rate"] == 100.0 != player.world.parameters["planner.rate"].default
    assert player.world.parameters["simulator.terrain"].default == "step:3,0.01"
    answer = player.say(do.Rebuild(RunOptions(overrides={"simulator.terrain": "step:3,9"})))
    assert not answer.accepted
    assert "rise is 9" in answer.text
    assert player.run(0.1).world == 4, "the old one goes on"


def test_what_the_feet_feel_of_a_slope_is_in_the_snapshot() -> None:
    player = Player(RunOptions(terrain="slope:6", overrides=QUICKLY))
    player.run_until("move")
    moved = player.run(1.0)
    assert moved.touch is not None
    assert moved.touch.ground is not None
    assert moved.touch.ground.slope_x == pytest.approx(np.tan(np.radians(6.0)), abs=0.03)
    assert len(moved.touch.footholds) >= 4
    assert below(moved)[2] == pytest.approx(np.tan(np.radians(6.0)) * moved.state.position[0], abs=0.02)
    touches = [player.run(0.02).touch for _ in range(20)]
    felt = {touch.contacts for touch in touches if touch is not None}
    assert len(felt) > 1
    assert all(len(one) == 4 for one in felt)


@pytest.mark.parametrize("kind", ["flat", *KINDS])
def test_every_ground_that_the_page_offers_exists(kind: str) -> None:
    for number in (0.0,) if kind == "flat" else (KINDS[kind].low, KINDS[kind].first, KINDS[kind].high):
        parse_terrain(word_of(kind, number))


def test_parameters_in_use_go_along_to_another_ground(player: Player) -> None:
    values = {name: spec.default for name, spec in player.world.parameters.items()}
    values |= {"planner.weight.pitch": 61.0, "simulator.terrain": "flat"}
    options = elsewhere(player.world, values, "mini_cheetah", "estimated", {"simulator.terrain": "boxes:0.02,1"})
    assert options.terrain == "boxes:0.02,1"
    assert options.overrides["planner.weight.pitch"] == 61.0
    assert "simulator.terrain" not in options.overrides
    other = elsewhere(
        player.world, values, "solo12", "true", {"simulator.payload.mass": 0.5, "simulator.friction": 0.6}
    )
    assert (other.robot, other.state, other.friction) == ("solo12", "true", 0.6)
    assert other.overrides["simulator.payload.mass"] == 0.5
    assert {name.partition(".")[0] for name in other.overrides} == {"simulator"}, "another robot has its own weights"


def test_it_jumps_on_request_and_moves_on(player: Player) -> None:
    player.run_until("move")
    assert "jump" in player.world.motions
    assert "'jumb'; did you mean jump" in player.say(do.Perform("jumb")).text
    start = player.session.snapshot().state.position
    assert player.say(do.Perform("jump")).text == "jump: being optimised"
    deadline = clock.monotonic() + 600.0
    while player.run(0.02).mode != "motion":
        assert clock.monotonic() < deadline, player.answers
    assert "still in a motion" in player.say(do.Perform("jump")).text
    player.run_until("move")
    assert player.answers[-1] == "jump: done"
    assert player.run(0.5).state.position[0] - start[0] > 0.5
    player.say(do.SetMode("damp"))
    assert player.say(do.Perform("jump")).accepted, "it is known by now"
    player.run(0.01)
    assert "in damp; jump begins in a stand" in player.answers[-1]


@pytest.mark.parametrize("engine", ["dart", "bullet"])
def test_another_engine_can_do_all_but_be_pulled(engine: str) -> None:
    pytest.importorskip(PACKAGES[engine])
    other = Player(RunOptions(overrides={"simulator.engine": engine, **QUICKLY}))
    assert EVERYTHING - other.world.abilities == {"Grab"}
    other.run_until("move")
    assert "4.0 N·s" in other.say(do.PushTrunk((0.0, 40.0, 0.0), 0.1)).text
    assert other.run(1.0).state.position[0] > 0.1
    answer = other.say(do.Grab("fl_hip", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    assert not answer.accepted
    assert f"the engine {engine} has no pull by the mouse" in answer.text
    assert other.say(do.Reset()).accepted
    assert other.run(0.1).state.position[0] < 0.1
