"""States from frames: paired, stamped on receipt, of one layout, agreeing; nothing else comes through."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lcm_frames import (
    ROBOT,
    N,
    estimate_frame,
    imu_of,
    leg_frame,
    microstrain_frame,
    random_state,
    vectornav_frame,
)

from contact_ddp_ros.base.errors import LinkError, ParameterError
from contact_ddp_ros.plants.lcm.codec import CHEETAH_SOFTWARE, LAYOUTS, WALK_THESE_WAYS, Layout
from contact_ddp_ros.plants.lcm.measurements import Measurement, MeasurementReader
from contact_ddp_ros.robot.state import RobotState

PERIOD = 0.002
TICKS = [(state, leg_frame(state), estimate_frame(state)) for state in map(random_state, range(40))]


@pytest.mark.parametrize("first", ["legs", "trunk"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_pair_is_stamped_with_the_first_receipt(layout: Layout, first: str) -> None:
    reader, state = MeasurementReader(ROBOT), random_state(1)
    legs, trunk = leg_frame(state, layout), estimate_frame(state, layout)
    if first == "legs":
        assert reader.leg_data(legs, 5.0) is None
        measured = reader.estimate(trunk, 5.0003)
    else:
        assert reader.estimate(trunk, 5.0) is None
        measured = reader.leg_data(legs, 5.0003)
    assert measured is not None
    assert measured.state.time == 5.0
    assert reader.layout is layout
    np.testing.assert_allclose(measured.torques, np.linspace(-5.0, 5.0, N), atol=1e-6)
    assert (measured.imu is None) == (layout is CHEETAH_SOFTWARE)


@given(lost=st.sets(st.tuples(st.integers(0, len(TICKS) - 1), st.booleans()), max_size=12))
def test_lost_frames_never_pair_different_ticks(lost: set[tuple[int, bool]]) -> None:
    reader = MeasurementReader(ROBOT)
    ticks: list[int] = []
    for tick, (state, legs, trunk) in enumerate(TICKS):
        at = tick * PERIOD
        measured: Measurement | None = None
        if (tick, True) not in lost:
            measured = reader.leg_data(legs, at)
        if (tick, False) not in lost:
            measured = reader.estimate(trunk, at + 0.0002) or measured
        if measured is not None:
            ticks.append(tick)
            np.testing.assert_allclose(measured.state.joint_positions, state.joint_positions, atol=1e-6)
            np.testing.assert_allclose(measured.state.position, state.position, atol=1e-6)
    assert ticks == [tick for tick in range(len(TICKS)) if not {(tick, True), (tick, False)} & lost]


def test_who_speaks_first_is_believed_and_nobody_else() -> None:
    reader, state = MeasurementReader(ROBOT), random_state(1)
    reader.leg_data(leg_frame(state, WALK_THESE_WAYS), 0.0)
    with pytest.raises(LinkError, match="86530874c8755cb7"):
        reader.estimate(estimate_frame(state, CHEETAH_SOFTWARE), 0.0)
    assert reader.estimate(estimate_frame(state, WALK_THESE_WAYS), 0.0) is not None


def test_a_layout_can_be_forced() -> None:
    reader = MeasurementReader(ROBOT, CHEETAH_SOFTWARE.name)
    with pytest.raises(LinkError, match="with stamps"):
        reader.leg_data(leg_frame(random_state(1), WALK_THESE_WAYS), 0.0)
    with pytest.raises(ParameterError, match="allowed: auto, cheetah_software, walk_these_ways"):
        MeasurementReader(ROBOT, "unitree")


def test_no_state_passes_while_the_robot_contradicts_itself() -> None:
    reader, state = MeasurementReader(ROBOT), random_state(1)
    for tick in range(3):
        reader.leg_data(leg_frame(state, q=-state.joint_positions), tick * PERIOD)
        with pytest.raises(LinkError, match="do not mean the same"):
            reader.estimate(estimate_frame(state), tick * PERIOD)
    reader.leg_data(leg_frame(state), 3 * PERIOD)
    assert reader.estimate(estimate_frame(state), 3 * PERIOD) is not None


def test_a_contradiction_is_noticed_later_too() -> None:
    reader, state = MeasurementReader(ROBOT), random_state(1)
    reader.leg_data(leg_frame(state), 0.0)
    assert reader.estimate(estimate_frame(state), 0.0) is not None
    reader.leg_data(leg_frame(state, q=-state.joint_positions), 2.0)
    with pytest.raises(LinkError, match="do not mean the same"):
        reader.estimate(estimate_frame(state), 2.0)


def test_after_forgetting_only_new_frames_pair() -> None:
    reader, state = MeasurementReader(ROBOT), random_state(1)
    reader.leg_data(leg_frame(state), 0.0)
    reader.forget()
    assert reader.estimate(estimate_frame(state), 0.0) is None


def measured_at(reader: MeasurementReader, state: RobotState, time: float) -> Measurement:
    reader.leg_data(leg_frame(state), time)
    measured = reader.estimate(estimate_frame(state), time)
    assert measured is not None
    return measured


def test_a_state_comes_with_the_newest_sample_of_a_unit_of_200_hz() -> None:
    reader, samples = MeasurementReader(ROBOT), [random_state(seed) for seed in range(20)]
    reader.imu(vectornav_frame(samples[0]), 0.0)
    for tick in range(50):
        time, k = tick * PERIOD, int(tick * PERIOD / 0.005 + 1e-9)
        if tick and int((time - PERIOD) / 0.005 + 1e-9) < k:
            reader.imu(vectornav_frame(samples[k]), 0.005 * k)
        imu = measured_at(reader, random_state(tick), time).imu
        assert imu is not None
        assert imu.time == 0.005 * k, "it tells how old it is"
        np.testing.assert_allclose(imu.angular_velocity, imu_of(samples[k]).angular_velocity, atol=1e-6)
        np.testing.assert_allclose(imu.specific_force, imu_of(samples[k]).specific_force, atol=1e-5)


def test_forces_between_two_states_are_averaged() -> None:
    reader, forces = MeasurementReader(ROBOT), np.random.default_rng(1).normal(size=(3, 3))
    for k, force in enumerate(forces):
        reader.imu(vectornav_frame(random_state(k), a=force), 0.001 * k)
    imu = measured_at(reader, random_state(9), 0.003).imu
    assert imu is not None
    assert imu.time == 0.002
    np.testing.assert_allclose(imu.specific_force, forces.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(imu.angular_velocity, random_state(2).angular_velocity, atol=1e-6)


def test_an_imu_that_sends_no_more_or_repeats_its_packet_has_no_sample() -> None:
    reader, state = MeasurementReader(ROBOT), random_state(1)
    assert measured_at(reader, state, 0.0).imu is None
    reader.imu(microstrain_frame(state, packets=0), 0.0)
    assert measured_at(reader, state, 0.0).imu is None, "nobody has read the unit yet"
    for tick in range(30):
        reader.imu(microstrain_frame(state, packets=7), tick * PERIOD)
        assert (measured_at(reader, state, tick * PERIOD).imu is None) == (tick > 10)
    with pytest.raises(LinkError, match=r"acc holds .*finite"):
        reader.imu(damaged(microstrain_frame(state, packets=8)), 0.06)
    assert measured_at(reader, state, 0.06).imu is None
    reader.imu(microstrain_frame(state, packets=9), 0.062)
    reader.imu(vectornav_frame(random_state(2)), 0.062)
    imu = measured_at(reader, state, 0.062).imu
    assert imu is not None
    np.testing.assert_allclose(imu.angular_velocity, state.angular_velocity, atol=1e-6, err_msg="the first unit's")


def damaged(frame: bytes) -> bytes:
    """The frame with an acceleration that is not a number."""
    at = 8 + 4 * (4 + 3 + 3)
    return frame[:at] + b"\x7f\xc0\x00\x00" + frame[at + 4 :]


def test_an_imu_of_other_axes_or_sign_is_found_out_at_rest() -> None:
    level = {"orientation": np.array([0.0, 0.0, 0.0, 1.0]), "angular_velocity": np.zeros(3)}
    reader, state = MeasurementReader(ROBOT), replace(random_state(3), **level)
    measured_at(reader, state, 0.0)
    force = imu_of(state).specific_force
    for wrong in (-force, np.roll(force, 1)):
        with pytest.raises(LinkError, match="axes or sign of the IMU differ"):
            reader.imu(vectornav_frame(state, a=wrong), 0.001)
    assert measured_at(reader, state, 0.002).imu is None
    reader.imu(vectornav_frame(state, a=-force, w=np.array([0.0, 5.0, 0.0])), 0.003)
    assert measured_at(reader, state, 0.004).imu is not None, "who moves shows more than gravity"


@given(data=st.binary(max_size=300), cut=st.integers(0, 247), bits=st.lists(st.integers(0, 8 * 248 - 1), max_size=30))
def test_garbage_is_an_error_of_the_link_or_a_finite_state(data: bytes, cut: int, bits: list[int]) -> None:
    reader, state = MeasurementReader(ROBOT), random_state(1)
    flipped = bytearray(leg_frame(state))
    for bit in bits:
        flipped[bit // 8] ^= 1 << (bit % 8)
    for frame in (data, leg_frame(state)[:cut], bytes(flipped)):
        reader.forget()
        try:
            reader.leg_data(frame, 0.0)
            measured = reader.estimate(estimate_frame(state), 0.0)
        except LinkError:
            continue
        if measured is not None:
            assert measured.state.is_finite()
            assert math.isfinite(float(measured.torques.sum()))
