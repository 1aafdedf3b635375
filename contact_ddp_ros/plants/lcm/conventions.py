"""Every conversion between the robot's conventions and this package's, in either direction.

Cheetah-Software and this package share the order of legs and joints (FR, FL, HR, HL; abduction, hip, knee), the joints'
signs and zeros (positive abduction about +x, positive hip and knee about -y, legs straight down at zero), and axes
(x forward, y left, z up). Tests hold both kinematics beside each other, and :func:`disagreement` asks the same of a
robot that sends its own foot positions. What differs: quaternions are (w, x, y, z) there and (x, y, z, w)
here, and a torque command carries its gains with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.lcm.codec import PD_TAU_TARGETS, WALK_THESE_WAYS, Frame, Layout, encode
from contact_ddp_ros.robot.joints import BASE_JOINTS, FOOT_NAMES, LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, up_in_body, wrap_angle
from contact_ddp_ros.robot.state import STATE_PARTS, DriveGains, ImuSample, JointCommand, RobotState
from contact_ddp_ros.robot.tree import GRAVITY

Array = NDArray[np.float64]

_QUATERNION_TOLERANCE: Final = 1e-2
_FOOT_TOLERANCE: Final = 0.01
"""Tolerance of a foot's place between the robot's kinematics and ours: lengths may differ, signs may not [m]."""
_ANGLE_TOLERANCE: Final = 0.02
"""Tolerance of roll, pitch and yaw about those of the quaternion [rad]."""
_VELOCITY_TOLERANCE: Final = 0.05
"""Tolerance of the velocity in the world about the one in the trunk's axes, turned [m/s]."""
_IMU_MEMBERS: Final = (("omega", "acc"), ("w", "a"), ("omegaBody", "aBody"))
"""Members with an inertial unit's angular velocity and specific force, by type of frame."""
_REST_FORCE, _REST_RATE, _LEAST_COSINE = 0.5, 0.5, 0.5
"""Trunk at rest: largest deviation from gravity [m/s^2] and rate [rad/s]; least cosine between up and its force."""
_CONTACT_FORCE: Final = 1.0
"""A foot that carries more is said to be in contact [N]."""
_MID_STANCE: Final = 0.5
_DIFFERENCE: Final = 1e-6
"""Step of the difference that gives the feet's velocities [s]."""


def robot_state(leg_data: Frame, estimate: Frame, time: float) -> RobotState:
    """Convert the joint and estimator frames of one instant to a state stamped `time` [s].

    Raises:
        LinkError: something was never filled in (encoders not read yet, no estimator running), or the quaternion is no
            unit one.
    """
    q, v = leg_data.array("q"), leg_data.array("qd")
    if not (q.any() or v.any()):
        raise LinkError("all joint positions and rates are exactly zero: the robot does not read its drives")
    position, velocity = estimate.array("p"), estimate.array("vBody")
    if not (position.any() or velocity.any()):
        raise LinkError(
            "the trunk's position and velocity are exactly zero: the robot estimates no position (it must run an"
            " estimator of position and velocity, not only an IMU)"
        )
    quaternion = np.roll(estimate.array("quat"), -1)
    norm = float(np.linalg.norm(quaternion))
    if not abs(norm - 1.0) < _QUATERNION_TOLERANCE:
        raise LinkError(f"the orientation has norm {norm:.4f}; allowed: 1 ± {_QUATERNION_TOLERANCE}")
    return RobotState(
        time=time,
        position=position,
        orientation=quaternion / norm,
        linear_velocity=velocity,
        angular_velocity=estimate.array("omegaBody"),
        joint_positions=q,
        joint_velocities=v,
    )


def imu_sample(frame: Frame, time: float) -> ImuSample | None:
    """Sample of the inertial unit in a frame received at `time` [s]; None where it has none, or was never filled in.

    The robot's own estimator takes the same numbers for the trunk's, in its axes and with +g along z at rest.
    """
    for rate, force in _IMU_MEMBERS:
        if force in frame.values and frame.array(force).any() and frame.values.get("good_packets", 1) > 0:
            return ImuSample(time, frame.array(rate), frame.array(force))
    return None


