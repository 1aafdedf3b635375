"""Conversions between Unitree's messages and this package's states and commands, in either direction.

Motors are numbered FR, FL, RR, RL × abduction, hip, knee, which is this package's order, and have the angles of
Unitree's URDF (:class:`~contact_ddp_ros.robot.straight_legs.JointMap`). The inertial unit has the axes of the URDF's
root link, but another place: what it feels of the trunk's turning is taken off, so that samples are those of the
trunk's origin. Messages hold no position and no velocity of the trunk.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.sensing import LeverArm
from contact_ddp_ros.plants.unitree.messages import (
    LOW_CMD,
    LOW_STATE,
    POSITION_STOP,
    VELOCITY_STOP,
    checksum,
)
from contact_ddp_ros.robot.joints import JOINT_NAMES, N_JOINTS
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import matrix_to_quaternion, quaternion_to_matrix
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand, RobotState
from contact_ddp_ros.robot.straight_legs import JointMap

Array = NDArray[np.float64]

_HEAD, _LOW_LEVEL, _SERVO = (0xFE, 0xEF), 0xFF, 1
"""First bytes of a command, its level, and the mode of a motor that follows it."""


@dataclass(frozen=True)
class Health:
    """Health of a robot: motors and battery.

    Attributes:
        temperature: of the hottest motor [°C], and `hottest`, its name.
        charge: of the battery [%]. voltage: of its terminals [V]. Both 0 where nobody tells them.
        lost: packets that motors have lost so far.
    """

    temperature: int
    hottest: str
    charge: int
    voltage: float
    lost: int


@dataclass(frozen=True)
class Measurement:
    """State and sensor readings of the robot at one instant.

    Attributes:
        state: stamped on receipt; position and velocity of the trunk are zero.
        torques: (12,) as the motors estimate them [N m].
        imu: sample of the inertial unit, at the trunk's origin.
        health: of the robot. remote: (40,) bytes of the handset.
    """

    state: RobotState
    torques: Array
    imu: ImuSample
    health: Health
    remote: bytes


class UnitreeConventions:
    """Conversions for one robot; for one thread in each direction."""

    def __init__(self, robot: Robot, imu_place: tuple[float, float, float]) -> None:
        """`imu_place`: the inertial unit's, in the URDF's root link [m]."""
        joints = robot.joint_map or JointMap(JOINT_NAMES, np.ones(N_JOINTS), np.zeros(N_JOINTS), {})
        self._names, self._signs, self._zeros = joints.names, joints.signs, joints.zeros
        self._rotation, origin = joints.root
        self._place = origin + self._rotation @ np.array(imu_place)
        self._lever = LeverArm()
        self._has_checksum = False

    def measurement(self, data: bytes, stamp: float) -> Measurement:
        """Read an encoded LowState received at `stamp` [s].

        Raises:
            LinkError: it is of another kind or damaged, or not of a robot with twelve motors.
        """
        record = LOW_STATE.decode(data)
        told = int(record["crc"])
        self._has_checksum |= told != 0  # simulators leave it out
        if self._has_checksum and told != checksum(record):
            raise LinkError(f"LowState has the checksum {told:08x}, its content {checksum(record):08x}")
        motors, unit = record["motor_state"], record["imu_state"]
        rest, motors = motors[N_JOINTS:], motors[:N_JOINTS]
        others = np.flatnonzero((rest["q"] != 0.0) | (rest["dq"] != 0.0))
        if others.size:
            count = N_JOINTS + int(others.max()) + 1
            raise LinkError(f"LowState tells of {count} motors; allowed: {N_JOINTS}, those of legs without wheels")
        q, v, torque = (self._signs * motors[name].astype(float) for name in ("q", "dq", "tau_est"))
        quaternion = np.roll(unit["quaternion"].astype(float), -1)
        rate, force = (self._rotation @ unit[name].astype(float) for name in ("gyroscope", "accelerometer"))
        numbers = np.concatenate([q, v, torque, quaternion, rate, force])
        if not np.isfinite(numbers).all():
            raise LinkError("LowState holds numbers that are not finite")
        if abs(np.linalg.norm(quaternion) - 1.0) > 0.01:
            raise LinkError(f"the IMU's quaternion has the norm {np.linalg.norm(quaternion):.3f}; allowed: 1 ± 0.01")
        turned = matrix_to_quaternion(np.ascontiguousarray(quaternion_to_matrix(quaternion) @ self._rotation.T))
        zeros, hottest = np.zeros(3), int(np.argmax(motors["temperature"]))
        force = force - self._lever.acceleration(stamp, rate, self._place)
        return Measurement(
            RobotState(stamp, zeros, turned, zeros, rate, q - self._signs * self._zeros, v),
            torque,
            ImuSample(stamp, rate, force),
            Health(
                int(motors["temperature"][hottest]),
                self._names[hottest],
                int(record["bms_state"]["soc"]),
                float(record["power_v"]),
                int(motors["lost"].sum()),
            ),
            record["wireless_remote"].tobytes(),
        )

    def state(self, state: RobotState, torques: Array, imu: ImuSample, remote: bytes = b"") -> bytes:
        """Encode a LowState of a robot in `state`, with the torques (12,) [N m] and a sample at its origin."""
        record = LOW_STATE.new()
        record["head"], record["level_flag"] = _HEAD, _LOW_LEVEL
        motors, unit = record["motor_state"], record["imu_state"]
        motors["mode"][:N_JOINTS] = _SERVO
        motors["q"][:N_JOINTS] = self._signs * state.joint_positions + self._zeros
        motors["dq"][:N_JOINTS] = self._signs * state.joint_velocities
        motors["tau_est"][:N_JOINTS] = self._signs * torques
        turned = quaternion_to_matrix(state.orientation) @ self._rotation
        unit["quaternion"] = np.roll(matrix_to_quaternion(np.ascontiguousarray(turned)), 1)
        unit["gyroscope"] = self._rotation.T @ imu.angular_velocity
        felt = self._lever.acceleration(imu.time, imu.angular_velocity, self._place)
        unit["accelerometer"] = self._rotation.T @ (imu.specific_force + felt)
        record["tick"] = round(1e3 * state.time) % 2**32
        record["wireless_remote"][: len(remote)] = np.frombuffer(remote, np.uint8)
        record["crc"] = checksum(record)
        return LOW_STATE.encode(record)

    def command(self, command: JointCommand, gains: DriveGains, answered: float | None = None) -> bytes:
        """Encode the LowCmd of a joint command and its gains; to an emulator with the time that it answers [s]."""
        record = LOW_CMD.new()
        record["head"], record["level_flag"] = _HEAD, _LOW_LEVEL
        motors, own = record["motor_cmd"], slice(N_JOINTS)
        motors["mode"], motors["q"], motors["dq"] = _SERVO, POSITION_STOP, VELOCITY_STOP
        motors["dq"][own] = self._signs * command.velocities
        motors["kd"][own] = gains.kd_damping
        if command.positions is not None:
            motors["q"][own] = self._signs * command.positions + self._zeros
            motors["tau"][own] = self._signs * command.torques
            motors["kp"][own], motors["kd"][own] = gains.kp, gains.kd
        if answered is not None:
            record["sn"] = divmod(round(1e6 * answered), 2**32)
        record["crc"] = checksum(record)
        return LOW_CMD.encode(record)

    def commanded(self, data: bytes) -> tuple[JointCommand, DriveGains, int]:
        """Command, gains and answered time [us] of an encoded LowCmd.

        Raises:
            LinkError: it is of another kind or damaged.
        """
        record = LOW_CMD.decode(data)
        if int(record["crc"]) != checksum(record):
            raise LinkError(f"LowCmd has the checksum {record['crc']:08x}, its content {checksum(record):08x}")
        motors = record["motor_cmd"][:N_JOINTS]
        q, v, torque, kp, kd = (motors[name].astype(float) for name in ("q", "dq", "tau", "kp", "kd"))
        if not np.isfinite([q, v, torque, kp, kd]).all() or (kp < 0.0).any() or (kd < 0.0).any():
            raise LinkError("LowCmd holds a number that is not finite or a negative gain")
        runs = motors["mode"] == _SERVO
        kp, kd, torque = (np.where(runs, part, 0.0) for part in (kp, kd, torque))
        kp, kd = np.where(q == np.float32(POSITION_STOP), 0.0, kp), np.where(v == VELOCITY_STOP, 0.0, kd)
        v = np.where(v == VELOCITY_STOP, 0.0, v)
        positions = self._signs * (q - self._zeros) if kp.any() or torque.any() else None
        command = JointCommand(positions, self._signs * v, self._signs * torque)
        high, low = (int(part) for part in record["sn"])
        return command, DriveGains(kp=kp, kd=kd, kd_damping=kd), high * 2**32 + low
