r"""What a sagittal plan leaves free: lateral velocity, roll and heading.

Frames. Heading axes: x forward, y left, z up, the trunk's yaw psi taken out; R = R_y(pitch) R_x(roll) turns trunk axes
into them. phi is the roll, c the centre of mass, omega the angular velocity, v_y the lateral velocity of c.

Stance. The pair on the ground is asked for the lateral force and the moments about c

    F_y = -m k_v (v_y - v_y* - s_v)
    M_x = -I_xx (k_phi (phi - phi_g - s_phi) + d_phi omega_x)
    M_z = -I_zz (k_psi (psi - psi*) + d_psi (omega_z - psi*'))

with mass m and inertia I of the whole robot in its standing pose, phi_g the roll of a trunk that is parallel to the
ground, and the integrals s_v of v_y* - v_y and s_phi of phi_g - phi, within bounds, which make up for what is constant:
wind, a payload, an estimator that leans. :mod:`contact_ddp_ros.control.allocation` shares them out as foot forces F_i
beside the planned F_x, F_z, within friction and load. The abductions, of which the plan knows nothing, get all of
tau_i = -J_i' R' F_i (J the leg's Jacobian at the point of contact, so that a foot beside the abduction axis is carried
too); hips and knees, which the plan already gives torque to, get the difference to what the plan meant with the leg in
the plane and the trunk level sideways:

    tau_i = -J_i' R' F_i + J_i(abduction 0)' R_y(pitch)' F_plan / 2

A foot that the plan has on the ground but that still hangs above it gets none of this: torque without a ground only
flings the leg. The other foot of its pair does: a robot that rolls far lands on one foot, which alone has to stop it.
While the foot stands, the abduction's drive has no stiffness and its target velocity is that of a leg
over a resting foot, so that it damps slip, not motion of the trunk.

Each pair stands for less than a quarter of the cycle, one of them for about T_s = 80 of every 180 ms. Over a
stance that begins with (phi, omega) a damping d turns the rate towards -(k / d) phi at e^{-d T_s}; k / d of 5 /s
halves the angle in each flight.

Swing. The pair in the air lands beside its hips by (Raibert 1986, ch. 2)

    dy = k_p (v_y + x omega_z - v_y* - s_v - x psi*') + k_r phi

at the distance x of the pair ahead of c. With force through the centre of mass, F_y = -F_z dy / h: one stance carries
the weight of half a cycle, m g T / 2, so it takes m g T dy / (2 h) of lateral momentum without any roll moment; all
of it for k_p = 2 h / (g T) = 0.16 s, besides half a stance, T_s / 2, that the foot travels under the trunk. Less than
that, since F_y above does its part. The abduction angle theta follows from
o cos(theta + phi) + l sin(theta + phi) = o + dy, o being the lateral offset of the foot from the abduction axis and l
the height of that axis above the foot's centre when standing: the leg is placed against the vertical, not against a
rolled trunk.

Heading. psi* integrates the commanded yaw rate from where the bound began. Left and right hips and knees of a pair
part only where roll and yaw make them; the drives' PD around the plan holds them together.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.allocation import LateralWrench, PairForces
from contact_ddp_ros.control.config import LateralConfig
from contact_ddp_ros.control.lateral_kernel import ABADS, stabilised
from contact_ddp_ros.robot.clamped_integrator import Trim
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.planar import PAIRS
from contact_ddp_ros.robot.policy import PolicySample
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import composite_body

Array = NDArray[np.float64]

_DOWN = np.array([0.0, 0.0, -1.0])
_LONGEST_STEP = 0.02
"""A longer time since the last update counts as this much [s]: the targets do not jump after a pause."""


@dataclass(frozen=True)
class LateralCommand:
    """What the stabiliser adds to the planar command.

    Attributes:
        abad_positions: (4,) targets of the abductions, in the order of the legs [rad].
        abad_velocities: (4,) [rad/s].
        torques: (12,) to be added to the planar feedforward [N m].
        wrench: (3,) lateral force, roll and yaw moment asked of the stance [N, N m]; none of it is had in flight.
        rows: (2, 3, 3) by pair, what the allocation made of it; zeros for a pair in the air.
    """

    abad_positions: Array
    abad_velocities: Array
    torques: Array
    wrench: Array
    rows: Array

    @property
    def wanted(self) -> LateralWrench:
        """The wrench asked of the stance."""
        return LateralWrench(*self.wrench.tolist())

    @property
    def forces(self) -> dict[str, PairForces]:
        """Forces by pair on the ground."""
        return {name: PairForces.from_rows(rows) for name, rows in zip(PAIRS, self.rows) if rows.any()}


class LateralStabiliser:
    """Keeps its heading and the abduction targets from one update to the next."""

    def __init__(self, robot: Robot, geometry: LegGeometry, config: LateralConfig) -> None:
        """Mass, inertia and leg length are those of the standing pose."""
        self.config = config
        feet, _ = geometry.points_and_jacobians(robot.standing, _DOWN)
        axes = geometry.translations[:, 0]
        body = composite_body(robot.tree, robot.standing)
        offsets = feet[:, 1] - axes[:, 1]
        length = float(np.mean(axes[:, 2] - feet[:, 2]))
        to_centre = length - geometry.radius  # the foot's sphere turns with the leg, its lowest point does not
        legs = offsets, np.hypot(offsets, to_centre), np.arctan2(offsets, to_centre), axes[:, 0] - body.com[0]
        pairs = np.array([[LEG_NAMES.index(left), LEG_NAMES.index(right)] for right, left in PAIRS.values()])
        self._constants = (
            body.com,
            np.stack(legs),
            pairs,
            *(geometry.rotations, geometry.translations, geometry.axes, geometry.feet),
            (geometry.radius, length, config.minimum_load, config.contact_clearance),
            (config.position_gain, config.velocity_limit),
            (
                -body.mass * config.velocity_gain,
                *(-float(body.inertia[0, 0]), config.roll_stiffness, config.roll_damping),
                *(-float(body.inertia[2, 2]), config.yaw_stiffness, config.yaw_damping, config.yaw_error_limit),
            ),
            (config.placement_gain, config.placement_roll_gain, config.stance_width, config.abad_limit),
        )
        self._abad_targets = np.zeros(len(feet))
        self._heading = 0.0
        self._origin = np.zeros(2)
        self._yaw_rate = 0.0
        self._lateral_velocity = 0.0
        self._velocity_trim, self._roll_trim = Trim(), Trim()

    @property
    def heading(self) -> float:
        """Yaw that is held [rad]."""
        return self._heading

    def reset(self, state: RobotState) -> None:
        """Hold the present heading and line, beginning from the present abductions."""
        self._heading = float(quaternion_to_rpy(state.orientation)[2])
        self._origin = state.position[:2].copy()
        self._abad_targets = state.joint_positions[ABADS].copy()
        self._velocity_trim.reset()
        self._roll_trim.reset()

    def take_over(self, other: "LateralStabiliser") -> None:
        """Go on with the heading, line and targets of another stabiliser, under this one's configuration."""
        self._heading, self._origin, self._abad_targets = other._heading, other._origin, other._abad_targets
        self._velocity_trim, self._roll_trim = other._velocity_trim, other._roll_trim

    def steer(self, yaw_rate: float, lateral_velocity: float) -> None:
        """Turn the heading at `yaw_rate` [rad/s] and move left at `lateral_velocity` [m/s] from now on."""
        self._yaw_rate = yaw_rate
        self._lateral_velocity = lateral_velocity

    @staticmethod
    def _seen(ground: Ground, state: RobotState) -> tuple[float, float, float, float]:
        """Height below the trunk's origin [m], friction, rise over run ahead and to the left."""
        x, y, _ = state.position.tolist()
        yaw = float(quaternion_to_rpy(state.orientation)[2])
        return ground.height_at(x, y), ground.friction, ground.ahead(yaw), ground.aside(yaw)

    def update(self, state: RobotState, sample: PolicySample, dt: float) -> LateralCommand:
        """Abduction targets and torques for a checked state, `dt` [s] after the last update."""
        dt = min(max(dt, 0.0), _LONGEST_STEP)
        if self._yaw_rate != 0.0 or self._lateral_velocity != 0.0:
            self._origin = state.position[:2].copy()
        config = self.config
        height, friction, ahead, aside = self._seen(sample.ground, state)
        velocity, roll = self._velocity_trim.value, self._roll_trim.value
        lean = math.atan(aside / math.hypot(1.0, ahead))
        self._heading, self._abad_targets, too_fast, leaning, *command = stabilised(
            state.position,
            state.orientation,
            state.linear_velocity,
            state.angular_velocity,
            state.joint_positions,
            sample.forces,
            (height, friction, ahead, aside),
            (self._heading + self._yaw_rate * dt, self._yaw_rate, self._lateral_velocity + velocity, lean + roll),
            self._origin,
            self._abad_targets,
            config.abad_rate * dt,
            *self._constants,
        )
        self._velocity_trim.follow(-too_fast - velocity, config.velocity_integral, config.velocity_trim, dt)
        self._roll_trim.follow(-leaning - roll, config.roll_integral, config.roll_trim, dt)
        return LateralCommand(*command)
