"""Kernels of all limbs at once: the numbers of the whole robot's own functions, for any feet on the ground."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.kernels import Modes, build_kernels, kernel_code, kernel_functions
from contact_ddp_ros.dynamics.leg_decomposition import trunk_and_limbs
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.dynamics.simd_kernels import Lanes
from contact_ddp_ros.robot.attitude import Chart, in_chart
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.robot.tree import Joint, RigidBodyTree

from .support import close, evaluate

Array = NDArray[np.float64]

AXES = (0, 1, 2)
ROBOT = load_robot().tree
FEET = tuple(point.name for point in ROBOT.contacts)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTACT_DDP_CACHE", str(tmp_path))


def with_joint(tree: RigidBodyTree, name: str, **changed: object) -> RigidBodyTree:
    joints = [replace(one, **changed) if one.name == name else one for one in tree.joints]  # type: ignore[arg-type]
    return replace(tree, joints=tuple(joints))


def assert_close(found: Sequence[Array], expected: Sequence[Array], name: str) -> None:
    for one, other in zip(found, expected, strict=True):
        assert close(one, other.reshape(one.shape), 1e-12), name


def assert_numbers_of_the_functions(tree: RigidBodyTree, modes: Modes) -> None:
    built = build_kernels(tree, modes, AXES, fallback=False)
    functions = {name: build() for name, (_, build) in kernel_functions(tree, modes, AXES).items()}
    rng = np.random.default_rng(3)
    for mode in modes:
        for prefix in ("", "impact_"):
            given = [rng.normal(size=block.rows) for block in built.kernel(f"{prefix}first/{mode}").arguments]
            q, v, _, p = given
            system = f"{prefix}system/{mode}"
            assert_close(built.python(system)(q, v, p), evaluate(functions[system], q, v, p), system)
            *first, shared = built.python(f"{prefix}first/{mode}")(*given)
            *own, own_shared = evaluate(functions[f"{prefix}first/{mode}"], *given)
            assert_close(first, own, f"{prefix}first/{mode}")
            xi = rng.normal(size=given[2].size)
            second = f"{prefix}second/{mode}"
            assert_close(built.python(second)(xi, shared), evaluate(functions[second], xi, own_shared), second)


def test_any_feet_in_any_order_of_legs_that_differ_in_their_numbers() -> None:
    """In the chart that is not the default one, whose kernels the planner's derivatives show."""
    tree = in_chart(ROBOT, Chart.YAW_ROLL_PITCH)
    heavier = with_joint(tree, "hl_knee_joint", mass=0.31, com=np.array([0.0, 0.0, -0.08]), armature=0.2)
    feet = tuple(replace(one, radius=0.01 + 0.001 * k) for k, one in enumerate(tree.contacts))
    unlike = replace(heavier, contacts=feet)
    assert "second" in kernel_code(unlike, {"all": FEET}, AXES)[0]
    modes = {"flight": (), "one": FEET[2:3], "pair": (FEET[3], FEET[0]), "all": FEET}
    assert_numbers_of_the_functions(unlike, modes)


def test_a_mode_more_costs_no_more_code() -> None:
    tree = ROBOT
    few, _ = kernel_code(tree, {"all": FEET}, AXES)
    many, _ = kernel_code(tree, {f"{k}": FEET[:k] for k in range(5)}, AXES)
    assert few.keys() == many.keys()
    assert sum(map(len, many.values())) < 1.1 * sum(map(len, few.values()))


def test_legs_of_another_build_have_kernels_of_their_own() -> None:
    """A knee about another axis: the graphs differ, which only shows when they are built."""
    tree = with_joint(ROBOT, "fl_knee_joint", axis=np.array([1.0, 0.0, 0.0]))
    modes = {"pair": FEET[:2]}
    assert Lanes.of(prepare(tree), AXES) is not None
    sources, _ = kernel_code(tree, modes, AXES)
    assert "second_0_1" in sources and "second" not in sources
    assert_numbers_of_the_functions(tree, modes)


def test_only_a_trunk_with_as_many_legs_as_a_vector_has_lanes_is_taken_apart() -> None:
    whole = ROBOT
    assert Lanes.of(prepare(reduce_to_plane(load_robot())), (0, 2)) is None
    tail = Joint("tail", "revolute", np.array([0.0, 1.0, 0.0]), 5, mass=0.1)
    bare_leg = replace(whole, contacts=whole.contacts[:3])
    for tree in (replace(whole, joints=(*whole.joints, tail)), bare_leg, replace(whole, contacts=())):
        assert trunk_and_limbs(prepare(tree)) == (0, ())
    n_trunk, limbs = trunk_and_limbs(prepare(whole))
    assert n_trunk == 6 and [limb.joints[6:] for limb in limbs] == [tuple(range(k, k + 3)) for k in (6, 9, 12, 15)]
    mass = sum(link.inertia.mass for limb in limbs for link in limb.mechanism.links)
    assert mass == pytest.approx(sum(joint.mass for joint in whole.joints))
