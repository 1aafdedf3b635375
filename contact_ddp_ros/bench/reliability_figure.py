"""How soon the controller damps after the beginning of each fault, beside what is allowed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from contact_ddp_ros.bench.faults import FAULTS, KINDS
from contact_ddp_ros.report import style

if TYPE_CHECKING:
    from contact_ddp_ros.bench.reliability import Reaction


def draw(reactions: Sequence["Reaction"], limits: Mapping[str, float], path: Path) -> None:
    """A panel per faulty link that has a limit, a row per kind of fault, a dot per run."""
    targets = [target for target in FAULTS if target in limits]
    with style.figure(path, 9.0, 3.2, "From the beginning of a fault to damping") as figure:
        panels = figure.subplots(1, len(targets), sharey=True)
        for axes, target in zip(panels, targets, strict=True):
            for row, kind in enumerate(KINDS):
                runs = [one for one in reactions if (one.injection.target, one.injection.kind) == (target, kind)]
                delays = 1e3 * np.array([one.damped_after for one in runs])
                spread = row + np.linspace(-0.25, 0.25, len(runs)) if len(runs) > 1 else np.array([float(row)])
                bad = np.array([bool(one.complaints) for one in runs])
                axes.plot(delays[~bad], spread[~bad], "o", color=style.PLANNED, markersize=3)
                axes.plot(delays[bad], spread[bad], "x", color=style.COMMAND, markersize=5)
            limit = 1e3 * limits[target]
            axes.axvline(limit, color=style.LIMIT, linestyle="--")
            axes.set_title(target)
            axes.set_xlabel("[ms]")
            axes.set_xlim(-1.0, 1.25 * limit)
            axes.set_yticks(range(len(KINDS)), KINDS)
        panels[0].invert_yaxis()
