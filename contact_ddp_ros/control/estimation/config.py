"""Everything tunable about the estimation of state, contact and ground."""

from dataclasses import dataclass, field

from contact_ddp_ros.base.config import parameter


@dataclass(frozen=True)
class StateFilterConfig:
    """Noise and gates of the state estimator."""

    gyro: float = parameter(0.001, low=1e-5, high=1.0, description="gyroscope noise density [rad/s/sqrt(Hz)]")
    accelerometer: float = parameter(
        0.01, low=1e-4, high=10.0, description="accelerometer noise density [m/s^2/sqrt(Hz)]"
    )
    gyro_walk: float = parameter(
        2e-4, low=0.0, high=0.1, description="random walk of the gyroscope's bias [rad/s/sqrt(s)]"
    )
    accelerometer_walk: float = parameter(
        1e-3, low=0.0, high=1.0, description="random walk of the accelerometer's bias [m/s^2/sqrt(s)]"
    )
    foothold: float = parameter(0.005, low=0.0, high=1.0, description="random walk of a foot that stands [m/sqrt(s)]")
    place: float = parameter(
        0.002, low=1e-4, high=0.1, unit="m", description="error of a foot's place by the joints' angles"
    )
    rate: float = parameter(0.1, low=1e-3, high=5.0, unit="rad/s", description="error of the joints' velocities")
    slip: float = parameter(0.1, low=1e-3, high=2.0, unit="m/s", description="speed of a foot that is taken to stand")
    gate: float = parameter(9.0, low=1.0, high=100.0, description="squared innovation from which on a foot counts less")
    settle: float = parameter(
        0.006, low=0.0, high=0.1, unit="s", description="time after a touchdown from which on the foot counts"
    )
    saturation: float = parameter(
        150.0,
        low=10.0,
        high=1e6,
        unit="m/s^2",
        description="specific force along an axis that the accelerometer does not measure in full",
    )
    rest_speed: float = parameter(
        0.02, low=1e-4, high=1.0, unit="m/s", description="speed of a trunk that is taken to be at rest"
    )
    offset: float = parameter(0.01, low=0.0, high=0.2, unit="rad", description="constant error of a joint's angle")
    level: float = parameter(
        0.005, low=1e-4, high=1.0, unit="m", description="difference in height of footholds on level ground"
    )
    level_slope: float = parameter(
        0.02, low=0.0, high=0.5, unit="rad", description="slope below which ground is taken to be level; 0 for none"
    )
    contact_share: float = parameter(
        0.11, low=0.01, high=0.5, description="share of the weight on a foot at which contact and air are alike"
    )
    contact_spread: float = parameter(
        0.033, low=1e-3, high=0.2, description="share of the weight that multiplies a foot's odds of contact by e"
    )


@dataclass(frozen=True)
class EstimationConfig:
    """Contact by forces and schedule, ground by footholds."""

    ground: bool = parameter(
        True, description="send the estimated ground to the planner; otherwise its parameters hold"
    )
    feet: bool = parameter(
        True, description="send the estimated ground under each foot, too; otherwise one plane holds for all"
    )
    observer_rate: float = parameter(
        300.0, low=20.0, high=1000.0, unit="1/s", description="bandwidth of the momentum observer behind foot forces"
    )
    force_threshold: float = parameter(
        15.0, low=2.0, high=100.0, unit="N", description="normal force at which contact and air are equally likely"
    )
    force_spread: float = parameter(
        5.0,
        low=0.5,
        high=50.0,
        unit="N",
        description="change of the force that multiplies the odds of contact by e",
    )
    schedule_odds: float = parameter(
        2.0, low=0.0, high=10.0, description="logarithm of the odds that the schedule alone gives to contact or air"
    )
    settle_time: float = parameter(
        0.01, low=0.0, high=0.1, unit="s", description="age of a contact from which on it counts as a foothold"
    )
    footholds: int = parameter(
        16, low=4, high=64, description="number of footholds that the ground is fitted to", structural=True
    )
    foothold_range: float = parameter(
        0.3, low=0.05, high=5.0, unit="m", description="distance at which a foothold's weight has fallen to 1/e"
    )
    foothold_reach: float = parameter(
        0.06, low=0.01, high=1.0, unit="m", description="radius within which a foothold predicts the height of the next"
    )
    foothold_error: float = parameter(
        0.008, low=0.001, high=0.1, unit="m", description="standard deviation of a foothold from a plane"
    )
    slope_prior: float = parameter(
        0.3, low=0.001, high=10.0, description="standard deviation of the ground's slope before the first contact"
    )
    stumble_force: float = parameter(
        15.0, low=2.0, high=1000.0, unit="N", description="force along the ground that stops a foot in its swing"
    )
    stumble_reach: float = parameter(
        0.6,
        low=0.0,
        high=5.0,
        unit="m",
        description="distance of the trunk from a swing collision at which it is forgotten",
    )
    stumble_roughness: float = parameter(
        0.03, low=0.0, high=0.1, unit="m", description="roughness of the ground assumed near a swing collision"
    )
    timing: bool = parameter(
        True, description="let the gait's clock jump ahead where a foot lands early and wait where one lands late"
    )
    early_before: float = parameter(
        0.08,
        low=0.0,
        high=0.2,
        unit="s",
        description="earliest contact before a planned touchdown that counts as the landing",
    )
    late_after: float = parameter(
        0.012,
        low=0.004,
        high=0.1,
        unit="s",
        description="time after a planned touchdown from which on a foot without contact is late",
    )
    late_longest: float = parameter(0.06, low=0.0, high=0.3, unit="s", description="longest wait for a late foot")
    payload: bool = parameter(
        True, description="send the estimated payload to the planner; otherwise its parameters hold"
    )
    payload_time: float = parameter(
        1.0, low=0.05, high=60.0, unit="s", description="time constant with which the estimated payload follows"
    )
    payload_least: float = parameter(
        0.05, low=0.0, high=1.0, description="share of the robot's mass up to which an estimated payload counts as none"
    )
    drives: bool = parameter(
        True, description="send the drives' estimated inertia to the planner; otherwise its parameters hold"
    )
    drives_time: float = parameter(
        3.0, low=0.1, high=600.0, unit="s", description="time constant of the drives' inertia estimate"
    )
    drives_least: float = parameter(
        0.002, low=1e-5, high=0.1, unit="kg m^2", description="inertia of a drive up to which it counts as none"
    )
    ground_time: float = parameter(
        0.05, low=0.0, high=2.0, unit="s", description="time constant with which the estimated ground follows"
    )
    state: StateFilterConfig = field(default_factory=StateFilterConfig)
