"""One bridge to a world, and the next one as soon as the first has ended, however it did."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contact_ddp_ros.base.errors import GazeboError
from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.plants.gazebo.world_control import WorldClaim

OWNER = """
import sys
from contact_ddp_ros.plants.gazebo.world_control import WorldClaim
from contact_ddp_ros.plants.gazebo.config import Names
claim = WorldClaim(Names(world=sys.argv[1]))
print("claimed", flush=True)
sys.stdin.read()
"""


def test_a_world_has_one_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}")
    with WorldClaim(Names()):
        with pytest.raises(GazeboError, match=rf"process {os.getpid()} .*'contact_ddp'.*GZ_PARTITION"):
            WorldClaim(Names(), patience=0.0)
        WorldClaim(Names(world="elsewhere")).release()
        monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}_other")
        WorldClaim(Names()).release()
        monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}")
    WorldClaim(Names(), patience=0.0).release()


def test_a_killed_bridge_leaves_its_world_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GZ_PARTITION", f"claim_{os.getpid()}")
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-c", OWNER, "killed"]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == b"claimed\n"
            with pytest.raises(GazeboError, match=f"process {owner.pid}"):
                WorldClaim(Names(world="killed"), patience=0.0)
        finally:
            owner.send_signal(signal.SIGKILL)
            owner.wait()
    WorldClaim(Names(world="killed"), patience=0.0).release()
