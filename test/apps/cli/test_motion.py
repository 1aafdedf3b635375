"""`contact-ddp motion`."""

import json
from pathlib import Path

import pytest

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.plants.engines import PACKAGES
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording import load
from contact_ddp_ros.runs.report import plots


def test_jumps_are_told_saved_and_taken_by_the_jobs_of_recordings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    near, slip = tmp_path / "near", tmp_path / "slip"
    with monkeypatch.context() as patch:  # figures of one of them are enough, those of the report
        patch.setattr(plots, "save_all", lambda *_: None)
        assert main(["motion", "jump", "--no-video", "--trials", "1", "--state", "estimated", "--out", str(near)]) == 0
        told = capsys.readouterr().out
        assert main(["motion", "jump", "--no-video", "--friction", "0.1", "--out", str(slip)]) == 3, "it falls"
    assert "landed and stands" in told and "1 of 1 perturbed starts landed" in told
    summary = json.loads((near / "summary.json").read_text(encoding="utf-8"))
    assert summary["options"]["state"] == "estimated"
    assert summary["motion"]["landed"] and summary["motion"]["displacement"] == pytest.approx(0.6, abs=0.05)
    assert not summary["fell"] and summary["solves"] == 1
    assert json.loads((near / "trials.json").read_text(encoding="utf-8"))[0]["landed"]
    result = MotionResult(load(near))
    assert result.landed and result.coordinates.shape == result.planned.shape
    assert load(near).plans["gains"].ndim == 4
    capsys.readouterr()
    assert main(["report", str(near), "--no-video"]) == 0
    assert (near / "motion.png").stat().st_size > 20_000 and "landed and stands" in capsys.readouterr().out
    assert main(["compare", str(near), str(slip), "--out", str(tmp_path / "compared")]) == 0
    compared = json.loads((tmp_path / "compared" / "comparison.json").read_text(encoding="utf-8"))
    assert compared["differing_settings"]["friction"] == [0.8, 0.1]
    assert compared["figures"]["motion.landed"] == [True, False]
    for kind in ("mcap", "rerun"):
        assert main(["export", str(near), "--to", kind]) == 0


@pytest.mark.parametrize("engine", ["dart", "bullet"])
def test_a_jump_lands_in_other_physics(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(PACKAGES[engine])
    monkeypatch.setattr(plots, "save_all", lambda *_: None)
    words = ["motion", "jump", "--no-video", "--engine", engine, "--trials", "1", "--out", str(tmp_path / "jump")]
    assert main(words) == 0
    summary = json.loads((tmp_path / "jump" / "summary.json").read_text(encoding="utf-8"))
    assert summary["options"]["engine"] == engine
    assert json.loads((tmp_path / "jump" / "trials.json").read_text(encoding="utf-8"))[0]["landed"]


def test_wrong_words_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["motion", "backflp", "--out", str(tmp_path / "none")]) == 2
    assert "backflip" in capsys.readouterr().err
    assert main(["motion", "jump", "--trials", "-1", "--out", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()
