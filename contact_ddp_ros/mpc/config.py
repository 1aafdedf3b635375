"""Parameters of the MPC. Every one but the structural ones may change between two solves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, PLANAR, VARIANTS, WHOLE_BODY
from contact_ddp_ros.base.config import Config, parameter, replace
from contact_ddp_ros.robot.ground import Ground, Payload

SECOND_ORDER, PYRAMID = "second_order", "pyramid"
"""Within what the friction of a plan in space is kept."""

SAME_MODEL, RIGID_BODY = "same", "rigid_body"
"""What the far part of a horizon is planned for."""


@dataclass(frozen=True)
class GaitConfig:
    """The gait and the planner's time grid, of which the gait's period lasts a whole number of steps."""

    name: str = parameter(
        "bound",
        description="gait: a name in config/gaits, or the path of a .yaml file; a change begins at a cycle's end",
    )
    stretch: float = parameter(
        1.0,
        low=0.25,
        high=4.0,
        description="period of the gait over that of its file; where it is not 1, rounded to whole steps",
        structural=True,
    )
    step: float = parameter(
        0.01, low=0.0005, high=0.02, unit="s", description="planner's integration step", structural=True
    )
    horizon_cycles: float = parameter(
        1.0, low=0.25, high=8.0, description="horizon in gait cycles (rounded to steps)", structural=True
    )
    integrator: str = parameter(
        "semi_implicit_euler",
        choices=("semi_implicit_euler", "forward_euler", "implicit_midpoint"),
        description="integration scheme of the planner",
        structural=True,
    )


@dataclass(frozen=True)
class HorizonConfig:
    """What is unlike far ahead: longer steps, a simpler model."""

    near: float = parameter(
        0.25,
        low=0.02,
        high=10.0,
        unit="s",
        description="duration of the fine, full-model part of the horizon",
        structural=True,
    )
    far_step: float = parameter(
        0.0,
        low=0.0,
        high=0.2,
        unit="s",
        description="longest integration step beyond horizon.near; up to gait.step: uniform steps",
        structural=True,
    )
    far_model: str = parameter(
        SAME_MODEL,
        choices=(SAME_MODEL, RIGID_BODY),
        description="model beyond horizon.near: the same, or a single rigid body moved by contact forces",
        structural=True,
    )


CLEARANCE_MOST = 0.15
"""Of a swing [m]."""

MOST_TURN = 6.0
"""Commanded, either way [rad/s]."""


@dataclass(frozen=True)
class ReferenceConfig:
    """The posture that the costs pull towards; the optimisation decides the motion."""

    speed_limit: float = parameter(
        2.5, low=0.0, high=4.0, unit="m/s", description="largest commanded speed that is planned for, either way"
    )
    height_rate: float = parameter(
        0.1, low=0.01, high=1.0, unit="m/s", description="fastest change of the planned trunk height after a start"
    )
    acceleration: float = parameter(
        2.0, low=0.1, high=20.0, unit="m/s^2", description="fastest change of the planned velocity towards the command"
    )
    turn_acceleration: float = parameter(
        10.0, low=0.1, high=100.0, unit="rad/s^2", description="fastest change of the planned turn towards the command"
    )
    turn_friction: float = parameter(
        0.6,
        low=0.05,
        high=1.5,
        description="share of the planned friction that the centripetal acceleration of a commanded turn may take",
    )
    speed_integral: float = parameter(
        0.5,
        low=0.0,
        high=5.0,
        unit="1/s",
        description="integral gain of the planned speed on the speed error",
    )
    speed_trim: float = parameter(0.5, low=0.0, high=1.0, unit="m/s", description="limit of the integral correction")
    line_gain: float = parameter(
        1.0,
        low=0.0,
        high=5.0,
        unit="1/s",
        description="lateral velocity wanted per distance from the straight line, of the whole body",
    )
    line_speed: float = parameter(
        0.2, low=0.0, high=1.0, unit="m/s", description="largest lateral velocity of the line correction"
    )
    settling: float = parameter(
        0.3,
        low=0.0,
        high=2.0,
        unit="s",
        description="time constant of the whole body's planned velocity, from the measured to the commanded one",
    )
    settling_band: float = parameter(
        0.2,
        low=0.0,
        high=10.0,
        unit="m/s",
        description="velocity error of the whole body that is corrected at once; the rest decays with the settling "
        "time",
    )
    hurry: float = parameter(
        0.5,
        low=0.0,
        high=4.0,
        description="largest speed-up of the whole body's gait after a push, as a share of its pace, so that stances "
        "end before legs are straight; 0: none",
    )
    roll_integral: float = parameter(
        1.5,
        low=0.0,
        high=10.0,
        unit="1/s",
        description="integral gain of the whole body's roll reference on the roll error",
    )
    roll_trim: float = parameter(0.3, low=0.0, high=0.5, unit="rad", description="limit of the integral correction")
    height: float = parameter(0.27, low=0.15, high=0.36, unit="m", description="trunk height above the ground")
    roll: float = parameter(
        0.0,
        low=-0.3,
        high=0.3,
        unit="rad",
        description="roll of the whole body's trunk relative to the ground, right side down",
    )
    pitch: float = parameter(
        0.0,
        low=-0.3,
        high=0.3,
        unit="rad",
        description="pitch of the trunk relative to the ground and the gait, nose down",
    )
    tilt_rate: float = parameter(
        0.5, low=0.01, high=5.0, unit="rad/s", description="fastest change of the planned roll and pitch"
    )
    pitch_amplitude: float = parameter(
        0.12, low=0.0, high=0.4, unit="rad", description="nose down at front touchdown, nose up at back touchdown"
    )
    stance_inset: float = parameter(
        0.03, low=-0.1, high=0.15, unit="m", description="inward offset of the stance feet from the hips at mid-stance"
    )
    clearance: float = parameter(
        0.05, low=0.0, high=CLEARANCE_MOST, unit="m", description="highest foot height of a swing on even ground"
    )
    clearance_gain: float = parameter(
        3.0,
        low=0.0,
        high=10.0,
        description="additional foot height of a swing, as a multiple of the footholds' deviation from the estimated "
        "plane",
    )
    swing_retraction: float = parameter(
        0.05, low=0.0, high=0.15, unit="m", description="shortening of a swing leg in its joint references"
    )


@dataclass(frozen=True)
class WeightConfig:
    """Weights of the quadratic costs, per second for running costs."""

    height: float = parameter(800.0, low=0.0, high=1e6, unit="1/m^2", description="trunk height")
    pitch: float = parameter(40.0, low=0.0, high=1e5, unit="1/rad^2", description="trunk pitch")
    roll: float = parameter(40.0, low=0.0, high=1e5, unit="1/rad^2", description="trunk roll, of the whole body")
    yaw: float = parameter(40.0, low=0.0, high=1e5, unit="1/rad^2", description="trunk yaw, of the whole body")
    joints: float = parameter(12.0, low=0.0, high=1e5, unit="1/rad^2", description="joint angles")
    forward_velocity: float = parameter(40.0, low=0.0, high=1e5, unit="s^2/m^2", description="forward velocity")
    vertical_velocity: float = parameter(2.0, low=0.0, high=1e5, unit="s^2/m^2", description="vertical velocity")
    pitch_rate: float = parameter(0.1, low=0.0, high=1e4, unit="s^2/rad^2", description="pitch rate")
    roll_rate: float = parameter(0.1, low=0.0, high=1e4, unit="s^2/rad^2", description="roll rate, of the whole body")
    yaw_rate: float = parameter(0.1, low=0.0, high=1e4, unit="s^2/rad^2", description="yaw rate, of the whole body")
    joint_rates: float = parameter(0.01, low=0.0, high=1e4, unit="s^2/rad^2", description="joint rates")
    torque: float = parameter(
        0.004,
        low=1e-6,
        high=1e3,
        unit="1/(N m)^2",
        description="joint torques, of both legs of a pair together; twice as much for each leg of the whole body",
    )
    swing_torque: float = parameter(
        0.01,
        low=1e-6,
        high=1e3,
        unit="1/(N m)^2",
        description="joint torques of legs in the air, counted like those of weight.torque",
    )
    force: float = parameter(
        1e-4, low=0.0, high=1.0, unit="1/N^2", description="contact force against its mean over a cycle"
    )
    foot_height: float = parameter(
        4000.0, low=0.0, high=1e7, unit="1/m^2", description="height of a foot in the air against its reference"
    )
    switch: float = parameter(
        0.02, low=0.0, high=100.0, unit="s", description="weight at a mode's end, in seconds of running cost"
    )
    terminal: float = parameter(
        0.2, low=0.0, high=100.0, unit="s", description="weight at the horizon's end, in seconds of running cost"
    )


@dataclass(frozen=True)
class GuessConfig:
    """The heuristic controller that makes the first guess of a cold solve."""

    kp: float = parameter(
        30.0,
        low=0.0,
        high=2000.0,
        unit="N m/rad",
        description="position gain, of both legs of a pair together; half of it for each leg of the whole body",
    )
    kd: float = parameter(
        1.0,
        low=0.0,
        high=200.0,
        unit="N m s/rad",
        description="velocity gain, of both legs of a pair together; half of it for each leg of the whole body",
    )


@dataclass(frozen=True)
class ConstraintConfig:
    """Limits of torques and contact forces, and touchdown."""

    method: str = parameter(
        INTERIOR_POINT,
        choices=CONSTRAINTS,
        description="enforcement of limits: hard, by the interior point, or by relaxed barriers",
    )
    further_iterations: int = parameter(
        8, low=0, high=100, description="iterations that a solve may have beyond its own until hard limits hold"
    )
    friction_cone: str = parameter(
        SECOND_ORDER,
        choices=(SECOND_ORDER, PYRAMID),
        description="friction cone of the whole body: the second-order cone about the ground's normal, or its "
        "inscribed pyramid",
    )
    impulse_time: float = parameter(
        0.01,
        low=0.0,
        high=0.1,
        unit="s",
        description="duration over which a landing foot's impulse counts as a force, which must not pull; 0: impulses "
        "have no limits",
    )
    torque_share: float = parameter(
        0.95, low=0.1, high=1.0, description="share of the actuators' limits that the planner may use"
    )
    barrier_width: float = parameter(
        0.01, low=1e-4, high=1.0, description="relaxation δ of the barriers, relative to the limit"
    )
    barrier_weight: float = parameter(
        0.1, low=0.0, high=100.0, description="weight ε of the barriers, μ of the interior point"
    )
    touchdown_penalty: float = parameter(
        2e4, low=1.0, high=1e8, unit="1/m^2", description="augmented-Lagrangian penalty σ of the touchdown height"
    )
    baumgarte_rate: float = parameter(
        30.0, low=0.0, high=200.0, unit="1/s", description="stabilisation rate of the contact constraints"
    )


@dataclass(frozen=True)
class PlannerConfig:
    """All parameters of the planner."""

    variant: str = parameter(
        "ddp", choices=VARIANTS, description="solver variant: order of the partial derivatives", structural=True
    )
    cost_terms: str = parameter(
        "", description="user-defined cost terms: module:Class or file.py:Class, separated by commas", structural=True
    )
    constraints: str = parameter(
        "",
        description="user-defined inequality constraints: module:Class or file.py:Class, separated by commas",
        structural=True,
    )
    own_reference: str = parameter(
        "",
        description="user-defined reference in place of the packaged one: module:Class or file.py:Class",
        structural=True,
    )
    iterations: int = parameter(2, low=1, high=100, description="DDP iterations per solve")
    first_iterations: int = parameter(60, low=1, high=1000, description="iterations of the first, cold solve")
    rate: float = parameter(
        100.0,
        low=10.0,
        high=500.0,
        unit="Hz",
        description="solves per second; the node plans less often, down to 12.5, where its processor is too slow",
    )
    gait: GaitConfig = field(default_factory=GaitConfig)
    horizon: HorizonConfig = field(default_factory=HorizonConfig)
    reference: ReferenceConfig = field(default_factory=ReferenceConfig)
    weight: WeightConfig = field(default_factory=WeightConfig)
    first_guess: GuessConfig = field(default_factory=GuessConfig)
    constraint: ConstraintConfig = field(default_factory=ConstraintConfig)
    ground: Ground = field(default_factory=Ground)
    payload: Payload = field(default_factory=Payload)
    drive_inertia: float = parameter(
        0.0,
        low=0.0,
        high=1.0,
        unit="kg m^2",
        description="additional reflected inertia of each drive about its joint, beyond the description's armature",
    )

    @property
    def structure(self) -> tuple[object, ...]:
        """What is fixed while a planner exists: all that shapes its problem, but for the gait's name.

        Of variants the compiled kernels count: ddp and ilqr have the same.
        """
        tensors = self.variant == "ddp_tensor"
        own = (self.cost_terms, self.constraints, self.own_reference)
        return replace(self.gait, {"name": ""}), self.horizon, tensors, *own


MODEL_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {PLANAR: {"gait.step": 0.004}, WHOLE_BODY: {"gait.step": 0.01}}
"""The planner's defaults that a model has its own of: in the plane more knots are solved in the time there is."""


def for_model(config: Config, model: str) -> Config:
    """A planner's configuration with the defaults of a model; those of an unknown one are as they are.

    Args:
        config: a :class:`PlannerConfig`, or a node's with its fields; what the model has defaults of is set to them.
        model: one of :data:`~contact_ddp_ros.base.choices.MODEL_NAMES`.
    """
    return replace(config, MODEL_DEFAULTS.get(model, {}))
