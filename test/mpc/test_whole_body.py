"""Plans of the whole body: what they pull towards, their derivatives, and plans from turned and shifted states."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import MessageError, ParameterError
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import MOST_TURN, PlannerConfig, ReferenceConfig, for_model
from contact_ddp_ros.mpc.custom_term import Reference
from contact_ddp_ros.mpc.governor import HeadingTracker
from contact_ddp_ros.mpc.grounds import FootGrounds
from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.mpc.planar_reference import PlanarReference
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.warm_start import heuristic_guess
from contact_ddp_ros.mpc.whole_body_reference import WholeBodyReference
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.derivatives import check_derivatives
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.ground import FootHeights, Ground, LocalGround, Payload, TerrainEstimate
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.model import HorizontalFrame
from contact_ddp_ros.robot.models.whole_body import BASE, HEIGHT, PITCH, ROLL, YAW, WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion, up_in_body
from contact_ddp_ros.robot.state import BodyPose, RobotState
from test.mpc.support import MODEL as PLANAR
from test.mpc.support import Watched, config_with

ROBOT = load_robot()
MODEL = WholeBodyModel(ROBOT)
N = MODEL.tree.n
CONFIG = ReferenceConfig()
GAIT = config_with(gait__name="trot").gait
REFERENCE = WholeBodyReference(MODEL.tree, GAIT)
TIMES = np.arange(0.0, 0.8, 0.004) + 0.001
"""Two cycles of the trot, off every switch."""
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
LEVEL = Ground()
PIN = pinocchio_model(MODEL.tree)
DATA = PIN.createData()


def soles(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each foot, lowest point (n_f, 3) [m] and velocity of its centre (n_f, 3) [m/s], by pinocchio."""
    pin.forwardKinematics(PIN, DATA, x[:N], x[N:])
    pin.updateFramePlacements(PIN, DATA)
    places, velocities = [], []
    for point in MODEL.tree.contacts:
        frame = PIN.getFrameId(point.name)
        places.append(DATA.oMf[frame].translation - [0.0, 0.0, point.radius])
        velocities.append(pin.getFrameVelocity(PIN, DATA, frame, pin.LOCAL_WORLD_ALIGNED).linear)
    return np.array(places), np.array(velocities)


def stands(time: float, foot: str) -> bool:
    first_half = time % 0.4 < 0.2
    return first_half if foot in ("fr_foot", "hl_foot") else not first_half


@pytest.mark.parametrize(
    "motion",
    [
        TrunkCommand(0.5),
        TrunkCommand(0.0, 0.3, heading=2.0),
        TrunkCommand(0.5, -0.2, 0.8, heading=-1.0),
        TrunkCommand(0.0, turn=1.0, x=3.0, y=-2.0),
        TrunkCommand(0.5, lean=0.1),
    ],
)
@pytest.mark.parametrize("ground", [LocalGround(0.03), LocalGround(0.0, 0.1, -0.07)])
def test_stance_feet_rest_on_the_ground_and_swing_feet_are_clear_of_it(
    motion: TrunkCommand, ground: LocalGround
) -> None:
    xs = REFERENCE.states(TIMES, CONFIG, motion, ground)
    for x, time in zip(xs, TIMES, strict=True):
        places, velocities = soles(x)
        for point, place, velocity in zip(MODEL.tree.contacts, places, velocities, strict=True):
            above = place[2] - ground.height_at(*place[:2])
            if stands(time, point.name):
                assert above == pytest.approx(0.0, abs=1e-9)
                assert np.abs(velocity).max() < 0.08, "but for what the turn bends, it stays where it is"
            else:
                assert 0.0 < above <= CONFIG.swing_retraction + 1e-9


def test_the_trunk_follows_the_command() -> None:
    motion = TrunkCommand(0.5, -0.2, 0.8, x=1.0, y=2.0, heading=0.3)
    xs = REFERENCE.states(TIMES, CONFIG, motion, LocalGround(0.1))
    heading = 0.3 + 0.8 * (TIMES - TIMES[0])
    assert xs[:, YAW] == pytest.approx(heading)
    assert xs[:, N + YAW] == pytest.approx(0.8)
    assert np.cos(heading) * xs[:, N] + np.sin(heading) * xs[:, N + 1] == pytest.approx(0.5)
    assert np.cos(heading) * xs[:, N + 1] - np.sin(heading) * xs[:, N] == pytest.approx(-0.2)
    assert xs[0, :2] == pytest.approx([1.0, 2.0])
    assert np.gradient(xs[:, 0], TIMES)[1:-1] == pytest.approx(xs[1:-1, N], abs=1e-3)
    assert xs[:, HEIGHT] == pytest.approx(0.1 + CONFIG.height)
    assert np.abs(xs[:, [PITCH, ROLL]]).max() < 1e-12, "diagonal pairs lift no nose"


