"""The bounding reference: feet where they should be, by pinocchio's kinematics; smooth; mirrored with the speed."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.dynamics.contact import level_parameters
from contact_ddp_ros.mpc.config import GaitConfig, ReferenceConfig
from contact_ddp_ros.mpc.planar_reference import PlanarLeg, PlanarReference, planar_schedule
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.ground import LocalGround
from test.mpc.support import MODEL as PLANAR
from test.mpc.support import TREE, N, config_with

GAIT, CONFIG = GaitConfig(), ReferenceConfig()
REFERENCE = PlanarReference(TREE, GAIT)
MODEL = pinocchio_model(TREE)
DATA = MODEL.createData()
TIMES = np.arange(0.0, 0.72, 0.002) + 0.001
"""Two cycles, off every switch."""
GROUND = 0.03
STANCES = {"back_foot": (0.0, 0.08), "front_foot": (0.18, 0.26)}


def feet(q):
    """Of each foot in the order of TREE: (x, z) of its lowest point in the world [m]."""
    pin.framesForwardKinematics(MODEL, DATA, q)
    places = [DATA.oMf[MODEL.getFrameId(point.name)].translation for point in TREE.contacts]
    return np.array([[place[0], place[2] - point.radius] for place, point in zip(places, TREE.contacts, strict=True)])


def hips(x):
    """World (x) of each leg's hip."""
    return np.array([x[0] + np.cos(x[2]) * leg.hip_x for leg in REFERENCE.legs])


def in_stance(time, foot):
    start, end = STANCES[foot]
    return start <= time % 0.36 < end


@pytest.mark.parametrize("speed", [-1.0, 0.0, 0.5, 2.0])
def test_stance_feet_are_on_the_ground_and_swing_feet_clear_of_it(speed):
    xs = REFERENCE.states(TIMES, CONFIG, TrunkCommand(speed), LocalGround(GROUND))
    for x, time in zip(xs, TIMES, strict=True):
        for f, point in enumerate(TREE.contacts):
            height = feet(x[:N])[f, 1] - GROUND
            if in_stance(time, point.name):
                assert height == pytest.approx(0.0, abs=1e-12)
            else:
                assert 0.0 < height <= CONFIG.swing_retraction + 1e-12


@pytest.mark.parametrize("speed", [-1.0, 0.5])
def test_stance_feet_stay_where_they_are_in_the_world(speed):
    """Up to what the pitch moves the hip, they go back under it as fast as the trunk goes forward."""
    xs = REFERENCE.states(TIMES, CONFIG, TrunkCommand(speed), LocalGround(GROUND))
    for f, point in enumerate(TREE.contacts):
        offsets = np.array(
            [feet(x[:N])[f, 0] - hips(x)[f] for x, t in zip(xs, TIMES, strict=True) if in_stance(t, point.name)]
        )
        times = np.array([t % 0.36 for t in TIMES if in_stance(t, point.name)])
        assert np.polyfit(times, offsets, 1)[0] == pytest.approx(-speed, rel=1e-6)
        inset = -np.sign(REFERENCE.legs[f].hip_x) * CONFIG.stance_inset
        assert offsets.mean() == pytest.approx(inset, abs=1e-8), "symmetric about a point inwards of the hip"


def test_the_trunk():
    xs = REFERENCE.states(TIMES, CONFIG, TrunkCommand(0.7, x=3.0), LocalGround(GROUND))
    assert xs[:, 0] == pytest.approx(3.0 + 0.7 * (TIMES - TIMES[0]))
    assert (xs[:, 1] == GROUND + CONFIG.height).all()
    assert (xs[:, N] == 0.7).all()
    assert np.abs(xs[:, 2]).max() == pytest.approx(CONFIG.pitch_amplitude, rel=1e-3)
    touchdown = REFERENCE.states(np.array([0.0, 0.18]), CONFIG, TrunkCommand(0.7), LocalGround(GROUND))
    assert touchdown[0, 2] < 0.0 < touchdown[1, 2], "nose up when the back lands, nose down when the front lands"


