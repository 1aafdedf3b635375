"""The models by name."""

from typing import Final

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel

AnyModel = Model | type[PlanarModel] | type[WholeBodyModel]
"""A model, or the class of one, which has the coordinates and legs, too."""

MODELS: Final[dict[str, type[PlanarModel] | type[WholeBodyModel]]] = {
    one.name: one for one in (PlanarModel, WholeBodyModel)
}


def model_of(name: str, robot: Robot) -> Model:
    """The model of that name of a robot.

    Raises:
        ParameterError: there is none.
    """
    if name not in MODELS:
        raise ParameterError(f"no model is called {name!r}; allowed: {', '.join(MODELS)}")
    return MODELS[name](robot)
