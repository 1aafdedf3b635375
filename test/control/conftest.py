import pytest

from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot


@pytest.fixture(scope="session")
def robot() -> Robot:
    return load_robot()


@pytest.fixture
def controller(robot: Robot) -> Controller:
    return Controller(robot, ControllerConfig())