def test_of_a_bound_it_is_that_of_the_plane() -> None:
    """Posture, forces and heights, with every pair's legs alike and the abductions at rest."""
    gait = config_with(gait__name="bound").gait
    planar, whole = PlanarReference(PLANAR.tree, gait), WholeBodyReference(MODEL.tree, gait)
    flat, wanted = planar.states(TIMES, CONFIG, TrunkCommand(0.7), LocalGround(0.02, 0.1)), []
    found = whole.states(TIMES, CONFIG, TrunkCommand(0.7), LocalGround(0.02, 0.1))
    for x in flat:
        positions, velocities = PLANAR.joint_state(x)
        wanted.append(np.concatenate([[x[0], 0.0, x[1], 0.0, x[2], 0.0], positions, [x[7], 0.0, x[8], 0.0, x[9], 0.0]]))
        wanted[-1] = np.concatenate([wanted[-1], velocities])
    np.testing.assert_allclose(found, np.array(wanted), atol=1e-6)
    assert whole.mean_force == pytest.approx(0.5 * planar.mean_force)
    (heights, _), (planar_heights, _) = whole.foot_heights(TIMES, CONFIG), planar.foot_heights(TIMES, CONFIG)
    np.testing.assert_array_equal(heights[:, [0, 2]], planar_heights)


@pytest.fixture(scope="module")
def builder() -> ProblemBuilder:
    return ProblemBuilder(MODEL, for_model(config_with(gait__name="trot"), "whole_body"))


def test_feet_that_carry_the_weight_hold_the_trunk(builder: ProblemBuilder) -> None:
    """With the mean forces on the feet and the torques of the guess the legs' joints are in balance, but for weight."""
    grid = knot_grid(builder.schedule, 0, 20, builder.config.gait.step)
    xs = builder.reference.states(grid.times, builder.config.reference, TrunkCommand(0.0), LocalGround())
    us = builder.reference.weight_carrying_torques(grid, xs)
    force = np.array([0.0, 0.0, builder.reference.mean_force])
    down = builder.stance_table()[grid.modes]
    for x, u, stance in zip(xs, us, down, strict=False):
        if not u.any():
            continue
        pin.computeJointJacobians(PIN, DATA, x[:N])
        pin.updateFramePlacements(PIN, DATA)
        pushed = np.zeros(N)
        for point in np.array(MODEL.tree.contacts, dtype=object)[stance]:
            jacobian = pin.getFrameJacobian(PIN, DATA, PIN.getFrameId(point.name), pin.LOCAL_WORLD_ALIGNED)
            arm = np.cross(jacobian[3:].T, [0.0, 0.0, -point.radius]).T
            pushed += (jacobian[:3] + arm).T @ force
        np.testing.assert_allclose(u, -pushed[6:], atol=1e-9)


def test_derivatives_are_exact_along_a_turning_trot(builder: ProblemBuilder) -> None:
    """Stance, touchdown of a pair with its heights, on unlike slopes, first and second order against differences."""
    config = builder.config
    grid = knot_grid(builder.schedule, 0, 40, config.gait.step)
    ground, slopes = LocalGround(0.01, 0.05, -0.04), [(0.1, -0.2), (0.0, 0.3), (-0.1, 0.0), (0.2, 0.2)]
    own = {
        foot: LocalGround(0.01 * k, *slope) for k, (foot, slope) in enumerate(zip(builder.feet, slopes, strict=True))
    }
    feet = FootGrounds.named(builder.feet, ground, own)
    problem, xs = builder.build(grid, config, TrunkCommand(0.5, 0.2, 1.0, heading=0.7), ground, feet)
    penalty = [1e3, 0.1, 0.05]
    guess = heuristic_guess(builder, grid, xs, config.first_guess)
    solution = DdpSolver().solve(problem, xs[0], guess, penalty=penalty, max_iterations=3)
    switch = int(np.flatnonzero(~problem.has_control)[0])
    nodes = [0, switch - 1, switch, switch + 1, problem.n_nodes]
    report = check_derivatives(problem, solution.xs, solution.us, nodes=nodes, penalty=penalty)
    assert report.ok, str(report)


