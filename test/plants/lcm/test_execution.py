"""Executed against sent targets: followed, old, limp, damping by itself, or moved by somebody else."""

import numpy as np
import pytest
from lcm_frames import N

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.lcm.codec import LEG_CONTROL_COMMAND, PD_TAU_TARGETS, encode
from contact_ddp_ros.plants.lcm.conventions import executed_values, target_values
from contact_ddp_ros.plants.lcm.execution import ExecutionWatch
from contact_ddp_ros.robot.state import DriveGains, JointCommand

RANDOM = np.random.default_rng(3)
GAINS = DriveGains(kp=np.full(N, 15.3), kd=np.full(N, 0.3), kd_damping=np.full(N, 2.5))
OWN = DriveGains(kp=np.zeros(N), kd=np.full(N, 1.1), kd_damping=np.full(N, 1.1))
LIMP = DriveGains(kp=np.zeros(N), kd=np.zeros(N), kd_damping=np.zeros(N))
DAMPING = JointCommand.damping(N)


def following() -> JointCommand:
    return JointCommand(*RANDOM.uniform(-1.0, 1.0, (3, N)))


def sent(command: JointCommand) -> bytes:
    return encode(PD_TAU_TARGETS, target_values(command, GAINS))


def executed(command: JointCommand, gains: DriveGains = GAINS, **more: object) -> bytes:
    return encode(LEG_CONTROL_COMMAND, {**executed_values(command, gains), **more})


def watch(*commands: JointCommand) -> ExecutionWatch:
    """After these commands, 2 ms apart from 0 s on."""
    made = ExecutionWatch()
    for index, command in enumerate(commands):
        made.sent(sent(command), 0.002 * index)
    return made


def test_a_recent_command_is_followed_and_an_old_one_is_not() -> None:
    commands = [following() for _ in range(50)]
    made = watch(*commands)
    assert made.executed(executed(commands[49]), 0.1) == ""
    assert made.executed(executed(commands[37]), 0.1) == "", "26 ms"
    assert made.executed(executed(commands[30]), 0.1) == "the joints execute targets 40 ms old; allowed: 30 ms"


def test_a_command_that_is_sent_again_and_again_stays_recent() -> None:
    command = following()
    made = watch(*[command] * 500)
    assert made.executed(executed(command), 1.0) == ""


def test_damping_of_its_own_is_no_news_where_damping_is_sent() -> None:
    for made in (watch(), watch(DAMPING), watch(following(), DAMPING)):
        assert made.executed(executed(DAMPING, OWN), 1.0) == ""


def test_damping_of_its_own_is_news_where_targets_are_sent() -> None:
    made = watch(DAMPING, *(following() for _ in range(20)))
    assert made.executed(executed(DAMPING, OWN), 0.02) == "", "what was sent 20 ms ago"
    assert "damp instead of following" in made.executed(executed(DAMPING, OWN), 0.04)


@pytest.mark.parametrize("command", [DAMPING, following()])
def test_limp_joints_and_somebody_else_are_news_whatever_is_sent(command: JointCommand) -> None:
    made = watch(*[command] * 20)
    assert "limp" in made.executed(executed(DAMPING, LIMP), 0.04)
    assert "somebody else moves the legs, with 15 N m/rad" in made.executed(executed(following()), 0.04)
    if command.positions is not None:
        nearly = JointCommand(command.positions, command.velocities, command.torques + 1e-3)
        assert "somebody else" in made.executed(executed(nearly), 0.04)
        by_the_feet = executed(command, f_ff=np.full(N, 1.0))
        assert "somebody else" in made.executed(by_the_feet, 0.04)


def test_malformed_frames_are_refused() -> None:
    for data in (b"", executed(DAMPING)[:-1], sent(DAMPING)):
        with pytest.raises(LinkError):
            watch().executed(data, 0.0)