def imu_disagreement(sample: ImuSample, orientation: Array) -> str | None:
    """Description of what a sample of a trunk at rest shows in place of gravity, which an orientation (4,) gives."""
    force, up = sample.specific_force, up_in_body(orientation)
    size = float(np.linalg.norm(force))
    if abs(size - GRAVITY) > _REST_FORCE or np.linalg.norm(sample.angular_velocity) > _REST_RATE:
        return None
    if force @ up >= _LEAST_COSINE * size:
        return None
    return (
        f"at rest the IMU shows {_text(force)} m/s^2, and up is {_text(up)} in the trunk's axes by the robot's "
        "quaternion: axes or sign of the IMU differ"
    )


def disagreement(robot: Robot, leg_data: Frame, estimate: Frame) -> str | None:
    """Describe the first contradiction between the robot's redundant numbers and our conventions; None if they agree.

    Feet against our forward kinematics (signs, zeros and order of joints), roll, pitch and yaw and the velocity in the
    world against the quaternion (its order and direction). Feet that are all zero are not filled in.
    """
    told = leg_data.array("p").reshape(len(FOOT_NAMES), 3)
    if told.any():
        ours = feet_in_leg_frames(robot, leg_data.array("q"))
        errors = np.linalg.norm(told - ours, axis=1)
        foot = int(np.argmax(errors))
        if not errors[foot] < _FOOT_TOLERANCE:
            return (
                f"the robot sees {FOOT_NAMES[foot]} at {_text(told[foot])} m from its abduction joint, our kinematics "
                f"at {_text(ours[foot])} m: order, sign or zero of its joints differ"
            )
    quaternion = np.roll(estimate.array("quat"), -1)
    angles = quaternion_to_rpy(quaternion)
    turned = [wrap_angle(float(error)) for error in angles - estimate.array("rpy")]
    if estimate.array("rpy").any() and not np.abs(turned).max() < _ANGLE_TOLERANCE:
        return (
            f"the robot's roll, pitch, yaw are {_text(estimate.array('rpy'))} rad, those of its quaternion "
            f"{_text(angles)} rad: it is not (w, x, y, z) from trunk to world"
        )
    world = estimate.array("vWorld")
    expected = quaternion_to_matrix(quaternion) @ estimate.array("vBody")
    if world.any() and not np.linalg.norm(world - expected) < _VELOCITY_TOLERANCE:
        return (
            f"the trunk's velocity in the world is {_text(world)} m/s, the one in its own axes turns into "
            f"{_text(expected)} m/s"
        )
    return None


def leg_data_values(robot: Robot, state: RobotState, torques: Array) -> dict[str, Any]:
    """Members of the leg frame of a robot in `state` with the torques (12,) [N m]."""
    q, v = state.joint_positions, state.joint_velocities
    feet = feet_in_leg_frames(robot, q)
    velocities = (feet_in_leg_frames(robot, q + _DIFFERENCE * v) - feet) / _DIFFERENCE
    return {"q": q, "qd": v, "p": feet.ravel(), "v": velocities.ravel(), "tau_est": torques}


def estimate_values(layout: Layout, state: RobotState, imu: ImuSample, contact_forces: Array) -> dict[str, Any]:
    """Members of the estimator frame of a robot in `state`.

    Args:
        layout: its family; only one of them has the following two, and the angular velocity of the IMU.
        state: of the robot.
        imu: sample of the inertial unit.
        contact_forces: (4, 3) on the feet [N].
    """
    rotation = quaternion_to_matrix(state.orientation)
    values = {
        "p": state.position,
        "vWorld": rotation @ state.linear_velocity,
        "vBody": state.linear_velocity,
        "rpy": quaternion_to_rpy(state.orientation),
        "omegaBody": state.angular_velocity,
        "omegaWorld": rotation @ state.angular_velocity,
        "quat": np.roll(state.orientation, 1),
    }
    if layout is WALK_THESE_WAYS:
        loaded = np.linalg.norm(contact_forces, axis=1) > _CONTACT_FORCE
        values |= {
            "contact_estimate": loaded.astype(float),
            "omegaBody": imu.angular_velocity,
            "omegaWorld": rotation @ imu.angular_velocity,
            "aBody": imu.specific_force,
            "aWorld": rotation @ imu.specific_force,
        }
    return values


