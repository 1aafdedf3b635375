"""Unlike grounds under the feet of one plan: how a horizon has them, and where the feet land."""

from typing import Any

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.dynamics.contact import n_parameters
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.grounds import FootGrounds, GroundModel, planes_in
from contact_ddp_ros.mpc.horizon import horizon_grid
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.gaits.grid import KnotGrid, knot_grid
from contact_ddp_ros.robot.ground import FootHeights, Ground, LocalGround, TerrainEstimate
from contact_ddp_ros.robot.models.choice import model_of
from test.mpc.support import MODEL, ROBOT, config_with

PLANE = LocalGround(0.1, 0.2, -0.1)


def test_a_plane_is_under_all_feet_but_those_that_have_their_own() -> None:
    grounds = FootGrounds.named(("a", "b"), PLANE, {"b": LocalGround(-0.3, 0.0, 0.4)})
    assert grounds.planes.tolist() == [[0.1, -0.2, 0.1, 1.0], [-0.3, 0.0, -0.4, 1.0]]
    point = np.array([0.5, 2.0])
    assert grounds.heights_at(np.tile(point, (2, 1))) == pytest.approx([PLANE.height_at(*point), 0.5])
    rows = GroundModel(grounds=grounds, baumgarte_rate=7.0).rows(3)
    assert rows.shape == (3, n_parameters(2)) and (rows[:, 0] == 7.0).all() and (rows[:, 2:5] == [0.0, 0.0, 1.0]).all()
    padded = np.hstack([np.zeros((3, at.MODEL)), rows])
    assert (planes_in(padded, 2) == grounds.planes).all()
    with pytest.raises(ParameterError, match="'c'; the feet are a, b"):
        FootGrounds.named(("a", "b"), PLANE, {"c": PLANE})


