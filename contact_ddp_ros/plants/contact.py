r"""Contact model of robot and ground in MuJoCo: stiff, relaxed, or spring and damper.

`stiff`, the default, is as near to the planner's hard, inelastic, Coulomb contact as MuJoCo's soft ones get: critically
damped at two time steps, elliptic cones, and no slip regularisation to speak of. `relaxed` are MuJoCo's own defaults,
critically damped at 20 ms, whatever mass is upon it. `spring` is a spring and a damper,
:math:`f = \max(0, K r + B \dot r)` of the depth :math:`r`, as a rubber foot is.

MuJoCo computes a contact's force by :math:`R f = k r + b \dot r + \ddot r`, with the regularisation
:math:`R = \hat A (1 - d) / d` of the impedance :math:`d` and the inverse inertia :math:`\hat A` of the shape's body. So
a spring has :math:`k = R K` and :math:`b = R B`, and the foot a mass :math:`1 / R` more while it touches, which is kept
small by a low :math:`d`.
"""

from typing import Final

import numpy as np

from contact_ddp_ros.plants.engine import mujoco
from contact_ddp_ros.plants.options import ContactOptions

STIFF_TIME_STEPS: Final = 2.0
"""Time constant of a stiff contact over the time step; MuJoCo needs at least 2 to stay stable."""

STIFF_IMPEDANCE: Final = (0.98, 0.999, 0.0005, 0.5, 2.0)
"""`solimp`: share of the force needed for rigidity at first touch and at 0.5 mm; 0.98 keeps 100 N within 1 mm."""

RELAXED: Final = ((0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0))
"""`solref` and `solimp` where a model says nothing."""

SPRING_IMPEDANCE: Final = 0.2
"""Impedance of a spring at any depth: the foot is heavier by a quarter of the inertia that the contact sees."""

FRICTION_IMPEDANCE_RATIO: Final = 20.0
"""Tangential over normal contact impedance: slip by creep stays under a few mm/s."""


def set_contact(model: mujoco.MjModel, options: ContactOptions) -> None:
    """Give the shapes of the robot that collide their contact; they decide for the pair with the ground."""
    model.opt.impratio = FRICTION_IMPEDANCE_RATIO
    for geom in np.flatnonzero((model.geom_bodyid > 0) & (model.geom_contype > 0)):
        if options.model == "spring":
            d = SPRING_IMPEDANCE
            softness = model.body_invweight0[model.geom_bodyid[geom], 0] * (1.0 - d) / d
            # MuJoCo takes k from -solref[0] d / d^2 and b from -solref[1] / d.
            model.geom_solref[geom] = -softness * d * np.array([options.stiffness, options.damping])
            model.geom_solimp[geom] = (d, d, 0.001, 0.5, 2.0)
        elif options.model == "relaxed":
            model.geom_solref[geom], model.geom_solimp[geom] = RELAXED
        else:
            model.geom_solref[geom] = STIFF_TIME_STEPS * model.opt.timestep, 1.0
            model.geom_solimp[geom] = STIFF_IMPEDANCE