def imu_values(sample: ImuSample, orientation: Array, packets: int) -> dict[str, Any]:
    """Members of a `MICROSTRAIN` frame of a sample and an orientation (4,), after a number of packets."""
    attitude = {"quat": np.roll(orientation, 1), "rpy": quaternion_to_rpy(orientation)}
    return {**attitude, "omega": sample.angular_velocity, "acc": sample.specific_force, "good_packets": packets}


def stamps(time: float, number: int) -> dict[str, int]:
    """The stamps of a frame: `time` [s] and a running number."""
    return {"timestamp_us": timestamp_us(time), "id": number}


def timestamp_us(time: float) -> int:
    """A time [s] in microseconds, as in frames."""
    return round(1e6 * time)


def target_values(command: JointCommand, gains: DriveGains) -> Mapping[str, Any]:
    """A joint command and the gains it is meant with, as torque targets."""
    if command.positions is None:
        zeros = np.zeros_like(command.velocities)
        return {"qd_des": command.velocities, "kp": zeros, "kd": gains.kd_damping}
    return {
        "q_des": command.positions,
        "qd_des": command.velocities,
        "tau_ff": command.torques,
        "kp": gains.kp,
        "kd": gains.kd,
    }


def targets_frame(commanded: tuple[JointCommand, DriveGains], contacts: Array, stamp: float, number: int) -> bytes:
    """Torque targets with :func:`contact_phases`, the answered state's stamp [s] and a running number."""
    values = {**target_values(*commanded), "se_contactState": contacts, **stamps(stamp, number)}
    return encode(PD_TAU_TARGETS, values)


def executed_values(command: JointCommand, gains: DriveGains) -> Mapping[str, Any]:
    """A joint command and its gains, as the frame in which the robot tells what its drives are commanded."""
    gain_names = {"kp": "kp_joint", "kd": "kd_joint"}
    return {gain_names.get(name, name): value for name, value in target_values(command, gains).items()}


def contact_phases(contacts: Sequence[bool]) -> Array:
    """(4,) what Cheetah-Software's estimator takes for a foot that is on the ground or not: how far its stance is.

    It distrusts both ends of a stance, 0 and 1; a foot that is on the ground is in the middle of it.
    """
    return np.where(contacts, _MID_STANCE, 0.0)


def joint_command(targets: Frame) -> tuple[JointCommand, DriveGains]:
    """Convert torque targets to a joint command and its gains; without stiffness and feedforward it only damps.

    Raises:
        LinkError: a gain is negative.
    """
    kp, kd = targets.array("kp"), targets.array("kd")
    if (kp < 0.0).any() or (kd < 0.0).any():
        raise LinkError("torque targets with a negative gain; allowed: zero or more")
    gains = DriveGains(kp=kp, kd=kd, kd_damping=kd)
    velocities, torques = targets.array("qd_des"), targets.array("tau_ff")
    positions = targets.array("q_des") if kp.any() or torques.any() else None
    return JointCommand(positions=positions, velocities=velocities, torques=torques), gains


def tick_state(tick: Frame) -> RobotState:
    """The state that a tick tells."""
    return RobotState(1e-9 * float(tick.values["time_ns"]), **{name: tick.array(name) for name in STATE_PARTS})


def feet_in_leg_frames(robot: Robot, joint_positions: Array) -> Array:
    """(4, 3) centres of the feet from their legs' abduction joints, in the trunk's axes [m]."""
    first = len(BASE_JOINTS)
    origins = [robot.tree.joints[first + leg * len(LEG_JOINTS)].translation for leg in range(len(LEG_NAMES))]
    return foot_positions(robot, joint_positions) - np.array(origins)


def _text(values: Array) -> str:
    return "(" + ", ".join(f"{value:.3f}" for value in values) + ")"
