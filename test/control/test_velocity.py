from contact_ddp_ros.control.velocity import Expiring


def test_a_command_expires_on_the_clock_of_the_states() -> None:
    command = Expiring(0.0)
    assert command.at(1.0, 0.5) == 0.0
    command.put(0.7)
    assert command.at(2.0, 0.5) == 0.7
    assert command.at(2.5, 0.5) == 0.7
    assert command.at(2.6, 0.5) == 0.0
    assert command.at(2.4, 0.5) == 0.0
