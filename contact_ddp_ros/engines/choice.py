"""The simulator of the engine that the options name; engines other than MuJoCo are imported where they are chosen."""

from importlib import import_module
from typing import Final

from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains
from contact_ddp_ros.sim.options import SimOptions
from contact_ddp_ros.sim.simulator import PhysicsSimulator

_SIMULATORS: Final = {
    "mujoco": ("contact_ddp_ros.sim.mujoco", "MujocoSimulator"),
    "dart": ("contact_ddp_ros.engines.dart", "DartSimulator"),
    "bullet": ("contact_ddp_ros.engines.bullet", "BulletSimulator"),
}
"""By engine: module and class."""

PACKAGES: Final = {"mujoco": "mujoco", "dart": "dartpy", "bullet": "pybullet"}
"""Python package that each engine needs."""


def make_simulator(robot: Robot, gains: DriveGains, options: SimOptions) -> PhysicsSimulator:
    """A simulated robot, standing, its drives damping.

    Raises:
        ParameterError: an option is out of its range, or the engine is not installed.
        SimulationError: the engine refuses the model.
    """
    (module, name), package = _SIMULATORS[options.engine], PACKAGES[options.engine]
    try:
        simulator: PhysicsSimulator = getattr(import_module(module), name)(robot, gains, options)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ParameterError(
            f"simulator.engine is {options.engine!r}, which needs the Python package {package}, and that is not"
            " installed; allowed without it: mujoco"
        ) from None
    return simulator