@pytest.mark.parametrize("speed", [-1.0, 0.0, 0.5, 2.0])
def test_it_is_continuous_and_periodic_and_the_rates_are_its_derivative(speed):
    times = np.arange(-0.36, 0.72, 1e-4)
    xs = REFERENCE.states(times, CONFIG, TrunkCommand(speed), LocalGround())
    assert np.abs(np.diff(xs[:, :N], axis=0)).max() < 5e-3
    rates = np.gradient(xs[:, :N], times, axis=0)[2:-2]
    assert np.quantile(np.abs(rates - xs[2:-2, N:]), 0.99) < 0.05
    later = REFERENCE.states(times + 0.36 * 1000, CONFIG, TrunkCommand(speed), LocalGround())
    assert later[:, 1:N] == pytest.approx(xs[:, 1:N], abs=1e-8)


@given(speed=st.floats(0.05, 2.5), time=st.floats(0.0, 0.36))
def test_backwards_is_forwards_mirrored_about_the_middle_of_stance(speed, time):
    forward, backward = (
        REFERENCE.states(np.array([time]), CONFIG, TrunkCommand(v), LocalGround())[0] for v in (speed, -speed)
    )
    for f, leg in enumerate(REFERENCE.legs):
        inset = -np.sign(leg.hip_x) * CONFIG.stance_inset
        offsets = [feet(x[:N])[f, 0] - hips(x)[f] - inset for x in (forward, backward)]
        assert offsets[0] == pytest.approx(-offsets[1], abs=1e-9)
        assert feet(forward[:N])[f, 1] == pytest.approx(feet(backward[:N])[f, 1], abs=1e-9)
    assert forward[2] == backward[2]


@given(reach=st.floats(0.1, 0.39), angle=st.floats(-1.2, 1.2))
def test_inverse_kinematics(reach, angle):
    leg = REFERENCE.legs[0]
    x, z = reach * np.sin(angle), -reach * np.cos(angle)
    hip, knee = leg.inverse(np.array([x]), np.array([z]))
    q = np.zeros(N)
    q[leg.hip], q[leg.knee] = hip[0], knee[0]
    assert knee[0] >= 0.0
    found = feet(q)[0] - [leg.hip_x, leg.hip_z - TREE.contacts[0].radius]
    assert found == pytest.approx([x, z], abs=1e-9)


@given(reach=st.floats(0.41, 5.0), angle=st.floats(-1.2, 1.2))
def test_points_out_of_reach_are_pulled_in_along_their_direction(reach, angle):
    leg = REFERENCE.legs[1]
    hip, knee = leg.inverse(np.array([reach * np.sin(angle)]), np.array([-reach * np.cos(angle)]))
    assert np.isfinite(hip).all() and 0.0 < knee[0] < 0.3
    x = leg.thigh * np.sin(hip) + leg.shank * np.sin(hip + knee)
    z = -leg.thigh * np.cos(hip) - leg.shank * np.cos(hip + knee)
    assert np.arctan2(x, -z)[0] == pytest.approx(angle, abs=1e-9)


@pytest.mark.parametrize(("height", "speed"), [(0.15, 2.5), (0.36, -2.5)])
def test_extreme_settings_give_finite_references(height, speed):
    config = replace(CONFIG, height=height, pitch_amplitude=0.4, stance_inset=0.15, swing_retraction=0.15)
    assert np.isfinite(REFERENCE.states(TIMES, config, TrunkCommand(speed), LocalGround())).all()


def test_a_leg_that_is_no_straight_chain_is_refused():
    knee = TREE.contact("front_foot").body
    bent = replace(TREE.joints[knee], translation=np.array([0.05, 0.0, -0.2]))
    tree = replace(TREE, joints=(*TREE.joints[:knee], bent, *TREE.joints[knee + 1 :]))
    with pytest.raises(ModelError, match="front_foot"):
        PlanarLeg.of_tree(tree, "front_foot")


def test_foot_heights_rise_and_fall_in_swing_only():
    heights, swinging = REFERENCE.foot_heights(TIMES, CONFIG)
    for f, point in enumerate(TREE.contacts):
        stance = np.array([in_stance(time, point.name) for time in TIMES])
        assert (swinging[:, f] == ~stance).all()
        assert (heights[stance, f] == 0.0).all()
        assert (heights[~stance, f] > 0.0).all()
        assert heights[:, f].max() == pytest.approx(CONFIG.clearance, rel=1e-3)


