"""States and commands through Unitree's messages: there and back, by Unitree's conventions, and damaged ones."""

import dataclasses

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.unitree.config import ImuPlace
from contact_ddp_ros.plants.unitree.conventions import UnitreeConventions
from contact_ddp_ros.plants.unitree.messages import LOW_CMD, LOW_STATE, checksum
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import rpy_to_quaternion
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand, RobotState

ROBOT = load_robot("go2")
N = ROBOT.n_joints
PLACE = ImuPlace().position
RNG = np.random.default_rng(1)
STATE = dataclasses.replace(
    ROBOT.standing_state(1.25),
    orientation=rpy_to_quaternion(0.1, -0.2, 0.3),
    joint_positions=ROBOT.standing + RNG.normal(scale=0.1, size=N),
    joint_velocities=RNG.normal(size=N),
)
IMU = ImuSample(1.25, np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.2, 9.7]))
GAINS = DriveGains(np.full(N, 40.0), np.full(N, 1.5), np.full(N, 2.5))


def conventions() -> UnitreeConventions:
    return UnitreeConventions(ROBOT, PLACE)


def low_state(**changes: object) -> bytes:
    """An encoded LowState of a robot at rest, with changed fields and a checksum."""
    record = LOW_STATE.decode(conventions().state(STATE, np.zeros(N), IMU))
    for name, value in changes.items():
        part, _, field = name.partition("__")
        if field:
            record[part][field] = value
        else:
            record[part] = value
    record["crc"] = checksum(record) if "crc" not in changes else changes["crc"]
    return LOW_STATE.encode(record)


def test_a_state_survives_the_way_through_a_message() -> None:
    torques = RNG.normal(size=N)
    measured = conventions().measurement(conventions().state(STATE, torques, IMU), 1.25)
    for name in ("orientation", "joint_positions", "joint_velocities"):
        np.testing.assert_allclose(getattr(measured.state, name), getattr(STATE, name), atol=1e-6)
    np.testing.assert_allclose(measured.torques, torques, atol=1e-6)
    np.testing.assert_allclose(measured.imu.angular_velocity, IMU.angular_velocity, atol=1e-6)
    np.testing.assert_allclose(measured.imu.specific_force, IMU.specific_force, atol=1e-5)


def test_motors_have_unitrees_order_and_signs() -> None:
    record = LOW_STATE.decode(conventions().state(ROBOT.standing_state(), np.zeros(N), IMU))
    unitree_home = [0.0, 0.8, -1.6] * 4  # about the keyframe `home` of Unitree's go2.xml, (0, 0.9, -1.8)
    np.testing.assert_allclose(record["motor_state"]["q"][:N], unitree_home, atol=1e-6)
    assert record["imu_state"]["quaternion"].tolist() == [1.0, 0.0, 0.0, 0.0], "w first"


def test_a_command_survives_the_way_and_says_what_it_answers() -> None:
    command = JointCommand(ROBOT.standing, RNG.normal(size=N), RNG.normal(size=N))
    executed, gains, answered = conventions().commanded(conventions().command(command, GAINS, 5000.25))
    assert executed.positions is not None
    np.testing.assert_allclose(executed.positions, command.positions, atol=1e-6)
    np.testing.assert_allclose(executed.velocities, command.velocities, atol=1e-6)
    np.testing.assert_allclose(executed.torques, command.torques, atol=1e-6)
    np.testing.assert_allclose([gains.kp, gains.kd], [GAINS.kp, GAINS.kd])
    assert answered == 5000250000, "beyond 32 bits"


def test_damping_stops_position_control_and_other_motors() -> None:
    record = LOW_CMD.decode(conventions().command(JointCommand.damping(N), GAINS))
    motors = record["motor_cmd"]
    assert not motors["kp"].any() and not motors["tau"].any() and not motors["dq"][:N].any()
    assert (motors["q"] == np.float32(2.146e9)).all(), "Unitree's number for no position control"
    assert (motors["kd"][:N] == 2.5).all() and not motors["kd"][N:].any()
    assert (record["head"].tolist(), record["level_flag"]) == ([0xFE, 0xEF], 0xFF)
    executed, gains, _ = conventions().commanded(LOW_CMD.encode(record))
    assert executed.positions is None and (gains.kd == 2.5).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"crc": 5}, "LowState has the checksum 00000005, its content"),
        ({"imu_state__quaternion": np.zeros(4)}, "quaternion has the norm 0.000"),
        ({"imu_state__gyroscope": np.full(3, np.nan)}, "not finite"),
        ({"motor_state__dq": np.where(np.arange(20) == 15, 1.0, 0.0)}, "tells of 16 motors; allowed: 12"),
        (
            {"motor_state__q": np.eye(20)[13], "motor_state__dq": -np.eye(20)[13]},
            "tells of 14 motors; allowed: 12",
        ),
    ],
)
def test_what_cannot_be_right_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(LinkError, match=words):
        conventions().measurement(low_state(**changes), 0.0)


def test_a_simulator_without_checksums_is_believed_until_one_comes() -> None:
    made = conventions()
    made.measurement(low_state(crc=0), 0.0)
    made.measurement(low_state(), 0.1)
    with pytest.raises(LinkError, match="checksum"):
        made.measurement(low_state(crc=0), 0.2)


def felt(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> NDArray[np.float64]:
    return data.sensor(name).data.copy()


def test_the_inertial_unit_beside_the_trunks_origin_feels_what_mujocos_does_there() -> None:
    x, y, z = PLACE
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 -9.81" timestep="0.0005"/><worldbody><body><freejoint/>
        <geom type="box" size="0.2 0.1 0.05" mass="7"/><site name="origin"/><site name="unit" pos="{x} {y} {z}"/>
        </body></worldbody><sensor><gyro name="gyro" site="unit"/><accelerometer name="unit" site="unit"/>
        <accelerometer name="origin" site="origin"/></sensor></mujoco>"""
    )
    data, made, errors, shares = mujoco.MjData(model), conventions(), [], []
    for step in range(2000):
        data.xfrc_applied[1, 3:] = 2.0 * np.sin(np.array([9.0, 13.0, 5.0]) * data.time)
        data.xfrc_applied[1, 2] = 40.0
        mujoco.mj_step(model, data)
        record = LOW_STATE.decode(conventions().state(ROBOT.standing_state(), np.zeros(N), IMU))
        record["imu_state"]["gyroscope"] = felt(model, data, "gyro")
        record["imu_state"]["accelerometer"] = felt(model, data, "unit")
        record["crc"] = 0
        sample = made.measurement(LOW_STATE.encode(record), data.time).imu
        if step > 0:
            errors.append(np.linalg.norm(sample.specific_force - felt(model, data, "origin")))
            shares.append(np.linalg.norm(felt(model, data, "unit") - felt(model, data, "origin")))
    assert max(shares) > 1.0, "the trunk turns as it does in a gait"
    assert max(errors) < 0.05 * max(shares)


def test_a_state_has_neither_place_nor_velocity_of_the_trunk() -> None:
    moving = dataclasses.replace(STATE, position=np.ones(3), linear_velocity=np.ones(3))
    measured: RobotState = conventions().measurement(conventions().state(moving, np.zeros(N), IMU), 0.0).state
    assert not measured.position.any() and not measured.linear_velocity.any()
