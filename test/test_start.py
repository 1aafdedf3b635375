"""The commands of docs/start.md and docs/robots.md, as they stand there, lead to a gait and a robot of one's own."""

import json
import re
import shlex
from pathlib import Path

import pytest
import quadruped

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.runs.report import plots

ROOT = Path(__file__).parents[1]
START = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
SHORT = {"--duration": "2.5"}
"""Options whose values are made smaller; it stands for the first 1.5 s."""


def blocks(text: str, language: str = "") -> list[str]:
    """Code blocks of a page."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block for kind, block in found if kind == language]


def commands(text: str) -> list[list[str]]:
    """Words after `./run` or `contact-ddp` of every line of a page's blocks."""
    lines = [line for block in blocks(text) for line in block.splitlines()]
    told = [shlex.split(line, comments=True) for line in lines if re.match(r"(\./run|contact-ddp) ", line)]
    return [words[1:] for words in told]


def test_the_gait_of_the_page_runs_by_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    chapter = START[START.index("## 3.") : START.index("## 4.")]
    (tmp_path / "my_gait.yaml").write_text(blocks(chapter, "yaml")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    todo = commands(chapter)
    assert [words[0] for words in todo] == ["sim", "sim"]
    for index, words in enumerate(todo):
        short = [SHORT.get(before, word) for before, word in zip(["", *words], words)]
        short = [word.replace(",2:", ",1.6:") for word in short]
        assert main([*short, "--no-video", "--out", f"run{index}"]) == 0, capsys.readouterr().err
        summary = json.loads((tmp_path / f"run{index}" / "summary.json").read_text(encoding="utf-8"))
        assert summary["fell"] is False and summary["solves"] > 80
        assert (tmp_path / "run0" / "overview.png").is_file(), "as the page says"
        monkeypatch.setattr(plots, "save_all", lambda *_: None)  # once is enough


def test_a_robot_of_ones_own_by_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "my.urdf").write_text(quadruped.urdf(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    told = [words for words in commands(page) if words[0] == "robot"]
    assert len(told) == 2 and told[1][-1] == "my_robot.yaml"
    for words, more in zip(told, ([], ["--no-walk"])):  # once is enough
        assert main([*words, *more]) == 0, capsys.readouterr().out
    assert "contact-ddp sim --robot my_robot.yaml" in capsys.readouterr().out
    assert (tmp_path / "my_robot.yaml").is_file()