@pytest.mark.parametrize(
    ("clearance", "up"), [(0.03, 0.5), (0.05, 0.5), (0.1, 0.5 ** (1.0 / 0.8)), (0.15, 0.5 ** (1.0 / 0.6))]
)
def test_high_swings_are_up_early_and_stay_up_until_the_middle(clearance, up):
    swing = REFERENCE.timing.all_phases(TIMES).progress[0]
    heights, swinging = REFERENCE.foot_heights(TIMES, replace(CONFIG, clearance=clearance))
    front = heights[:, 0] / clearance
    assert front[swinging[:, 0] & (np.abs(swing - up) < 0.02)] == pytest.approx(1.0, abs=0.02)
    assert (front[swinging[:, 0] & (swing > up) & (swing < 0.5)] > 0.9).all()
    late = swinging[:, 0] & (swing > 0.5)
    np.testing.assert_allclose(front[late], np.sin(np.pi * swing[late]) ** 2, atol=1e-12, err_msg="it comes down alike")


def test_the_mean_force_carries_the_weight_over_a_cycle():
    impulse = REFERENCE.mean_force * sum(end - start for start, end in STANCES.values())
    assert impulse == pytest.approx(TREE.mass * 9.81 * REFERENCE.sequence.period)


def test_weight_carrying_torques_hold_the_foot_force():
    """−Jᵀ F of the vertical mean force, by pinocchio's Jacobian, for the feet that are down; nothing for the others."""
    grid = knot_grid(REFERENCE.sequence, 0, 90, GAIT.step)
    xs = REFERENCE.states(grid.times, CONFIG, TrunkCommand(0.5), LocalGround())
    us = REFERENCE.weight_carrying_torques(grid, xs)
    for k in range(0, grid.n_nodes, 3):
        expected = np.zeros(N)
        pin.computeJointJacobians(MODEL, DATA, xs[k, :N])
        pin.updateFramePlacements(MODEL, DATA)
        for name in REFERENCE.sequence.modes[grid.modes[k]].contacts:
            frame = pin.getFrameJacobian(MODEL, DATA, MODEL.getFrameId(name), pin.LOCAL_WORLD_ALIGNED)
            if not grid.switches[k]:
                expected -= REFERENCE.mean_force * frame[2]
        assert us[k] == pytest.approx(expected[list(TREE.actuated)], abs=1e-9)
    assert np.abs(us).max() > 1.0


def test_where_both_pairs_land_together_the_trunk_keeps_its_pitch():
    reference = PlanarReference(TREE, GaitConfig(name="pronk"))
    xs = reference.states(TIMES, CONFIG, TrunkCommand(0.5), LocalGround(GROUND))
    assert np.abs(xs[:, 2]).max() == pytest.approx(0.0, abs=1e-12)
    assert np.abs(REFERENCE.states(TIMES, CONFIG, TrunkCommand(0.5), LocalGround(GROUND))[:, 2]).max() == pytest.approx(
        CONFIG.pitch_amplitude, rel=1e-3
    )
    impulse = len(TREE.contacts) * reference.mean_force * 0.16
    assert impulse == pytest.approx(TREE.mass * 9.81 * reference.sequence.period)


def test_the_schedule_is_the_bound():
    schedule = planar_schedule(GAIT, epoch=1.0)
    assert [mode.contacts for mode in schedule.modes] == [("back_foot",), (), ("front_foot",), ()]
    assert [mode.duration for mode in schedule.modes] == [0.08, 0.1, 0.08, 0.1]
    assert schedule.epoch == 1.0
    assert len({mode.name for mode in schedule.modes}) == 4


def test_kernels_agree_on_where_the_feet_are():
    """What the planner's compiled kernels call the height of a foot is what the reference put on the ground."""
    builder = ProblemBuilder(PLANAR, config_with())
    x = REFERENCE.states(np.array([0.021]), CONFIG, TrunkCommand(0.5), LocalGround())[0]
    positions, _ = builder.kernels.python("feet")(x[:N], level_parameters(2))
    assert positions.reshape(len(TREE.contacts), 2) == pytest.approx(feet(x[:N]), abs=1e-12)
