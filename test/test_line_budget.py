"""Line budget: rooms, benchmarks and tests stay within the lines of line_budget.yaml, which follows them down."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
BUDGET: dict[str, int] = yaml.safe_load((ROOT / "test" / "line_budget.yaml").read_text(encoding="utf-8"))
SLACK = 0.03
"""Share of a budget that may be unused, so that what was deleted does not grow back."""


def lines(folder: Path) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in folder.rglob("*.py"))


def test_every_room_has_a_budget() -> None:
    rooms = {f"contact_ddp_ros/{path.parent.name}" for path in (ROOT / "contact_ddp_ros").glob("*/__init__.py")}
    assert set(BUDGET) == rooms | {"benchmarks", "hybrid_ddp", "test"}


@pytest.mark.parametrize("place", sorted(BUDGET))
def test_lines_are_within_the_budget(place: str) -> None:
    found, allowed = lines(ROOT / place), BUDGET[place]
    assert found <= allowed, f"{place} has {found} lines, {allowed} are allowed: make it smaller"
    assert found >= (1.0 - SLACK) * allowed, f"{place} has {found} lines: lower its {allowed} in test/line_budget.yaml"
