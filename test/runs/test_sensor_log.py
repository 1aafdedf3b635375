"""Sensor logs as others write them: bags of both ROS versions, joints in any order, in parts and beside others."""

from pathlib import Path
from typing import Any

import lcm
import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.apps.cli.estimate import ESTIMATE_FILE, FIGURE_FILE
from contact_ddp_ros.base.errors import ReplayError
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import CHEETAH_SOFTWARE, MICROSTRAIN, encode
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.sensor_log import IMU, JOINTS, ODOMETRY, read_log

START = 1_700_000_000
ROS1, ROS2 = get_typestore(Stores.ROS1_NOETIC), get_typestore(Stores.ROS2_JAZZY)
Rows = list[tuple[str, str, float, dict[str, Any]]]


@pytest.fixture(scope="module")
def walk() -> list[tuple]:
    """(sample, state, torques, true state) at every tick of a trot on the estimate, without errors of the sensors."""
    overrides = {"planner.gait.name": "trot", "controller.stand.ramp_time": 0.3}
    options = RunOptions(duration=2.8, speed=((0.0, 0.5),), state="estimated", video=False, overrides=overrides)
    loop, rows = ClosedLoop(options), []
    while loop.plant.time < 2.8 - 1e-9:
        truth = loop.plant.truth()
        rows.append((loop.plant.imu(), loop.plant.read(), truth.applied_torques.copy(), truth.state))
        loop.tick()
    return rows


def messages(walk: list[tuple], leave_out: str = "") -> Rows:
    """Joints a millisecond before the IMU, in two messages, the second one reversed and with a gripper."""
    rows: Rows = []
    for imu, state, torques, true in walk:
        rows.append(("/imu", IMU, imu.time, {"angular_velocity": imu.angular_velocity, "force": imu.specific_force}))
        for part, order in ((0, range(6)), (1, range(11, 5, -1))):
            names = [JOINT_NAMES[k] for k in order if JOINT_NAMES[k] != leave_out]
            index = [JOINT_NAMES.index(name) for name in names]
            arrays = [one[index] for one in (state.joint_positions, state.joint_velocities, torques)]
            extra = [] if part == 0 else [0.1]
            values = [np.append(one, extra) for one in arrays]
            names += [] if part == 0 else ["gripper"]
            rows.append(("/joint_states", JOINTS, imu.time - 0.001, {"name": names, "values": values}))
        if round(imu.time / 0.002) % 10 == 0:
            rows.append(("/odom", ODOMETRY, imu.time, {"true": true}))
            rows.append(("/rosout_text", "std_msgs/msg/String", imu.time, {"text": "something else"}))
    return rows