def least_impulse(impulse_time: float) -> float:
    """Of all touchdowns in the plan of a bound that rolls at 9 rad/s in flight the least, upwards [N s]."""
    values = {"gait__name": "bound", "constraint__impulse_time": impulse_time}
    planner = Planner(MODEL, for_model(config_with(**values), "whole_body"))
    planner.reset(0.0)
    watched = Watched(planner)
    planner.plan(replace(ROBOT.standing_state(0.1), angular_velocity=np.array([9.0, 0.0, 0.0])), 0.0)
    problem, solution = watched.problems[-1], watched.solutions[-1]
    modes, kinds = problem.node_integers.T
    found = []
    for k in np.flatnonzero(kinds == at.TOUCHDOWN):
        n_c = len(planner.builder.schedule.modes[modes[k + 1]].contacts)
        found.append(solution.aux[k, N : N + 3 * n_c].reshape(n_c, 3)[:, 2].min())
    return min(found)


def test_the_fastest_speed_is_where_stances_end_with_a_straight_leg() -> None:
    """Of the walk, with stances of 0.6 s, and of the trot, of 0.2 s; feet are where the reference has them up to it."""
    config = replace(CONFIG, stance_inset=0.0)
    leg, height = 0.209 + 0.195, config.height - 0.0175
    for gait, stance in (("walk", 0.6), ("trot", 0.2)):
        reference = WholeBodyReference(MODEL.tree, config_with(gait__name=gait).gait)
        fastest = reference.fastest(config)
        assert fastest == pytest.approx(2.0 * math.sqrt(leg**2 - height**2) / stance, rel=0.01)
        times = np.arange(0.0, 0.8, 0.01) + 0.001
        for speed, reached in ((0.98 * fastest, True), (1.1 * fastest, False)):
            xs = reference.states(times, config, TrunkCommand(speed), LocalGround())
            heights = np.array([soles(x)[0][:, 2] for x in xs])
            standing = heights[~reference.timing.all_phases(times).swinging.T]
            assert np.allclose(standing, 0.0, atol=1e-9) == reached


def test_a_command_that_is_too_fast_for_the_gait_is_cut() -> None:
    config = for_model(config_with(gait__name="walk", reference__acceleration=20.0), "whole_body")
    planner = Planner(MODEL, config)
    planner.reset(0.0)
    for time in (0.0, 0.1, 0.2):
        policy = planner.plan(ROBOT.standing_state(time), 3.0, lateral=-3.0).policy
    assert policy is not None
    assert np.abs(policy.states[:, N : N + 2]).max() < 1.4, "uncut it is 1.74"


def standing_planner(**changes: object) -> Planner:
    planner = Planner(MODEL, for_model(config_with(gait__name="stand", **changes), "whole_body"))
    planner.reset(0.0)
    return planner


def test_feet_that_never_leave_the_ground_go_nowhere() -> None:
    reference = standing_planner().builder.reference
    assert reference.fastest(CONFIG) == 0.0
    costs = []
    for command in ((0.0, 0.0, 0.0), (1.0, 0.5, -2.0)):
        planner = standing_planner()
        costs.append(planner.plan(ROBOT.standing_state(), command[0], lateral=command[1], turn=command[2]).cost)
    assert costs[0] == costs[1]


def test_what_is_told_of_the_body_is_approached_and_cut() -> None:
    planner = standing_planner(reference__tilt_rate=1.0, reference__height_rate=0.1)
    references = []
    original = planner.plan_coordinates

    def seen(*arguments: Any, **options: Any) -> PlanResult:
        references.append((arguments[3].reference.height, arguments[2].lean, arguments[2].pitch))
        return original(*arguments, **options)

    planner.plan_coordinates = seen  # type: ignore[method-assign]
    for time in (0.0, 0.05, 0.1):
        planner.plan(ROBOT.standing_state(time), 0.0, pose=BodyPose(0.9, -0.1, 2.0))
    start, rate = CONFIG.height, planner.config.reference.height_rate
    assert [height for height, _, _ in references] == pytest.approx([start + rate * time for time in (0.0, 0.05, 0.1)])
    assert [pitch for _, _, pitch in references] == pytest.approx([0.0, 0.05, 0.1])
    assert references[1][1] == pytest.approx(-0.05, abs=0.01)
    planner.plan(ROBOT.standing_state(9.0), 0.0, pose=BodyPose(0.9, 0.0, 0.0))
    assert references[-1][0] == 0.36 and references[-1][2] == 0.0
    told = planner.plan(ROBOT.standing_state(15.0), 0.0, pose=BodyPose(0.9, 0.0, 2.0)).cut
    assert references[-1][0] < 0.32 and references[-1][2] == 0.3, (
        "a tilted trunk's higher hips are as high as a level one's"
    )
    assert "reach of the legs" in told
    planner.plan(ROBOT.standing_state(20.0), 0.0, pose=BodyPose(None, 0.0, 0.0))
    assert references[-1][0] == pytest.approx(CONFIG.height) and references[-1][2] == 0.0
    with pytest.raises(MessageError, match=r"\(0.2, nan, 0.0\); allowed: finite numbers"):
        BodyPose(0.2, float("nan"))


