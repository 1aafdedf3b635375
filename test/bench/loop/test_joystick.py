"""The benchmark of the joystick: random full-range commands, which felled gaits within seconds without a governor."""

import numpy as np
from rich.console import Console

from benchmarks.loop.gaits import moving_gaits
from benchmarks.loop.joystick import BENCHMARK, MIXED, REPORT, Joystick, run
from contact_ddp_ros.runs.study.study import Figures
from test.bench.studies import cases_of, group


def test_every_gait_gets_every_seed() -> None:
    words = [word for gait in ("bound", "trot", MIXED) for word in ("--only", gait)]
    cases = cases_of(BENCHMARK, *words, "--seeds", "3", "--duration", "8")
    assert len(cases) == 9 and {case.group for case in cases} == {"bound", "trot", MIXED}
    assert {case.options.duration for case in cases} == {8.0}


def ridden(gait: str, seed: int, duration: float, *words: str) -> Figures:
    choice = ("--only", gait, "--seed", str(seed), "--seeds", "1", "--duration", str(duration), *words)
    (case,) = cases_of(BENCHMARK, *choice)
    return run(case)


def test_a_full_range_joystick_does_not_fell_a_bound() -> None:
    """Commands that felled it within three seconds without a governor."""
    found = ridden("bound", 1, 3.1)
    assert [found[name] for name in ("fall", "stands", "refused", "failed")] == ["", 0, 0, 0]
    assert found["distance"] > 0.8 and found["plans"] > 150


def test_gait_and_pose_change_with_the_commands() -> None:
    found = ridden(MIXED, 100, 4.2)
    assert [found[name] for name in ("fall", "refused", "failed")] == ["", 0, 0]


class FakeLoop:
    """Loop that a joystick moves, without physics."""

    def __init__(self) -> None:
        self.time, self.speed, self.steered = 0.0, 0.5, []
        self.plant = self

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
        stick.before_tick(loop)  # type: ignore[arg-type]
        forward.append(loop.speed)
        loop.time += 0.1
    left, turn = np.array(loop.steered).T
    for axis, limit in ((left, 2.5), (turn, 6.0), (np.array(forward), 2.5)):
        assert (axis == limit).any() and (axis == -limit).any() and (axis == 0.0).any()
        assert (np.abs(axis) <= limit).all() and len(set(axis.tolist())) > 20
    assert len(moving_gaits()) > 6


def test_the_table_says_what_fell_first() -> None:
    good = {"refused": 0, "failed": 0, "plans": 100, "distance": 5.0, "fastest": 2.0}
    with (console := Console(width=160)).capture() as shown:
        console.print(REPORT([group("trot", good, {**good, "fall": "2.00 s: tilt"})], None).tables[0])
    assert "#0 2.00 s: tilt" in shown.get()
