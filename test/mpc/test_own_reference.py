"""References of a user's own: what they change, and what is refused."""

import numpy as np
import pytest

from contact_ddp_ros import GaitHorizon, Reference
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.custom_term import configured_reference
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.ground import LocalGround
from test.mpc.support import MODEL, N, config_with, posture

HERE = "test.mpc.test_own_reference"
CONFIG = config_with()
PACKAGED = ProblemBuilder(MODEL, CONFIG)
GRID = knot_grid(PACKAGED.schedule, 0, 90, CONFIG.gait.step)
ROWS = PACKAGED.layout.rows
GROUND = LocalGround(0.1, 0.05)


class Same(Reference):
    """What the package wants."""

    name = "same"

    def states(self, horizon: GaitHorizon):
        return horizon.states


class Low(Reference):
    """Lower, with feet that swing higher, and heavier."""

    name = "low"

    def states(self, horizon: GaitHorizon):
        states = horizon.states.copy()
        states[:, horizon.column("base_z")] -= 0.04
        return states

    def clearances(self, horizon: GaitHorizon):
        return np.where(horizon.swinging, horizon.clearances + 0.01, 0.0)

    def forces(self, horizon: GaitHorizon):
        return 1.1 * horizon.forces


class Broken(Reference):
    """What the test says."""

    name = "broken"
    given = None

    def states(self, horizon: GaitHorizon):
        return self.given(horizon.states) if callable(self.given) else self.given


def built(own):
    return ProblemBuilder(MODEL, CONFIG, PACKAGED.kernels, own_reference=own).build(
        GRID, CONFIG, TrunkCommand(0.5), GROUND
    )


def test_the_packaged_reference_given_back_changes_nothing() -> None:
    (plain, xs), (same, own) = built(None), built(Same())
    assert (xs == own).all()
    assert (plain.node_parameters == same.node_parameters).all() and (plain.parameters == same.parameters).all()


def test_each_array_reaches_its_own_numbers() -> None:
    (plain, xs), (low, own) = built(None), built(Low())
    change = low.node_parameters - plain.node_parameters
    assert own - xs == pytest.approx(np.tile(-0.04 * (np.arange(2 * N) == 1), (len(xs), 1)))
    assert change[:, ROWS["states"]] == pytest.approx(own - xs)
    swinging = PACKAGED.horizon(GRID, CONFIG, TrunkCommand(0.5), GROUND).swinging
    assert change[:, ROWS["heights"]] == pytest.approx(np.where(swinging, 0.01, 0.0))
    assert low.node_parameters[:, ROWS["forces"]] == pytest.approx(1.1 * plain.node_parameters[:, ROWS["forces"]])
    for name in ("state_weights", "torque_weights", "force_weights", "height_weights"):
        assert (change[:, ROWS[name]] == 0.0).all()


def test_a_planner_follows_it() -> None:
    """The trunk of a plan sinks by about what the reference does."""
    heights = []
    for word in ("", f"{HERE}:Low"):
        config = config_with(own_reference=word)
        planner = Planner(MODEL, config)
        planner.reset(0.0)
        plan = planner.plan_coordinates(posture(planner.builder, config), 0.0, TrunkCommand(0.5))
        assert plan.policy is not None
        heights.append(plan.policy.states[-20:, 1].mean())
    assert 0.01 < heights[0] - heights[1] < 0.05


def test_it_is_fixed_while_a_planner_exists() -> None:
    planner = Planner(MODEL, CONFIG)
    with pytest.raises(ParameterError, match="fixed while the planner exists"):
        planner.configure(config_with(own_reference=f"{HERE}:Low"))


def test_gaits_that_come_later_keep_it() -> None:
    own = Low()
    builder = ProblemBuilder(MODEL, CONFIG, PACKAGED.kernels, own_reference=own)
    assert builder.along(builder.sequence).own_reference is own


def raises(states) -> None:
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((3, 14)), r"'broken' gives states of shape \(3, 14\); needed: \(95, 14\)"),
        (lambda states: states[:-1], r"states of shape \(94, 14\); needed: \(95, 14\)"),
        (lambda states: np.where(np.arange(95)[:, None] == 7, np.nan, states), r"states\[7, 0\] = nan at 0.028 s"),
        (lambda states: np.where(states == states, np.inf, states), r"states\[0, 0\] = inf at 0.000 s"),
        (None, r"gives states of shape \(\); needed"),
        ("high", "its states are no array of numbers"),
        (raises, "its states are no array of numbers: KeyError"),
    ],
)
def test_what_does_not_fit_is_refused(given, message) -> None:
    own = Broken()
    own.given = given
    with pytest.raises(ParameterError, match=message):
        built(own)


def test_a_coordinate_that_does_not_exist_is_named() -> None:
    horizon = PACKAGED.horizon(GRID, CONFIG, TrunkCommand(0.5), GROUND)
    assert horizon.column("base_pitch") == 2 and horizon.column("base_pitch", rate=True) == N + 2
    with pytest.raises(ParameterError, match="no coordinate is called 'trunk'; there are base_x, base_z"):
        horizon.column("trunk")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nowhere", "write module:Class or file.py:Class"),
        ("no_such_module:Low", "cannot be loaded: ModuleNotFoundError"),
        (f"{HERE}:TrunkCommand", "needed: a class derived from Reference"),
        (f"{HERE}:Reference", "cannot be made"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused(word, message) -> None:
    with pytest.raises(ParameterError, match=message):
        configured_reference(config_with(own_reference=word))


def test_none_is_named_by_default() -> None:
    assert configured_reference(CONFIG) is None
