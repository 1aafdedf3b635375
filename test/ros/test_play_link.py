"""The live page's link to running nodes: what it shows of them, and what they do of what it asks."""

import time as clock
from collections.abc import Callable, Iterator

import pytest

from contact_ddp_ros.base.process import environment
from contact_ddp_ros.ros import play_link as play_parameters
from contact_ddp_ros.ros.play_link import NodesLink
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.single_instance import loopback_environment, reserved_domain
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.snapshot import Snapshot, World
from contact_ddp_ros.runs.options import RunOptions

PATIENCE = 300.0
"""The nodes may have to be compiled first [s]."""

COMMON = {"use_sim_time": True, "node.lockstep": True}
PARAMETERS = {
    "controller": {**COMMON, "node.motions": "jump"},
    "planner": {**COMMON, "node.cmd_vel_timeout": 10.0},
    "simulator": COMMON,
}

pytestmark = pytest.mark.slow


class Player:
    def __init__(self, link: NodesLink, processes: NodeProcesses) -> None:
        self.link, self.processes = link, processes
        self.answers: list[do.Answer] = []
        self.world: World | None = None
        self.last: Snapshot | None = None

    def until(self, condition: Callable[[], object], again: do.Command | None = None) -> None:
        """Ask for snapshots until something holds; what is to be said `again` is said once a second meanwhile."""
        deadline, said = clock.monotonic() + PATIENCE, 0.0
        while not condition():
            assert clock.monotonic() < deadline, (self.last, self.answers[-3:])
            assert not self.link.failure(), self.link.failure()
            self.processes.check()
            if again is not None and clock.monotonic() - said > 1.0:
                said = clock.monotonic()
                self.link.send(again)
            self.link.send(do.Look())
            for news in self.link.news():
                if isinstance(news, Snapshot):
                    self.last = news
                elif isinstance(news, World):
                    self.world = news
                else:
                    self.answers.append(news)
            clock.sleep(0.02)

    def ask(self, command: do.Command) -> do.Answer:
        before = len(self.answers)
        self.link.send(command)
        self.until(lambda: len(self.answers) > before)
        return self.answers[-1]

    @property
    def mode(self) -> str:
        return "" if self.last is None else self.last.mode


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    with reserved_domain() as domain:
        variables = loopback_environment(domain)
        with NodeProcesses(variables) as processes, environment(variables):
            for name, parameters in PARAMETERS.items():
                processes.start(name, parameters)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(play_parameters, "_PATIENCE", PATIENCE)
                link = NodesLink(RunOptions())
                try:
                    yield Player(link, processes)
                finally:
                    link.close()


def test_it_finds_out_what_there_is(player: Player) -> None:
    player.until(lambda: player.world)
    assert player.world is not None
    assert {
        "Drive",
        "SetMode",
        "SetParameters",
        "Pause",
        "Step",
        "Reset",
        "Recover",
        "PushTrunk",
    } <= player.world.abilities
    assert not {"Grab", "Rebuild", "SaveRun"} & player.world.abilities
    assert player.world.motions == ("jump",)
    assert player.world.parameters["planner.weight.pitch"].default == 40.0


def test_the_robot_stands_moves_and_is_shown_with_its_plan(player: Player) -> None:
    player.until(lambda: player.mode == "stand", do.SetMode("stand"))
    player.until(lambda: player.mode == "move", do.SetMode("move"))
    player.link.send(do.Drive(0.5))
    player.until(lambda: player.last and player.last.speed > 0.3)
    assert player.last is not None
    player.until(lambda: player.last and player.last.plan is not None and player.last.solves)
    player.until(lambda: player.last and player.last.contact_forces is not None)
    player.until(
        lambda: player.last and player.last.touch and player.last.touch.ground and any(player.last.touch.contacts)
    )
    assert player.last.touch is not None
    assert len(player.last.touch.footholds) >= 3


def test_parameters_are_set_or_refused_by_the_node(player: Player) -> None:
    answer = player.ask(do.SetParameters({"planner.weight.pitch": 55.0}))
    assert answer.accepted
    assert answer.parameters == {"planner.weight.pitch": 55.0}
    refused = player.ask(do.SetParameters({"planner.reference.height": 9.0}))
    assert not refused.accepted
    assert "height" in refused.text


def test_it_jumps_out_of_its_gait_and_bounds_on(player: Player) -> None:
    player.until(lambda: player.mode == "move", do.SetMode("move"))
    player.link.send(do.Drive(0.0))
    player.link.send(do.Perform("jump"))
    player.until(lambda: player.mode == "motion")
    player.until(lambda: player.mode == "stand")
    player.until(lambda: player.mode == "move", do.SetMode("move"))
    assert player.last is not None and not player.last.fall


def test_a_push_reaches_the_simulator(player: Player) -> None:
    assert "4.0 N·s" in player.ask(do.PushTrunk((0.0, 40.0, 0.0), 0.1)).text


def test_time_is_paused_stepped_and_released(player: Player) -> None:
    assert player.ask(do.Pause(True)).accepted
    player.until(lambda: player.last and player.last.paused)
    assert player.ask(do.Step()).accepted
    assert player.ask(do.Pause(False)).accepted


def test_a_damped_robot_begins_again_after_a_reset(player: Player) -> None:
    player.until(lambda: player.mode == "damp", do.SetMode("damp"))
    player.link.send(do.Reset())
    player.until(lambda: player.mode == "move")


def test_a_damped_robot_recovers_by_itself(player: Player) -> None:
    player.until(lambda: player.mode == "damp", do.SetMode("damp"))
    before = len(player.answers)
    player.link.send(do.Recover())
    player.until(lambda: player.mode == "move")
    said = [one.text for one in player.answers[before:]]
    assert any(text.startswith("recover: getting up") for text in said)
    assert not any("reset" in text or "put back" in text for text in said)


def test_what_only_a_simulation_here_can_do_is_refused(player: Player) -> None:
    assert "Grab is not for running nodes" in player.ask(do.Grab("base_link", (0, 0, 0), (0, 0, 0))).text
