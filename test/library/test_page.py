"""docs/library.md: its code runs as it stands, its messages are those that one gets, and no public name is missing."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm import arm

import contact_ddp_ros
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.ocp.casadi_problem import casadi_problem
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.solution import Guess
from test.library.systems import X0, pendulum_terms
from test.ocp.pendulum import pendulum

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One block after the other, as one would type them."""
    (tmp_path / "leg.urdf").write_text(arm().replace('"tip"', '"foot"'), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = {"q": 0.3 * rng.normal(size=9), "v": rng.normal(size=9), "tau": rng.normal(size=2)}
    names["gamma"] = rng.normal(size=12)
    run = blocks("python")
    assert len(run) >= 5
    for block in run:
        exec(compile(block.replace("duration=5", "duration=1"), "library.md", "exec"), names)
    found, recording = names["found"], names["recording"]
    assert found.feasible and np.abs(found.us).max() <= 4.0
    assert found.cost == pytest.approx(19.8399, abs=1e-4), "IPOPT's optimum"
    assert str(found).startswith("CONVERGED after 22 iterations: cost 19.8399, ")
    assert found.xs[-1] == pytest.approx([np.pi, 0.0], abs=0.3)
    assert names["second"].qq.shape == (9, 9) and names["result"].policy is not None
    assert recording.info.parameters["planner"]["gait.name"] == "pronk"


def test_every_public_name_stands_on_it() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert named >= set(contact_ddp_ros.__all__)


def my_step(*_):
    return 0.0


def test_the_messages_are_those_that_one_gets() -> None:
    x, u, dynamics, running, end = pendulum_terms()
    problem, us = pendulum(), np.zeros((60, 1))
    mass = type(x).sym("mass")
    bad = us.copy()
    bad[0] = np.nan
    provoked = (
        lambda: DdpSolver().solve(problem, np.zeros(3), Guess.open_loop(X0, us)),
        lambda: DdpSolver().solve(problem, X0, Guess.open_loop(X0, bad)),
        lambda: replace(problem, parameters=problem.parameters.astype(np.float32)),
        lambda: replace(problem, step=my_step),
        lambda: casadi_problem(dynamics, running * mass, end, n_nodes=5, x=x, u=u),
    )
    shown = PAGE.split("## Errors")[1].split("```")[1].strip().splitlines()
    assert len(shown) == len(provoked)
    for line, cause in zip(shown, provoked):
        with pytest.raises(ContactDdpError) as caught:
            cause()
        assert str(caught.value) == line
