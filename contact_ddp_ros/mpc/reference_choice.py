"""Which packaged reference a model has."""

from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.planar_reference import PlanarReference
from contact_ddp_ros.mpc.reference import GaitReference
from contact_ddp_ros.mpc.whole_body_reference import WholeBodyReference
from contact_ddp_ros.robot.gaits.sequence import GaitSequence
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.planar import PlanarModel


def reference_of(model: Model, gait: GaitConfig, sequence: GaitSequence | None = None) -> GaitReference:
    """The packaged reference of a gait for a model; without a `sequence` the configured gait for ever.

    Raises:
        ParameterError: the gait is not for the model, or not for the grid.
    """
    if model.name == PlanarModel.name:
        return PlanarReference(model.tree, gait, sequence)
    return WholeBodyReference(model.tree, gait, sequence, model.chart)
