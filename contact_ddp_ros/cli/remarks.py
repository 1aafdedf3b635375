"""What several jobs say before they begin."""

from rich.console import Console

from contact_ddp_ros.models.planar_tree import averaged
from contact_ddp_ros.report.terminal import say
from contact_ddp_ros.robot.model import Robot


def say_of_robot(robot: Robot, console: Console) -> None:
    """Say what the planner's model leaves out of a robot whose left and right differ."""
    difference = averaged(robot)
    if difference is not None:
        say(console, f"{robot.tree.name}: the planner averages left and right; they differ at most in the {difference}")
