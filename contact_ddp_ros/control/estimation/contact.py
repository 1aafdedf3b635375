"""Which feet carry load: the forces that are felt weighed against what the schedule expects.

For each foot, with normal force F (of the momentum observer) and the logarithms of odds

    L = (F - F_0) / F_s + L_s,        L_s = +schedule_odds in a planned stance, -schedule_odds in a planned swing

which is the product of a logistic likelihood of the force and a prior (Bledt et al. 2018, "Contact model fusion for
event-based locomotion in unstructured terrains"). Contact begins where L rises above +1 and ends where it falls below
-1, so that a force that trembles about one value tells one story.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.estimation.config import EstimationConfig

Array = NDArray[np.float64]

_HYSTERESIS = 1.0


class ContactEstimate:
    """Contact of every foot, from one update to the next.

    Attributes:
        contact: (n_feet,) bool, whether the foot carries load.
        since: (n_feet,) when that began or ended [s].
        odds: (n_feet,) logarithm of the odds of contact at the last update.
    """

    def __init__(self, n_feet: int) -> None:
        """Begin with every foot in the air."""
        self.contact = np.zeros(n_feet, dtype=bool)
        self.since = np.full(n_feet, -np.inf)
        self.odds = np.full(n_feet, -np.inf)

    def update(self, time: float, normal_forces: Array, scheduled: Array, config: EstimationConfig) -> None:
        """Weigh normal forces (n_feet,) [N] against the feet that are to stand by schedule, (n_feet,) bool."""
        prior = np.where(scheduled, config.schedule_odds, -config.schedule_odds)
        self.odds = (normal_forces - config.force_threshold) / config.force_spread + prior
        contact = np.where(self.contact, self.odds > -_HYSTERESIS, self.odds > _HYSTERESIS)
        self.since = np.where(contact == self.contact, self.since, time)
        self.contact = contact
