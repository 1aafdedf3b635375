"""The robot's own side (robot_side/remote_joints.h), compiled, for tests."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lcm_frames import N

from contact_ddp_ros.robot.joints import N_LEGS

SIDE = Path(__file__).parents[1] / "robot_side"
SOURCE = """
#include "remote_joints.h"
void init(struct remote_joints *r) { remote_joints_init(r); }
int take(struct remote_joints *r, const struct remote_joints_targets *t, double now) {
  return remote_joints_take(r, t, now);
}
void disarm(struct remote_joints *r) { remote_joints_disarm(r); }
int command(struct remote_joints *r, double now, struct remote_joints_targets *out) {
  return remote_joints_command(r, now, out);
}
"""
TICK = 0.002
TAKEN, NOT_FINITE, GAIN, TORQUE, NOT_ARMED = range(5)


class Targets(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_double * N) for name in ("q_des", "qd_des", "tau_ff", "kp", "kd")),
        ("contact", ctypes.c_double * N_LEGS),
    )


class Remote(ctypes.Structure):
    _fields_ = (
        ("timeout", ctypes.c_double),
        ("gap", ctypes.c_double),
        ("damping", ctypes.c_double),
        ("kp_limit", ctypes.c_double),
        ("kd_limit", ctypes.c_double),
        ("tau_limit", ctypes.c_double * 3),
        ("targets", Targets),
        ("received", ctypes.c_double),
        ("executed", ctypes.c_double),
        ("armed", ctypes.c_int),
        ("refused", ctypes.c_int),
    )


class Joints:
    """The compiled code, executed every tick from the time 0 on."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library, self.remote = library, Remote()
        library.init(ctypes.byref(self.remote))
        self._now = -TICK
        self.call(self._now)

    def take(self, targets: Targets, now: float) -> int:
        return int(self._library.take(ctypes.byref(self.remote), ctypes.byref(targets), ctypes.c_double(now)))

    def disarm(self) -> None:
        self._library.disarm(ctypes.byref(self.remote))

    def command(self, now: float) -> tuple[bool, Targets]:
        while now - self._now > 1.5 * TICK:
            self._now += TICK
            self.call(self._now)
        self._now = now
        return self.call(now)

    def call(self, now: float) -> tuple[bool, Targets]:
        out = Targets()
        followed = self._library.command(ctypes.byref(self.remote), ctypes.c_double(now), ctypes.byref(out))
        return bool(followed), out


def compiled(folder: Path) -> ctypes.CDLL:
    """The code as a library; the test is skipped without a compiler."""
    compiler = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (folder / "side.c").write_text(SOURCE)
    command = [compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([*command, f"-I{SIDE}", str(folder / "side.c"), "-o", str(folder / "side.so"), "-lm"], check=True)
    return ctypes.CDLL(str(folder / "side.so"))


def stiff() -> Targets:
    targets = Targets()
    for i in range(N):
        targets.q_des[i], targets.kp[i], targets.kd[i], targets.tau_ff[i] = 0.1 * i, 20.0, 1.0, 2.0
    return targets


def damping() -> Targets:
    targets = Targets()
    for i in range(N):
        targets.kd[i] = 1.5
    return targets


def damps(out: Targets) -> bool:
    return not any(out.kp) and not any(out.tau_ff) and all(gain > 0.0 for gain in out.kd)
