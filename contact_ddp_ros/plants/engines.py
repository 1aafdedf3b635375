"""The simulator of the engine that the options name; engines other than MuJoCo are imported where they are chosen."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.options import SimOptions

if TYPE_CHECKING:
    from contact_ddp_ros.plants.simulator import PhysicsSimulator
    from contact_ddp_ros.robot.model import Robot
    from contact_ddp_ros.robot.state import DriveGains

_SIMULATORS: Final = {
    "mujoco": ("contact_ddp_ros.plants.mujoco", "MujocoSimulator"),
    "dart": ("contact_ddp_ros.plants.dart", "DartSimulator"),
    "bullet": ("contact_ddp_ros.plants.bullet", "BulletSimulator"),
}
"""Module and class by engine."""

PACKAGES: Final = {"mujoco": "mujoco", "dart": "dartpy", "bullet": "pybullet"}
"""Python package that each engine needs."""


def check_installed(engine: str) -> None:
    """Check that the package of an engine is there.

    Raises:
        ParameterError: it is not.
    """
    package = PACKAGES[engine]
    if find_spec(package) is None:
        raise ParameterError(
            f"simulator.engine is {engine!r}, which needs the Python package {package}, and that is not"
            " installed; allowed without it: mujoco"
        )


def make_simulator(robot: "Robot", gains: "DriveGains", options: SimOptions) -> "PhysicsSimulator":
    """A simulated robot, standing, its drives damping.

    Raises:
        ParameterError: an option is out of its range, or the engine is not installed.
        SimulationError: the engine refuses the model.
    """
    check_installed(options.engine)
    module, name = _SIMULATORS[options.engine]
    simulator: PhysicsSimulator = getattr(import_module(module), name)(robot, gains, options)
    return simulator
