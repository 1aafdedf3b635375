"""The examples run as their docstrings say, and print what these promise."""

import io
import os
import re
import runpy
import subprocess
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import yaml
from arm import arm

from contact_ddp_ros import save_recording, simulate

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(folder: Path, name: str, *words: str) -> str:
    """Printed text of an example, run as a program in a folder of its own."""
    path, printed = str(ROOT / "examples" / f"{name}.py"), io.StringIO()
    ends = pytest.raises(SystemExit, match=r"^0$") if "--help" in words else nullcontext()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), ends:
        patch.chdir(folder)
        patch.setattr(sys, "argv", [path, *words])
        runpy.run_path(path, run_name="__main__")
    return printed.getvalue()


def numbers(pattern: str, text: str) -> list[float]:
    return [float(found) for found in re.findall(pattern, text)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_says_what_one_sees_and_what_may_be_chosen(path: Path, tmp_path: Path) -> None:
    told = run(tmp_path, path.stem, "--help")
    text = path.read_text(encoding="utf-8")
    assert f"python examples/{path.name}" in told
    for option in re.findall(r"--[a-z-]+", text.split('"""')[1]):
        assert f'"{option}"' in text, f"{path.name}: the docstring names {option}"


def test_the_cart_pole_swings_up(tmp_path: Path) -> None:
    told = run(tmp_path, "cart_pole", "--nodes", "50")
    assert "derivatives: right" in told and "WRONG" not in told
    assert told.count("feasible True") == 3
    ddp, ilqr, interior = (int(one) for one in re.findall(r"CONVERGED after (\d+) iterations", told))
    assert ddp < ilqr, "full second order takes fewer iterations"
    loop = re.search(r"feasible True after (\d+) iterations", told)
    assert loop and interior < int(loop[1])
    costs = numbers(r"cost ([\d.]+), largest", told)
    assert costs[2] <= min(costs) * (1.0 + 1e-6) and max(costs) < 1.01 * costs[2]
    largest, freely = numbers(r"largest force ([\d.]+) N", told), numbers(r"without bounds ([\d.]+) N", told)
    assert all(7.9 < one <= 8.0 for one in largest) and min(freely) > 8.5
    ends = re.findall(r"end \[(.*)\]", told)
    assert len(ends) == 3
    for end in ends:
        assert [float(one) for one in end.split()] == pytest.approx([0.0, 3.141593, 0.0, 0.0], abs=1e-6)


def test_partials_of_a_urdf_are_right(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(arm(0.2), encoding="utf-8")
    told = run(tmp_path, "urdf_partials", "arm.urdf", "--contacts", "tip")
    assert "n = 3, 2 actuated, 3 forces" in told
    errors = numbers(r"relative error (\S+)", told)
    assert len(errors) == 7 and max(errors) < 1e-6


@pytest.mark.parametrize(("kind", "period", "stance"), [("bound", "0.4", "0.22"), ("pronk", "0.32", "0.45")])
def test_a_new_gait_moves_the_robot(tmp_path: Path, kind: str, period: str, stance: str) -> None:
    words = ["--kind", kind, "--period", period, "--stance", stance, "--speed", "0.3", "--duration", "3.2"]
    told = run(tmp_path, "new_gait", *words)
    written = yaml.safe_load((tmp_path / "my_gait.yaml").read_text(encoding="utf-8"))
    assert written["period"] == float(period) and len(written["stances"]) == 4
    assert "no fall" in told
    (speed,) = numbers(r"speed (-?[\d.]+) m/s", told)
    assert 0.2 < speed < 0.4
    shares = numbers(r"on the ground ([\d.]+) %", told)
    assert len(shares) == 4 and all(abs(share - 100.0 * float(stance)) < 8.0 for share in shares)


def test_a_new_robot_bounds(tmp_path: Path) -> None:
    told = run(tmp_path, "new_robot", "--duration", "3.2", "--speed", "0.3")
    assert "no fall" in told
    (mass,) = numbers(r"a1.yaml: ([\d.]+) kg", told)
    assert 11.0 < mass < 15.0
    (speed,) = numbers(r"speed (-?[\d.]+) m/s", told)
    assert 0.2 < speed < 0.4
    shares = [float(one) for one in told.split("over its limit: ")[1].split(",")]
    assert len(shares) == 3 and all(0.0 < share <= 1.0 for share in shares)


def test_a_new_cost_term_saves_power(tmp_path: Path) -> None:
    told = run(tmp_path, "new_cost_term", "--duration", "3.2", "--speed", "0.3")
    assert "derivatives: right" in told and told.count("no fall") == 2
    without, with_it = numbers(r"power ([\d.]+) W", told)
    assert with_it < 0.95 * without


def test_a_new_constraint_is_kept(tmp_path: Path) -> None:
    told = run(tmp_path, "new_constraint", "--duration", "3.2", "--speed", "0.3")
    assert "derivatives: right" in told and told.count("no fall") == 2
    without, with_it = numbers(r"pitch up to ([\d.]+)°", told)
    assert with_it < 7.5 < without


def test_a_back_flip_lands(tmp_path: Path) -> None:
    told = run(tmp_path, "backflip", "--trials", "1")
    assert "landed and stands: 0." in told and "rotation -360°" in told and "1 of 1 perturbed starts landed" in told
    (torque,) = numbers(r"; ([\d.]+) % of the motors' torque", told)
    assert 50.0 < torque <= 85.0


def test_a_new_motion_is_done_or_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "new_motion", "--forward", "0.25", "--flight", "0.25")
    assert "landed" in done
    (ahead,) = numbers(r"up, (-?[\d.]+) m ahead", done)
    assert abs(ahead - 0.25) < 0.05
    assert "not possible: no my_jump within the limits" in run(tmp_path, "new_motion", "--torque-share", "0.15")


def test_a_new_reference_is_followed(tmp_path: Path) -> None:
    told = run(tmp_path, "new_reference", "--duration", "4.6", "--speed", "0.3")
    assert told.count("no fall") == 2
    packaged, own = numbers(r"swell of ([\d.]+) cm", told)
    assert packaged < 0.3 and 0.6 < own < 2.5


def test_a_recording_is_read_and_drawn(tmp_path: Path) -> None:
    recording = simulate(duration=2.0, speed=0.3)
    save_recording(recording, tmp_path / "run")
    told = run(tmp_path, "read_recording", "run", "--plot", "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    assert "sim: 1000 ticks" in told and told.count("vertical force") == 4
    speeds = numbers(r"([\d.-]+)  0\.\d{3} m\n", told)
    assert speeds == [round(float(one.mean()), 2) for one in np.split(recording.heading_velocity[:, 0], 2)]
    (weight,) = numbers(r"all feet: ([\d.]+) N", told)
    assert 75.0 < weight < 100.0


def test_a_recording_is_made_where_there_is_none(tmp_path: Path) -> None:
    told = run(tmp_path, "read_recording", "--duration", "0.5")
    assert "sim: 250 ticks" in told


def test_the_program_of_the_readme_prints_the_speed_that_is_commanded(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=variables, capture_output=True, text=True)
    (speed,) = numbers(r"([\d.]+) m/s ahead, no fall", done.stdout)
    assert abs(speed - 1.0) < 0.02 and f"# {speed:.3f} m/s ahead, no fall" in program
