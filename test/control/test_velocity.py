"""Commanded velocities, and for how long they are valid."""

import math
from dataclasses import FrozenInstanceError

import pytest

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.state import Expiring, VelocityCommand


def test_a_command_expires_on_the_clock_of_the_states() -> None:
    command = Expiring(0.0)
    assert command.at(1.0, 0.5) == 0.0
    command.put(0.7)
    assert command.at(2.0, 0.5) == 0.7
    assert command.at(2.5, 0.5) == 0.7
    assert command.at(2.6, 0.5) == 0.0
    assert command.at(2.4, 0.5) == 0.0


def test_where_nothing_is_commanded_the_robot_stays() -> None:
    assert VelocityCommand() == VelocityCommand(0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", ["forward", "left", "yaw_rate"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_not_finite_is_refused(name: str, number: float) -> None:
    with pytest.raises(MessageError, match="allowed: finite numbers"):
        VelocityCommand(**{name: number})


def test_a_command_that_several_threads_read_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        VelocityCommand(1.0).forward = 2.0  # type: ignore[misc]