def test_the_reference_tilts_and_the_feet_stay_on_the_ground() -> None:
    planner = standing_planner()
    reference, geometry = planner.builder.reference, LegGeometry.from_tree(MODEL.tree, planner.builder.feet)
    motion = TrunkCommand(0.0, lean=0.2, pitch=-0.25)
    (state,) = reference.states(np.array([0.1]), CONFIG, motion, LocalGround())
    assert state[[HEIGHT, PITCH, ROLL]] == pytest.approx([CONFIG.height, -0.25, 0.2])
    attitude = rpy_to_quaternion(0.2, -0.25, 0.0)
    lowest, _ = geometry.points_and_jacobians(state[6:N], -up_in_body(attitude))
    assert (lowest @ quaternion_to_matrix(attitude).T)[:, 2] == pytest.approx(np.full(4, -CONFIG.height), abs=1e-9)


def test_touchdowns_do_not_pull() -> None:
    """The foot of the side that rises would be held by the ground, and stop the roll."""
    assert least_impulse(0.0) < -0.5
    assert least_impulse(0.01) > -1e-3


@pytest.mark.parametrize("gait", ["bound", "walk"])
def test_derivatives_of_impulses_near_their_limit_are_exact(gait: str) -> None:
    """Of feet that rise as they land, on ground that leans; in the walk others stand meanwhile."""
    config = for_model(config_with(gait__name=gait), "whole_body")
    builder = ProblemBuilder(MODEL, config)
    grid = knot_grid(builder.schedule, 0, 40, config.gait.step)
    problem, xs = builder.build(grid, config, TrunkCommand(0.5), LocalGround(0.0, 0.1, -0.2))
    xs = np.array(xs)
    xs[:, N:] += 0.3 * np.random.default_rng(1).standard_normal(xs[:, N:].shape)
    lands = np.flatnonzero(problem.node_integers[:, at.NODE_KIND] == at.TOUCHDOWN)
    assert len(lands) > 1
    us = np.zeros((problem.n_nodes, problem.n_u))
    report = check_derivatives(problem, xs, us, nodes=lands.tolist(), penalty=[1e3, 0.5, 0.3])
    assert report.ok, str(report)


def standing(yaw: float, x: float, y: float, time: float = 0.0) -> RobotState:
    rest = ROBOT.standing_state(time)
    return RobotState(
        time,
        np.array([x, y, rest.position[2]]),
        rpy_to_quaternion(0.0, 0.0, yaw),
        np.zeros(3),
        np.zeros(3),
        rest.joint_positions,
        rest.joint_velocities,
    )


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner(MODEL, for_model(config_with(gait__name="trot"), "whole_body"))


