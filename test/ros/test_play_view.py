"""What the live page sees of running nodes and how it calls them, without nodes."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.ros.estimate_messages import FeltReport, felt_message
from contact_ddp_ros.ros.play_link import Calls
from contact_ddp_ros.ros.play_view import View
from contact_ddp_ros.runs.live.commands import Answer, Drive

FORCES = np.arange(12.0).reshape(4, 3)
REPORT = FeltReport(2_000_000_000, (True, False, True, False), FORCES, Ground(slope_x=0.1), np.ones((2, 3)))


def test_what_the_controller_feels_is_shown_as_long_as_it_is_fresh() -> None:
    view, standing = View(), load_robot().standing_state()
    view._take_felt(felt_message(REPORT))
    fresh = view.snapshot(dataclasses.replace(standing, time=2.1), Drive())
    assert fresh.touch is not None
    assert fresh.touch.contacts == REPORT.contacts
    assert fresh.touch.ground == REPORT.ground
    assert len(fresh.touch.footholds) == 2
    np.testing.assert_array_equal(fresh.contact_forces, FORCES)
    old = view.snapshot(dataclasses.replace(standing, time=3.0), Drive())
    assert old.touch is None
    assert old.contact_forces is None


class Service:
    """A client whose service answers at once."""

    def __init__(self, name: str, log: list[str], refuses: set[str], missing: set[str]) -> None:
        self._name, self._log, self._refuses, self._missing = name, log, refuses, missing

    def service_is_ready(self) -> bool:
        return self._name not in self._missing

    def call_async(self, _request: Any) -> Any:
        self._log.append(self._name)
        success = self._name not in self._refuses
        if self._name == "reset":
            self._refuses.clear()
        done = SimpleNamespace(result=lambda: SimpleNamespace(success=success, message="so it is"))
        return SimpleNamespace(add_done_callback=lambda call: call(done))


@pytest.mark.parametrize(
    ("refuses", "missing", "called", "accepted"),
    [
        (set(), set(), ["recover", "move"], True),
        ({"recover"}, set(), ["recover", "reset", "stand", "move"], True),
        ({"recover"}, {"reset"}, ["recover"], False),
        (set(), {"recover", "reset"}, [], False),
    ],
)
def test_it_gets_up_by_itself_or_after_a_reset(
    refuses: set[str], missing: set[str], called: list[str], accepted: bool
) -> None:
    log: list[str] = []
    answers: list[Answer] = []
    left = set(refuses)
    node: Any = SimpleNamespace(create_client=lambda _type, name: Service(name, log, left, missing))
    Calls(node, answers.append).get_up()
    assert log == called
    assert answers[-1].accepted == accepted