def message(store: Any, kind: str, time: float, row: dict[str, Any], ros1: bool) -> Any:
    types = store.types
    if "text" in row:
        return types[kind](row["text"])
    nanoseconds = round(time * 1e9) + START * 1_000_000_000
    stamp = types["builtin_interfaces/msg/Time"](nanoseconds // 1_000_000_000, nanoseconds % 1_000_000_000)
    first = (0, stamp, "base") if ros1 else (stamp, "base")
    header = types["std_msgs/msg/Header"](*first)
    vector = lambda v: types["geometry_msgs/msg/Vector3"](*map(float, v))  # noqa: E731
    turn = lambda q: types["geometry_msgs/msg/Quaternion"](*map(float, q))  # noqa: E731
    none = np.zeros(9)
    if kind == IMU:
        rate, force = vector(row["angular_velocity"]), vector(row["force"])
        return types[IMU](header, turn([0, 0, 0, 1]), none, rate, none, force, none)
    if kind == JOINTS:
        return types[JOINTS](header, row["name"], *row["values"])
    true = row["true"]
    pose = types["geometry_msgs/msg/Pose"](
        types["geometry_msgs/msg/Point"](*map(float, true.position)), turn(true.orientation)
    )
    twist = types["geometry_msgs/msg/Twist"](vector(true.linear_velocity), vector(true.angular_velocity))
    covered = (
        types["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36)),
        types["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)),
    )
    return types[ODOMETRY](header, "base", *covered)


def written(path: Path, rows: Rows, ros1: bool = False) -> Path:
    """A bag of the rows, in the order of their stamps."""
    store = ROS1 if ros1 else ROS2
    writer: Any = Writer1(path) if ros1 else Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
    with writer:
        topics = {name: kind for name, kind, _, _ in rows}
        to = {name: writer.add_connection(name, kind, typestore=store) for name, kind in topics.items()}
        for name, kind, time, row in sorted(rows, key=lambda one: one[2]):
            one = message(store, kind, time, row, ros1)
            raw = store.serialize_ros1(one, kind) if ros1 else store.serialize_cdr(one, kind)
            writer.write(to[name], round((START + 1 + time) * 1e9), raw)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ros1", [False, True])
def test_a_log_gives_the_estimate_that_the_robot_had(walk: list[tuple], tmp_path: Path, ros1: bool) -> None:
    log = read_log(written(tmp_path / ("log.bag" if ros1 else "log"), messages(walk), ros1))
    assert len(log.times) == len(walk)
    q = np.array([state.joint_positions for _, state, _, _ in walk])
    assert np.abs(log.positions[1:-1] - q[1:-1]).max() < 0.05, "interpolated over a millisecond"
    *_, last = log.states(StateEstimator(load_robot()))
    true = walk[-1][3]
    assert last.position == pytest.approx(true.position - walk[0][3].position * [1, 1, 0], abs=0.06)
    assert last.linear_velocity == pytest.approx(true.linear_velocity, abs=0.05)
    assert log.odometry[-1, 1:4] == pytest.approx(walk[-10][3].position, abs=0.02)


def lcm_log(path: Path, walk: list[tuple], broken: bool = False) -> Path:
    """A log of lcm-logger: legs and estimate at every tick, the unit's packets twice each, and another channel."""
    log, robot = lcm.EventLog(str(path), "w"), load_robot()
    for k, (imu, state, torques, true) in enumerate(walk):
        unit = conventions.imu_values(imu, true.orientation, 1 + k)
        told = conventions.estimate_values(CHEETAH_SOFTWARE, true, imu, np.zeros((4, 3)))
        legs = encode(CHEETAH_SOFTWARE.leg_data, conventions.leg_data_values(robot, state, torques))
        frames = [("leg_control_data", legs[:-1] if broken else legs), ("spi_data", b"something else")]
        frames += [("microstrain", encode(MICROSTRAIN, unit))] * 2
        frames += [("state_estimator", encode(CHEETAH_SOFTWARE.estimate, told))]
        for n, (channel, data) in enumerate(frames):
            log.write_event(round(1e6 * (START + imu.time)) + 20 * n, channel, data)
    log.close()
    return path


@pytest.mark.slow
def test_a_log_of_lcm_gives_the_same_estimate(walk: list[tuple], tmp_path: Path) -> None:
    log = read_log(lcm_log(tmp_path / "lcmlog-2026-01-01.00", walk))
    assert len(log.times) == len(walk), "a repeated packet is no sample"
    *_, last = log.states(StateEstimator(load_robot()))
    true = walk[-1][3]
    assert last.position == pytest.approx(true.position - walk[0][3].position * [1, 1, 0], abs=0.06)
    assert last.linear_velocity == pytest.approx(true.linear_velocity, abs=0.05)
    assert log.odometry[-1, 1:] == pytest.approx(
        np.concatenate([true.position, true.orientation, true.linear_velocity]), abs=1e-5
    )
    with pytest.raises(ReplayError, match="them on microstrain"):
        read_log(tmp_path / "lcmlog-2026-01-01.00", {IMU: "hw_vectornav"})
    with pytest.raises(ReplayError, match="leg_control_data_lcmt of 239 bytes; allowed: 240"):
        read_log(lcm_log(tmp_path / "broken", walk[:9], broken=True))
    (tmp_path / "empty").write_bytes(b"\xed\xa1\xda\x01")
    with pytest.raises(ReplayError, match="no topic of sensor_msgs/msg/Imu"):
        read_log(tmp_path / "empty")


@pytest.mark.slow
def test_the_command_says_how_far_it_drifts(
    walk: list[tuple], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["estimate", str(written(tmp_path / "log", messages(walk))), "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "drift from the odometry" in told and "of the way" in told
    assert (out / FIGURE_FILE).stat().st_size > 10_000
    columns = np.load(out / ESTIMATE_FILE)
    assert columns["deviations"].shape == (len(walk), 12)
    assert (columns["deviations"][-1, :2] > columns["deviations"][100, :2]).all()


@pytest.mark.slow
def test_what_a_log_lacks_is_named(walk: list[tuple], tmp_path: Path) -> None:
    short = walk[:100]
    with pytest.raises(ReplayError, match=r"has no position of hl_knee_joint; its joints are .*gripper"):
        read_log(written(tmp_path / "knee", messages(short, leave_out="hl_knee_joint")))
    blind = [row for row in messages(short) if row[1] != IMU]
    with pytest.raises(ReplayError, match="no topic of sensor_msgs/msg/Imu"):
        read_log(written(tmp_path / "blind", blind))
    second = messages(short) + [("/imu2", *row[1:]) for row in messages(short) if row[1] == IMU]
    two = written(tmp_path / "two", second)
    with pytest.raises(ReplayError, match="on /imu, /imu2; name one"):
        read_log(two)
    assert len(read_log(two, {IMU: "/imu2"}).times) == 100
    with pytest.raises(ReplayError, match="cannot read the log"):
        read_log(tmp_path / "nowhere")
    late = [(a, b, c + 100.0 if b == JOINTS else c, d) for a, b, c, d in messages(short)]
    with pytest.raises(ReplayError, match="0 % of its samples have joints"):
        read_log(written(tmp_path / "late", late))
    frozen = [(a, b, 0.0 if b == IMU else c, d) for a, b, c, d in messages(short)]
    with pytest.raises(ReplayError, match="sensor_msgs/msg/Imu at 2 or more different times; it has 1"):
        read_log(written(tmp_path / "frozen", frozen))
    broken = [(a, b, c, {**d, "force": np.full(3, np.nan)} if b == IMU else d) for a, b, c, d in messages(short)]
    with pytest.raises(ReplayError, match="not finite"):
        read_log(written(tmp_path / "broken", broken))
    weak = [(a, b, c, d if b != JOINTS else {**d, "values": [*d["values"][:2], np.zeros(0)]}) for a, b, c, d in second]
    with pytest.raises(ReplayError, match="has no effort of fr_abad_joint"):
        read_log(written(tmp_path / "weak", weak), {IMU: "/imu"})