def test_a_foot_stands_where_it_is_until_it_leaves_and_then_goes_over_to_where_it_lands() -> None:
    stance = np.array([[1, 0], [1, 0], [0, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    progress = np.array([[0.2, 0.2], [0.9, 0.4], [0.5, 0.5], [0.8, 0.1], [0.0, 0.5], [0.2, 0.1]])
    heights = FootHeights((0.03, -0.01), (-0.02, 0.04))
    found = FootGrounds.of_heights(LocalGround(1.0, 0.1), heights, stance, ~stance, progress)
    raised = found.heights - 1.0
    assert raised[:2, 0] == pytest.approx([0.03, 0.03]), "as it stands"
    assert raised[2, 0] == pytest.approx(0.03), "half way to lower ground"
    assert -0.02 < raised[3, 0] < raised[2, 0]
    assert raised[4:, 0] == pytest.approx([-0.02, -0.02]), "as it has landed, in later swings too"
    assert -0.01 < raised[0, 1] < raised[1, 1] < raised[2, 1] == pytest.approx(0.04), "half way to higher ground"
    assert raised[3:, 1] == pytest.approx([0.04] * 3)
    assert (found.slopes == [0.1, 0.0]).all() and found.slopes.shape == (6, 2, 2)


def test_a_foot_that_lands_at_the_first_node_stands_where_it_is() -> None:
    config = config_with()
    builder = ProblemBuilder(MODEL, config)
    grid = knot_grid(builder.schedule, 90, 90, config.gait.step, switch_at_start=True)
    assert grid.switches[0]
    heights = FootHeights((0.01, 0.02), (0.03, 0.04))
    problem, _ = builder.build(grid, config, TrunkCommand(0.5), LocalGround(), heights)
    found = planes_in(problem.node_parameters, 2)[..., 0]
    landing = problem.node_parameters[0, builder.layout.lands] > 0.0
    assert landing.any()
    assert found[0][landing] == pytest.approx(np.array(heights.standing)[landing])
    assert found[-1] == pytest.approx(heights.landing, abs=0.011)


def landings(planner: Planner, policy) -> list[tuple[str, np.ndarray, int]]:
    """Of every touchdown of a policy: the foot, its lowest point and the node."""
    feet, n_a = planner.builder.feet, planner.builder.n_axes
    kernel, p = planner.builder.kernels.python("feet"), np.zeros(n_parameters(len(feet)))
    stance = planner.builder.stance_table()[policy.modes]
    found = []
    for k in range(1, len(stance)):
        for f in np.flatnonzero(stance[k] & ~stance[k - 1]):
            points = kernel(policy.states[k][: planner.model.tree.n], p)[0].reshape(-1, n_a)
            found.append((feet[f], points[f], k))
    return found


@pytest.mark.parametrize(("model", "gait"), [("planar", "bound"), ("whole_body", "trot")])
def test_feet_land_on_the_grounds_that_are_given(model: str, gait: str) -> None:
    planner = Planner(model_of(model, ROBOT), for_model(config_with(gait__name=gait), model))
    planner.reset(0.0)
    grounds = {
        foot: Ground(height=0.01 * k, slope_x=0.05 * (-1) ** k) for k, foot in enumerate(planner.builder.feet, start=1)
    }
    found = []
    for time in (0.0, 0.1):
        for _ in range(6):
            result = planner.plan(ROBOT.standing_state(time), 0.4, grounds=grounds)
        assert result.policy is not None
        found += landings(planner, result.policy)
    assert {foot for foot, _, _ in found} == set(planner.builder.feet)
    for foot, point, _ in found:
        y = point[1] if len(point) == 3 else 0.0
        assert point[-1] == pytest.approx(grounds[foot].height_at(point[0], y), abs=2e-3), foot
    with pytest.raises(ParameterError, match="a ground is given for 'tail'"):
        planner.plan(ROBOT.standing_state(0.1), 0.4, grounds={"tail": Ground()})


def test_what_is_felt_under_single_feet_is_where_they_land() -> None:
    planner = Planner(MODEL, config_with())
    planner.reset(0.0)
    heights = FootHeights((0.0,) * 4, (0.02, 0.02, 0.0, 0.01))
    for _ in range(6):
        result = planner.plan(ROBOT.standing_state(), 0.4, felt=TerrainEstimate(Ground(), 0.0, heights))
    assert result.policy is not None
    wanted = dict(zip(planner.builder.feet, (0.02, 0.005), strict=True))
    assert MODEL.legs_of["front_foot"] == ("fr", "fl")
    for foot, point, _ in landings(planner, result.policy):
        assert point[-1] == pytest.approx(wanted[foot], abs=2e-3), "the mean of the pair"


@pytest.mark.parametrize(("roughness", "clearance"), [(0.0, 0.05), (0.01, 0.08), (1.0, 0.15)])
def test_feet_swing_higher_over_rough_ground(
    roughness: float, clearance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner = Planner(MODEL, config_with())
    planner.reset(0.0)
    used = []
    build = ProblemBuilder.build

    def seen(builder: ProblemBuilder, grid: KnotGrid, config: PlannerConfig, *rest: Any) -> Any:
        used.append(config.reference.clearance)
        return build(builder, grid, config, *rest)

    monkeypatch.setattr(ProblemBuilder, "build", seen)
    assert (
        planner.plan(ROBOT.standing_state(), 0.4, felt=TerrainEstimate(Ground(), roughness=roughness)).policy
        is not None
    )
    assert used == pytest.approx([clearance])


def test_the_horizon_grid_has_rows_for_every_node() -> None:
    config = config_with()
    builder = ProblemBuilder(MODEL, config)
    grid = horizon_grid(builder.sequence, config.gait.horizon_cycles, 0.013)
    problem, _ = builder.build(grid, config, TrunkCommand(0.5), PLANE, FootHeights((0.0, 0.0), (0.0, 0.0)))
    plain, _ = builder.build(grid, config, TrunkCommand(0.5), PLANE)
    assert (problem.node_parameters == plain.node_parameters).all()