def test_what_nobody_can_follow_is_cut_and_told(planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ahead, to the left and around together: within speed, friction and the reach of legs, also on the way there."""
    planned, plan = [], planner.plan_coordinates

    def watched(x0: np.ndarray, time: float, motion: TrunkCommand, *rest: Any, **options: Any) -> PlanResult:
        planned.append(motion)
        return plan(x0, time, motion, *rest, **options)

    monkeypatch.setattr(planner, "plan_coordinates", watched)
    planner.reset(0.0)
    for k in range(150):
        result = planner.plan(standing(0.0, 0.0, 0.0, 0.02 * k), 2.0, lateral=50.0, turn=70.0, iterations=1)
    speeds = np.array([math.hypot(one.forward, one.lateral) for one in planned])
    turns = np.array([one.turn for one in planned])
    reference = planner.config.reference
    assert speeds.max() <= reference.speed_limit + reference.line_speed
    assert (
        speeds * turns
    ).max() <= 9.81 * reference.turn_friction * planner.config.ground.friction + reference.line_speed * MOST_TURN
    assert turns[-1] > 0.5 < speeds[-1], "both are followed"
    assert "50 m/s to the left" in result.cut
    assert not planner.plan(standing(0.0, 0.0, 0.0, 3.01), 0.5).cut


@pytest.mark.parametrize("place", [(0.3, 3.0, -2.0), (2.5, -1.0, 0.5), (-3.1, 0.0, 7.0), (math.pi, 1.0, 1.0)])
def test_plans_do_not_depend_on_place_and_heading(planner: Planner, place: tuple[float, float, float]) -> None:
    """On a slope that turns with the robot; of warm starts from plans of other places and headings, too."""
    plans = []
    for yaw, x, y in ((0.0, 0.0, 0.0), place):
        planner.reset(0.0)
        slope = 0.1 * np.array([math.cos(yaw + 1.0), math.sin(yaw + 1.0)])
        felt = TerrainEstimate(Ground(0.02 - float(slope @ (x, y)), slope_x=float(slope[0]), slope_y=float(slope[1])))
        ahead, left = np.array([math.cos(yaw), math.sin(yaw)]), np.array([-math.sin(yaw), math.cos(yaw)])
        for k in range(4):
            at = np.array([x, y]) + 0.01 * k * (0.4 * ahead + 0.1 * left)
            state = standing(yaw + 0.01 * k, *at.tolist(), 0.02 * k)
            result = planner.plan(state, 0.5, lateral=0.1, turn=0.5, hold=k == 0, felt=felt)
            assert result.policy is not None
        plans.append(result)
    here, there = plans
    assert there.cost == pytest.approx(here.cost, rel=1e-9)
    turned = HorizontalFrame(place[1], place[2], place[0], YAW).policy_into(there.policy)
    for name in ("times", "states", "controls", "forces"):
        np.testing.assert_allclose(getattr(turned, name), getattr(here.policy, name), rtol=1e-7, atol=1e-7)
    gains = here.policy.gains
    np.testing.assert_allclose(turned.gains, gains, rtol=0.0, atol=1e-7 * np.abs(gains).max())


def test_second_order_takes_no_more_iterations_than_gauss_newton(builder: ProblemBuilder) -> None:
    config = builder.config
    grid = knot_grid(builder.schedule, 0, 40, config.gait.step)
    problem, xs = builder.build(grid, config, TrunkCommand(0.5))
    guess, x0 = heuristic_guess(builder, grid, xs, config.first_guess), MODEL.state(ROBOT.standing_state())
    costs, iterations = {}, {}
    for variant in ("ddp", "ilqr"):
        solver = DdpSolver(SolverOptions(variant=variant))
        found = solver.solve(problem, x0, guess, penalty=builder.penalty(config))
        assert found.termination.name == "CONVERGED"
        costs[variant], iterations[variant] = found.cost, len(found.iterations)
    assert costs["ddp"] == pytest.approx(costs["ilqr"], rel=1e-6), "the same optimum"
    assert iterations["ddp"] <= iterations["ilqr"]


@pytest.mark.parametrize(
    "command", [{"lateral": math.nan}, {"turn": math.inf}, {"speed": "fast"}, {"turn": np.ones(2)}]
)
def test_commands_that_are_no_finite_numbers_are_refused(planner: Planner, command: dict[str, Any]) -> None:
    with pytest.raises(MessageError, match="allowed: a finite number"):
        planner.plan(standing(0.0, 0.0, 0.0), **{"speed": 0.5, **command})


def test_the_ground_under_some_feet_only_is_refused(planner: Planner) -> None:
    with pytest.raises(MessageError, match="allowed: 4 heights each"):
        planner.plan(standing(0.0, 0.0, 0.0), 0.5, felt=TerrainEstimate(feet=FootHeights((0.0, 0.0), (0.0, 0.0))))


def standing_at(x: np.ndarray, velocity: np.ndarray, turn: float) -> RobotState:
    """The state with coordinates x that moves so in the trunk's axes [m/s], turning about its z axis [rad/s]."""
    joints = x[BASE:N]
    return RobotState(0.0, x[:3], UPRIGHT, velocity, np.array([0.0, 0.0, turn]), joints, np.zeros_like(joints))


@pytest.mark.parametrize("velocity", [(3.5, 0.0), (0.0, -3.0), (2.5, 2.0), (-3.2, 0.0)])
@pytest.mark.parametrize("turn", [0.0, 1.0])
def test_a_stance_that_outlasts_its_leg_is_over_sooner(velocity: tuple[float, float], turn: float) -> None:
    """Until then the trunk moves on over feet that stay; the longest leg is nearly straight at the end."""
    time, ends = 0.05, 0.2
    x = REFERENCE.states(np.array([time]), CONFIG, TrunkCommand(0.5), LocalGround(0.0))[0]
    overstay = REFERENCE.overstay(standing_at(x, np.array([*velocity, 0.0]), turn), time)
    assert 0.0 < overstay < ends - time
    legs, joints = REFERENCE._legs, x[BASE:N]
    feet, _ = legs.points_and_jacobians(joints, np.zeros(3))
    left = ends - time - overstay
    lengths, straight = [], []
    for foot, origin, chain, last in zip(feet, legs.translations[:, 0], legs.translations, legs.feet, strict=True):
        moved = np.array([*velocity, 0.0]) + np.cross([0.0, 0.0, turn], foot)
        lengths.append(np.linalg.norm(foot - origin - moved * left))
        straight.append(np.linalg.norm(chain[1] + chain[2] + last))
    stand = [stands(time, point.name) for point in MODEL.tree.contacts]
    shares = (np.array(lengths) / straight)[stand]
    assert shares.max() == pytest.approx(0.98, abs=1e-6)


@pytest.mark.parametrize("speed", [-1.0, 0.0, 0.5, 1.5, 2.5])
def test_stances_of_a_steady_trot_are_within_the_reach_of_the_legs(speed: float) -> None:
    xs = REFERENCE.states(TIMES, CONFIG, TrunkCommand(speed), LocalGround(0.0))
    for x, time in zip(xs, TIMES, strict=True):
        assert REFERENCE.overstay(standing_at(x, np.array([speed, 0.0, 0.0]), 0.0), time) == 0.0


def test_feet_that_stand_for_good_outlast_nothing() -> None:
    stand = WholeBodyReference(MODEL.tree, config_with(gait__name="stand").gait)
    x = stand.states(np.zeros(1), CONFIG, TrunkCommand(0.0), LocalGround(0.0))[0]
    assert stand.overstay(standing_at(x, np.array([5.0, 0.0, 0.0]), 0.0), 0.0) == 0.0


@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_the_gait_of_a_pushed_robot_runs_faster_and_keeps_its_beginning(speed: float) -> None:
    """By as much as it may within a period of the planner; an undisturbed one keeps its pace."""
    planner = Planner(MODEL, for_model(config_with(gait__name="trot"), "whole_body"))
    planner.reset(0.0)
    planner.plan(standing(0.0, 0.0, 0.0), 0.0)
    for k in range(1, 4):
        state = replace(standing(0.0, 0.0, 0.0, 0.05 + 0.01 * k), linear_velocity=np.array([speed, 0.0, 0.0]))
        policy = planner.plan(state, 0.0).policy
        assert policy is not None
    switch = policy.times[np.flatnonzero(np.diff(policy.modes))[0] + 1]
    pace = planner.config.reference.hurry if speed else 0.0
    assert switch == pytest.approx(0.2 - 3 * 0.01 * pace, abs=1e-6)
    assert planner.gait_start == pytest.approx(0.0)


class TestCourse:
    def test_a_robot_that_is_held_goes_straight_ahead_from_where_it_is(self) -> None:
        course = HeadingTracker()
        motion = course.follow(standing(1.0, 2.0, 3.0), TrunkCommand(0.5, 0.3, 1.0), LEVEL, CONFIG, hold=True)
        assert motion == TrunkCommand(0.5, heading=pytest.approx(1.0))

    def test_the_heading_turns_as_commanded_and_waits_for_a_robot_that_does_not(self) -> None:
        course = HeadingTracker()
        course.follow(standing(0.0, 0.0, 0.0), TrunkCommand(0.0), LEVEL, CONFIG, hold=True)
        for k in range(1, 21):
            motion = course.follow(
                standing(0.0, 0.0, 0.0, 0.01 * k), TrunkCommand(0.0, turn=1.0), LEVEL, CONFIG, hold=False
            )
        assert motion.heading == pytest.approx(0.2)
        for k in range(21, 200):
            motion = course.follow(
                standing(0.0, 0.0, 0.0, 0.01 * k), TrunkCommand(0.0, turn=1.0), LEVEL, CONFIG, hold=False
            )
        assert motion.heading == pytest.approx(0.5, abs=0.02)

    def test_it_leads_back_to_the_line(self) -> None:
        course = HeadingTracker()
        course.follow(standing(0.5 * math.pi, 0.0, 0.0), TrunkCommand(0.5), LEVEL, CONFIG, hold=True)
        right = course.follow(standing(0.5 * math.pi, 0.1, 4.0, 0.01), TrunkCommand(0.5), LEVEL, CONFIG, hold=False)
        assert right.lateral == pytest.approx(0.1 * CONFIG.line_gain), "it is right of a line to the north"
        far = course.follow(standing(0.5 * math.pi, -9.0, 4.0, 0.02), TrunkCommand(0.5), LEVEL, CONFIG, hold=False)
        assert far.lateral == pytest.approx(-CONFIG.line_speed)

    def test_a_roll_that_lasts_is_made_up_for_against_the_ground_s_within_bounds(self) -> None:
        course, ground = HeadingTracker(), Ground(slope_y=0.1)
        leans = []
        for k in range(300):
            state = standing(0.0, 0.0, 0.0, 0.01 * k)
            leans.append(course.follow(state, TrunkCommand(0.0), ground, CONFIG, hold=k == 0).lean)
        assert leans[0] == 0.0
        assert leans[10] == pytest.approx(0.1 * CONFIG.roll_integral * math.atan(0.1), rel=1e-6)
        assert leans[-1] == CONFIG.roll_trim
        assert course.follow(standing(0.0, 0.0, 0.0, 4.0), TrunkCommand(0.0), ground, CONFIG, hold=True).lean == 0.0

    def test_the_velocity_begins_near_the_robots_and_goes_to_the_commanded(self) -> None:
        course, north = HeadingTracker(), standing(0.5 * math.pi, 0.0, 0.0)
        course.follow(north, TrunkCommand(0.5), LEVEL, CONFIG, hold=True)
        pushed = replace(north, time=0.01, linear_velocity=np.array([0.8, -0.6, 0.1]))
        motion = course.follow(pushed, TrunkCommand(0.5), LEVEL, CONFIG, hold=False)
        forward, lateral = motion.velocities(np.array([0.0, CONFIG.settling, 100.0]))
        short = math.hypot(0.3, 0.6) - CONFIG.settling_band
        ahead, left = short * np.array([0.3, -0.6]) / math.hypot(0.3, 0.6)
        assert forward == pytest.approx([0.5 + ahead, 0.5 + ahead * math.exp(-1.0), 0.5])
        assert lateral == pytest.approx([left, left * math.exp(-1.0), 0.0], abs=1e-9)

    def test_a_lasting_error_that_is_made_up_for_is_no_excess(self) -> None:
        course = HeadingTracker()
        course.follow(standing(0.0, 0.0, 0.0), TrunkCommand(0.5), LEVEL, CONFIG, hold=True)
        fast = replace(standing(0.0, 0.0, 0.0, 0.01), linear_velocity=np.array([0.9, 0.0, 0.0]))
        motion = course.follow(fast, TrunkCommand(0.5 - 0.3), LEVEL, CONFIG, hold=False, speed_trim=-0.3)
        forward, _ = motion.velocities(np.array([0.0, 100.0]))
        assert forward == pytest.approx([0.2 + 0.4 - CONFIG.settling_band, 0.2])

    def test_a_push_is_followed_beyond_the_limit_of_commands_within_the_reach_of_steps(self) -> None:
        course, limit = HeadingTracker(), CONFIG.speed_limit
        course.follow(standing(0.0, 0.0, 0.0), TrunkCommand(limit), LEVEL, CONFIG, hold=True)
        pushed = replace(standing(0.0, 0.0, 0.0, 0.01), linear_velocity=np.array([limit + 2.0, -4.0, 0.0]))
        motion = course.follow(pushed, TrunkCommand(limit), LEVEL, CONFIG, hold=False, reach=limit + 0.6)
        forward, lateral = motion.velocities(np.array([0.0, 100.0]))
        assert forward == pytest.approx([limit + 0.6, limit])
        assert lateral == pytest.approx([-limit - 0.6, 0.0])

    @pytest.mark.parametrize(("speed", "turn"), [(1.6, 2.0), (3.2, 1.1)])
    def test_a_robot_that_is_faster_than_commanded_turns_no_faster_than_feet_hold(
        self, speed: float, turn: float
    ) -> None:
        course, command = HeadingTracker(), TrunkCommand(1.5, turn=-2.0)
        course.follow(standing(0.0, 0.0, 0.0), command, LEVEL, CONFIG, hold=True)
        velocity = np.array([speed + CONFIG.settling_band, 0.0, 0.0])
        pushed = replace(standing(0.0, 0.0, 0.0, 0.01), linear_velocity=velocity)
        motion = course.follow(pushed, command, LEVEL, CONFIG, hold=False, centripetal=3.52)
        assert (motion.turn, motion.heading) == pytest.approx((-turn, -0.01 * turn))

    @pytest.mark.parametrize("change", [{"settling": 0.0}, {"settling_band": 0.7}])
    def test_an_error_within_the_band_is_corrected_at_once(self, change: dict[str, float]) -> None:
        course, config = HeadingTracker(), replace(CONFIG, **change)
        course.follow(standing(0.0, 0.0, 0.0), TrunkCommand(0.5), LEVEL, config, hold=True)
        pushed = replace(standing(0.0, 0.0, 0.0, 0.01), linear_velocity=np.array([0.8, -0.6, 0.1]))
        motion = course.follow(pushed, TrunkCommand(0.5), LEVEL, config, hold=False)
        assert motion.velocities(np.zeros(1)) == (pytest.approx([0.5]), pytest.approx([0.0], abs=1e-9))

    def test_a_sideways_command_moves_the_line(self) -> None:
        course = HeadingTracker()
        course.follow(standing(0.0, 0.0, 0.0), TrunkCommand(0.0), LEVEL, CONFIG, hold=True)
        for k in range(1, 101):
            state = standing(0.0, 0.0, 0.003 * k, 0.01 * k)
            motion = course.follow(state, TrunkCommand(0.0, 0.3), LEVEL, CONFIG, hold=False)
        assert motion.lateral == pytest.approx(0.3, abs=1e-9), "it is where the line has gone"


def test_the_default_step_is_the_models() -> None:
    assert for_model(PlannerConfig(), "whole_body") == PlannerConfig()
    assert PlannerConfig().gait.step == 0.01
    assert for_model(PlannerConfig(), "planar").gait.step == 0.004
    assert Planner(PLANAR).config == for_model(PlannerConfig(), "planar")


class Sidestep(Reference):
    """A quarter of a metre per second to the left, whatever was commanded."""

    name = "sidestep"

    def states(self, horizon: GaitHorizon) -> np.ndarray:
        states = horizon.states.copy()
        states[:, horizon.column("base_y", rate=True)] += 0.25
        return states


def test_a_reference_of_ones_own_moves_the_whole_body() -> None:
    """In the frame along the heading, so that left is left of the robot."""
    lateral = []
    for word in ("", "test.mpc.test_whole_body:Sidestep"):
        config = config_with(gait__name="trot", own_reference=word)
        planner = Planner(MODEL, for_model(config, "whole_body"))
        planner.reset(0.0)
        result = planner.plan(standing(1.0, 2.0, 3.0, 0.0), 0.0)
        assert result.policy is not None
        velocity = result.policy.states[:, N : N + 2].mean(axis=0)
        lateral.append(float(-math.sin(1.0) * velocity[0] + math.cos(1.0) * velocity[1]))
    packaged, own = lateral
    assert 0.05 < own - packaged < 0.25


def test_a_payload_that_is_felt_counts_more_than_the_configured_one_and_is_carried() -> None:
    def lift(configured: float, felt: TerrainEstimate) -> float:
        planner = Planner(
            MODEL, for_model(config_with(gait__name="trot", payload__mass=configured, iterations=20), MODEL.name)
        )
        planner.reset(0.0)
        result = planner.plan(standing(0.0, 0.0, 0.0), 0.0, felt=felt)
        assert result.policy is not None
        return float(result.policy.forces[:, 2::3].sum(axis=1).mean())

    alone = lift(0.0, TerrainEstimate())
    for configured, felt in (
        (3.0, TerrainEstimate()),
        (0.0, TerrainEstimate(payload=Payload(3.0))),
        (20.0, TerrainEstimate(payload=Payload(3.0))),
    ):
        assert lift(configured, felt) / alone == pytest.approx(1.0 + 3.0 / ROBOT.mass, rel=0.05)


def test_a_payload_that_takes_more_than_the_trunk_weighs_is_refused() -> None:
    words = r"payload.mass is -4 kg; allowed: more than -3.52 kg"
    light = for_model(config_with(payload__mass=-4.0), MODEL.name)
    with pytest.raises(ParameterError, match=words):
        Planner(MODEL, light)
    planner = Planner(MODEL, for_model(PlannerConfig(), MODEL.name))
    with pytest.raises(ParameterError, match=words):
        planner.configure(light)
    planner.reset(0.0)
    with pytest.raises(ParameterError, match=words):
        planner.plan(standing(0.0, 0.0, 0.0), 0.0, felt=TerrainEstimate(payload=Payload(-4.0)))
