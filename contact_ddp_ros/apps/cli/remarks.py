"""Remarks of several jobs before they begin."""

from rich.console import Console

from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.planar import PlanarModel, averaged
from contact_ddp_ros.runs.report.progress import say


def say_of_robot(robot: Robot, model: str, console: Console) -> None:
    """Say what the planar model leaves out of a robot whose left and right differ; the whole body has all of it."""
    difference = averaged(robot) if model == PlanarModel.name else None
    if difference is not None:
        say(console, f"{robot.tree.name}: the planner averages left and right; they differ at most in the {difference}")
