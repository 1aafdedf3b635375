"""Parts of the node functions that a problem has or lacks: their addresses, and what a process compiles."""

import subprocess
import sys

from contact_ddp_ros.mpc import optional_kernels as node_parts
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from test.mpc.support import MODEL, config_with


def linked(**parameters: object) -> set[str]:
    """The parts whose addresses a problem's header holds, all of them or none."""
    header, found = ProblemBuilder(MODEL, config_with(**parameters)).integers, set()
    for part, functions in node_parts._PARTS.items():
        present = {bool(header[slot]) for slot, _ in functions.values()}
        assert len(present) == 1
        found |= {part} if present == {True} else set()
    return found


def test_a_problem_has_the_parts_that_it_needs() -> None:
    assert linked() == set()
    assert linked(variant="ddp_tensor") == {node_parts.TENSOR}
    assert linked(gait__integrator="implicit_midpoint") == {node_parts.MIDPOINT}
    assert linked(horizon__far_model="rigid_body", horizon__near=0.18) == {node_parts.RIGID_BODY}


def test_a_planner_of_defaults_compiles_no_part() -> None:
    code = (
        "import sys; from contact_ddp_ros.robot.models.planar import PlanarModel\n"
        "from contact_ddp_ros.mpc import optional_kernels as parts; from contact_ddp_ros.mpc.planner import Planner\n"
        "from contact_ddp_ros.robot.load import load_robot; Planner(PlanarModel(load_robot()))\n"
        "print({f'contact_ddp_ros.mpc.{part}' for part in parts._PARTS} & sys.modules.keys() or 'none')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "none", done.stdout + done.stderr
