"""Classical optimal control problems of textbooks, collections and other solvers' examples, in their original units.

`data/classical.yaml` holds them as continuous problems. Here they get a uniform grid: Runge-Kutta steps of order four,
constant controls, running costs by rectangles. A free final time is a state that the first control sets.

Sources: Bryson and Ho (1975); Betts (2010); COPS 3 (Dolan, Moré, Munson 2004); BOCOP's examples; Luus (2000); Lenhart
and Workman (2007); Tassa et al. (2014); examples of CasADi, acados, Crocoddyl, Altro, GPOPS-II and PSOPT.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import casadi as ca
import numpy as np
import yaml

from benchmarks.suite.formulation import Array, Formulation, Instance

_MARGIN = 0.02
"""Share of a range that first controls keep off its bounds."""


@cache
def problems() -> Mapping[str, Mapping[str, Any]]:
    """The problems' texts by name."""
    text = resources.files(__package__).joinpath("data", "classical.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return found


def instance(name: str, seed: int) -> Instance:
    """A problem with first controls of a seed, uniform about the published or a neutral one."""
    built = _built(name)
    formulation, (low, up) = built.formulation, built.bounds
    shape = (formulation.n_nodes, built.start.size)
    drawn = built.start + built.spread * np.random.default_rng(seed).uniform(-1.0, 1.0, shape)
    inside = np.where(np.isfinite(up - low), _MARGIN * (up - low), 0.0)
    return Instance(formulation, built.parameters, low, up, built.x0, np.clip(drawn, low + inside, up - inside))


@dataclass(frozen=True)
class _Built:
    """A formulation, its parameters, initial state, (2, n_u) bounds, and first controls with their spread (n_u,)."""

    formulation: Formulation
    parameters: Array
    x0: Array
    bounds: Array
    start: Array
    spread: Array


class _Text:
    """A problem's text: numbers and expressions of it."""

    def __init__(self, text: Mapping[str, Any]) -> None:
        self._text = text
        functions = ("sin", "cos", "tan", "exp", "log", "sqrt", "sumsqr", "vertcat", "fmax")
        self._names = {name: getattr(ca, name) for name in functions}
        self._names |= {"ca": ca, "np": np, "pi": np.pi, "inf": np.inf, "normal": _normal}

    def number(self, key: str, default: Any = None) -> Any:
        """A number, or a sequence of some."""
        given = self._text.get(key, default)
        return eval(f"({given})", self._names) if isinstance(given, str) else given

    def column(self, key: str, **symbols: Any) -> ca.SX:
        """Expressions of the symbols as a column, an empty one where there are none."""
        if key not in self._text:
            return ca.SX(0, 1)
        names = self._names | symbols
        exec(self._text.get("let", "") if key == "rhs" else "", names)
        found = eval(f"({self._text[key]})", names)
        column: ca.SX = ca.SX(ca.vertcat(*found) if isinstance(found, tuple | list) else found)
        return column


def _normal(rows: int, columns: int, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=(rows, columns)) / np.sqrt(rows)


@cache
def _built(name: str) -> _Built:
    text = _Text(problems()[name])
    n, time, x0 = text.number("n", 50), text.number("time"), np.array(text.number("x0"), dtype=float)
    free, bounds = isinstance(time, tuple), np.array(text.number("u"), dtype=float).T
    n_x, n_u = x0.size, bounds.shape[1]
    x, u, p = ca.SX.sym("x", n_x + free), ca.SX.sym("u", n_u + free), ca.SX.sym("p", 2)
    first, clock, state, control = p[0], p[1], x[:n_x], u[:n_u]
    horizon = x[n_x] + first * u[n_u] if free else time
    discrete = text.number("discrete", False)
    step = 1.0 if discrete else horizon / n
    cost = step * text.column("running", x=state, u=control) if "running" in problems()[name] else ca.SX(0.0)
    following = (
        text.column("rhs", x=state, u=control) if discrete else _runge_kutta(text, state, control, horizon, n, clock)
    )
    width = np.where(np.isfinite(bounds[1] - bounds[0]), bounds[1] - bounds[0], 1.0)
    start, spread = text.number("start", [0.0] * n_u), text.number("spread", list(0.25 * width))
    if free:
        following, cost = ca.vertcat(following, horizon), cost + 0.5 * (1 - first) * u[n_u] ** 2
        x0, bounds = np.append(x0, time[0]), np.column_stack([bounds, [time[1] - time[0], time[2] - time[0]]])
        start, spread = [*start, 0.0], [*spread, 0.0]
    end: dict[str, Any] = {"x": state, "t": x[n_x] if free else time}
    formulation = Formulation(
        x=x,
        u=u,
        p=p,
        dynamics=following,
        running_cost=cost,
        terminal_cost=text.column("end", **end) if "end" in problems()[name] else ca.SX(0.0),
        equalities=text.column("equal", x=state, u=control),
        inequalities=text.column("limits", x=state, u=control),
        goal=text.column("goal", **end),
        n_nodes=n,
    )
    parameters = np.column_stack([np.arange(n + 1) == 0, np.arange(n + 1) / n]).astype(float)
    return _Built(formulation, parameters, x0, bounds, np.array(start, dtype=float), np.array(spread, dtype=float))


def _runge_kutta(text: _Text, x: ca.SX, u: ca.SX, horizon: Any, n: int, clock: ca.SX) -> ca.SX:
    """State after a node's time."""
    substeps = text.number("substeps", 1)
    h = horizon / n / substeps
    for i in range(substeps):
        t = horizon * clock + i * h
        k1 = text.column("rhs", x=x, u=u, t=t)
        k2 = text.column("rhs", x=x + h / 2 * k1, u=u, t=t + h / 2)
        k3 = text.column("rhs", x=x + h / 2 * k2, u=u, t=t + h / 2)
        k4 = text.column("rhs", x=x + h * k3, u=u, t=t + h)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x
