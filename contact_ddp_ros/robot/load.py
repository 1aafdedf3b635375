"""Robot loader: a robot by its name, from its file, or from its URDF alone."""

from dataclasses import replace
from pathlib import Path

from contact_ddp_ros.base.choices import ROBOT_SUFFIXES
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.model import Robot, as_it_is, of_profile
from contact_ddp_ros.robot.profile import load_profile
from contact_ddp_ros.robot.urdf import default_urdf
from contact_ddp_ros.robot.urdf_check.inspection import inspect


def load_robot(source: str | Path | None = None) -> Robot:
    """Read a robot, by default the one that comes with this package.

    Args:
        source: name of a packaged robot, path of a robot's .yaml file, or path of a URDF, xacro or MJCF file.

    Raises:
        ParameterError: no robot has that name, or its file says what it may not.
        ModelError: see :func:`contact_ddp_ros.robot.urdf.read_description`; its legs are others than those described
            in :mod:`contact_ddp_ros.robot.normalized_urdf`; or it cannot stand as high as its file says.
    """
    path = default_urdf() if source is None else Path(source)
    is_name = isinstance(source, str) and not path.suffix and path.name == source
    if source is None or not (is_name or path.suffix in ROBOT_SUFFIXES):
        return _of_urdf(path)
    return of_profile(load_profile(str(source)))


def _of_urdf(path: Path) -> Robot:
    """Robot of a URDF alone: as it is where it has the names and signs of this package, else as its check has it."""
    robot = as_it_is(path)
    if robot is not None:
        return robot
    result = inspect(path)
    if result.robot is None or result.problems:
        raise ModelError(f"{path}: {'; '.join(result.problems)}")
    return replace(result.robot, notes=result.notes)
