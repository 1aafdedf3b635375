"""What a recording says about its run."""

from dataclasses import fields

from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import plain_options

NOT_OF_THE_MOTION = {"record_plans", "video", "out", "composed"}


def test_every_option_that_the_motion_depends_on_is_said() -> None:
    said = plain_options(RunOptions(duration=1.0, left=0.2, turn=-0.5))
    assert {one.name for one in fields(RunOptions)} - set(said) == NOT_OF_THE_MOTION
    assert (said["left"], said["turn"]) == (0.2, -0.5)
