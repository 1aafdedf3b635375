"""Words that a user may choose from, without anything of what they stand for: variants, models, files, grounds."""

VARIANTS = ("ddp", "ilqr", "ddp_tensor", "quasi_newton")
"""Solver variants: full second order through mRNEAc, Gauss-Newton, through tensors, and held for some iterations."""

INTERIOR_POINT, PENALTIES = CONSTRAINTS = ("interior_point", "penalties")
"""Enforcements of hard constraints: within the sweep, or by an outer loop that tightens penalties."""

SHOOTINGS = ("single", "multiple")
"""Ways to begin a trajectory: rolled out from the guess's controls, or from its states, whose gaps close."""

PLANAR, WHOLE_BODY = MODEL_NAMES = ("planar", "whole_body")
"""Models that may be planned for: the sagittal plane, or all coordinates."""

GAIT_SUFFIXES = (".yaml", ".yml")
"""Suffixes of gait files; a name without one is that of a packaged gait."""

ROBOT_SUFFIXES = (".yaml", ".yml")
"""Suffixes of robot files; a name without one is that of a packaged robot."""

URDF_SUFFIXES = (".urdf", ".xacro", ".xml")
"""Suffixes of robot descriptions, the last of MuJoCo's (MJCF)."""

DEFAULT_ROBOT = "mini_cheetah"
"""The robot whose parameters the defaults are."""

TERRAIN_WORDS = (
    "flat, slope:DEG[,HEADING_DEG], step:X,RISE, stairs:RISE,COUNT[,TREAD], boxes:HEIGHT[,SEED], stones:HEIGHT[,SEED], "
    "kerb:RISE, rough:HEIGHT[,LENGTH[,SEED]] or FILE.xml (an MJCF file)"
)
"""Shapes of the simulated ground, as :mod:`contact_ddp_ros.plants.terrain` reads them."""
