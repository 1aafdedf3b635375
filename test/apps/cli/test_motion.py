"""`contact-ddp motion`."""

import json
from pathlib import Path

import numpy as np
import pytest

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.plants.engines import PACKAGES


def test_a_jump_is_told_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "jump"
    assert main(["motion", "jump", "--no-video", "--trials", "1", "--out", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "landed and stands" in told and "1 of 1 perturbed starts landed" in told
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["landed"] and summary["displacement"] == pytest.approx(0.6, abs=0.05)
    assert summary["trials"][0]["landed"]
    with np.load(folder / "motion.npz") as saved:
        assert saved["coordinates"].shape == saved["planned"].shape and saved["policy_gains"].ndim == 3
    assert (folder / "motion.png").stat().st_size > 20_000


@pytest.mark.parametrize("engine", ["dart", "bullet"])
def test_a_jump_lands_in_other_physics(engine: str, tmp_path: Path) -> None:
    pytest.importorskip(PACKAGES[engine])
    words = ["motion", "jump", "--no-video", "--engine", engine, "--trials", "1", "--out", str(tmp_path / "jump")]
    assert main(words) == 0
    summary = json.loads((tmp_path / "jump" / "summary.json").read_text(encoding="utf-8"))
    assert summary["engine"] == engine
    assert summary["trials"][0]["landed"]


def test_slippery_ground_fells_it(tmp_path: Path) -> None:
    words = ["motion", "jump", "--no-video", "--friction", "0.1", "--out", str(tmp_path / "slip")]
    assert main(words) == 3


def test_wrong_words_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["motion", "backflp", "--out", str(tmp_path / "none")]) == 2
    assert "backflip" in capsys.readouterr().err
    assert main(["motion", "jump", "--trials", "-1", "--out", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()
