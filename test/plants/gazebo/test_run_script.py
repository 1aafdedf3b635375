"""What `./run` keeps of PYTHONPATH: the folders of Gazebo's bindings, apart from the path."""

import os
import subprocess
from pathlib import Path

RUN = Path(__file__).resolve().parents[3] / "run"


def test_folders_of_gazebos_bindings_are_kept_apart_from_the_path(tmp_path: Path) -> None:
    for name in ("ros/gz", "own/gz", "other/numpy"):
        (tmp_path / name).mkdir(parents=True)
    text = RUN.read_text(encoding="utf-8")
    begin = text.index("keep_gazebo() {")
    function = text[begin : text.index("\n}\n", begin) + 3]
    entries = [str(tmp_path / name) for name in ("ros", "other", "own")]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f'{function}\nkeep_gazebo\nprintf %s "${{GZ_PYTHON_PATH:-}}"'],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(["", *entries]), "GZ_PYTHON_PATH": "/given"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"/given:{entries[0]}:{entries[2]}"
