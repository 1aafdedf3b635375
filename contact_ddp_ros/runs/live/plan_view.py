"""Plans as the page shows them, and the pose of the planned robot."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses, landings
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.live.snapshot import Plan, Touch

Array = NDArray[np.float64]

STRIDE = 3
"""Nodes of a policy from one drawn to the next."""


def plan_of(policy: Policy, stride: int = STRIDE) -> Plan:
    """A policy thinned out for drawing; touchdowns are kept whatever the stride."""
    policy = policy.shown
    forces = policy.forces
    lands = dict(landings(forces))
    rows = sorted({*range(0, len(policy.times), stride), *lands})
    padded = np.vstack([forces, np.zeros((1, forces.shape[1]))])
    return Plan(
        times=policy.times[rows],
        states=policy.states[rows],
        forces=padded[rows],
        landings=tuple((rows.index(k), leg) for k, legs in lands.items() for leg in legs),
        ground=policy.ground,
    )


def touch_of(controller: Controller) -> Touch:
    """Contact and terrain estimate of a controller so far."""
    estimator = controller.estimator
    return Touch(
        contacts=tuple(map(bool, estimator.contacts.contact)),
        ground=estimator.ground,
        footholds=estimator.footholds,
    )


class PlanView(PolicyPoses):
    """Robots in the states of plans."""

    def at(self, plan: Plan, time: float, actual: RobotState) -> RobotState:
        """The planned robot at an instant [s], clamped to the horizon."""
        x = np.array([np.interp(time, plan.times, column) for column in plan.states.T])
        return self.state(x, actual, time)
