"""The benchmark of the joystick: random full-range commands, which felled gaits within seconds without a governor."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.loop.gaits import moving_gaits
from benchmarks.loop.joystick import MIXED, Joystick, JoystickOutcome, run, runs, table
from benchmarks.output import console
from contact_ddp_ros.runs.run_checks import check_run


def test_every_gait_gets_every_seed() -> None:
    items = runs(["bound", "trot", MIXED], range(3), 8.0, **{"planner.weight.pitch": 61.0})
    assert len({item.name for item in items}) == len(items) == 9
    assert {item.group for item in items} == {"bound", "trot", MIXED}
    assert all(item.options.parameters("planner")["weight.pitch"] == 61.0 for item in items)
    check_run(items[0].options)


@pytest.mark.parametrize(("gait", "seed"), [("trot", 1), ("bound", 1)])
def test_a_full_range_joystick_fells_no_gait(gait: str, seed: int) -> None:
    """Each of these fell within three seconds without a governor."""
    (item,) = runs([gait], [seed], 4.0)
    found = run(item)
    assert (found.fall, found.stands, found.refused, found.failed) == ("", 0, 0, 0)
    assert found.distance > 1.0 and found.plans > 200


def test_gait_and_pose_change_with_the_commands() -> None:
    (item,) = runs([MIXED], [100], 5.2)
    found = run(item)
    assert (found.fall, found.refused, found.failed) == ("", 0, 0)


class FakeLoop:
    """Loop that a joystick moves, without physics."""

    def __init__(self) -> None:
        self.time, self.steered = 0.0, []
        self.simulator = self

    @property
    def steering(self) -> tuple[float, float]:
        return self.steered[-1]

    @steering.setter
    def steering(self, turn_and_left: tuple[float, float]) -> None:
        self.steered.append(turn_and_left[::-1])


def test_draws_reach_the_ends_and_rest() -> None:
    loop, stick = FakeLoop(), Joystick(3, (2.5, 2.5, 6.0))
    forward = []
    while len(loop.steered) < 400:
        stick.move(loop)  # type: ignore[arg-type]
        forward.append(stick.speed(0.5, loop.time))
        loop.time += 0.1
    left, turn = np.array(loop.steered).T
    for axis, limit in ((left, 2.5), (turn, 6.0), (np.array(forward), 2.5)):
        assert (axis == limit).any() and (axis == -limit).any() and (axis == 0.0).any()
        assert (np.abs(axis) <= limit).all() and len(set(axis.tolist())) > 20
    assert len(moving_gaits()) > 6


def test_the_table_says_what_fell_first() -> None:
    good = JoystickOutcome("trot", 0, plans=100, distance=5.0, fastest=2.0)
    terminal = console()
    with terminal.capture() as shown:
        terminal.print(table([good, replace(good, seed=1, fall="2.00 s: tilt")]))
    assert "#1 2.00 s: tilt" in shown.get()
