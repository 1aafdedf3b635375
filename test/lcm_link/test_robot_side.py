"""The robot's own side (robot_side/), compiled and driven: what it executes, refuses, and damps by itself."""

import ctypes
import math
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lcm_frames import ROBOT, N

from contact_ddp_ros.lcm_link.definitions import PD_TAU_TARGETS
from contact_ddp_ros.robot.joints import N_LEGS

SIDE = Path(__file__).parents[2] / "robot_side"
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
TAKEN, NOT_FINITE, GAIN, TORQUE, NOT_ARMED = range(5)


class Targets(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_double * N) for name in ("q_des", "qd_des", "tau_ff", "kp", "kd")),
        ("contact", ctypes.c_double * N_LEGS),
    )


class Remote(ctypes.Structure):
    _fields_ = (
        ("timeout", ctypes.c_double),
        ("damping", ctypes.c_double),
        ("kp_limit", ctypes.c_double),
        ("kd_limit", ctypes.c_double),
        ("tau_limit", ctypes.c_double * 3),
        ("targets", Targets),
        ("received", ctypes.c_double),
        ("armed", ctypes.c_int),
        ("refused", ctypes.c_int),
    )


class Joints:
    """The compiled code."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library, self.remote = library, Remote()
        library.init(ctypes.byref(self.remote))

    def take(self, targets: Targets, now: float) -> int:
        return int(self._library.take(ctypes.byref(self.remote), ctypes.byref(targets), ctypes.c_double(now)))

    def disarm(self) -> None:
        self._library.disarm(ctypes.byref(self.remote))

    def command(self, now: float) -> tuple[bool, Targets]:
        out = Targets()
        followed = self._library.command(ctypes.byref(self.remote), ctypes.c_double(now), ctypes.byref(out))
        return bool(followed), out


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("robot_side")
    (folder / "side.c").write_text(SOURCE)
    command = [compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([*command, f"-I{SIDE}", str(folder / "side.c"), "-o", str(folder / "side.so"), "-lm"], check=True)
    return ctypes.CDLL(str(folder / "side.so"))


@pytest.fixture
def joints(library: ctypes.CDLL) -> Joints:
    return Joints(library)


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


def test_it_damps_until_somebody_has_damped(joints: Joints) -> None:
    followed, out = joints.command(0.0)
    assert not followed
    assert damps(out)
    assert joints.take(stiff(), 0.0) == NOT_ARMED
    assert damps(joints.command(0.0)[1])
    assert joints.take(damping(), 0.001) == TAKEN
    followed, out = joints.command(0.001)
    assert followed
    assert list(out.kd) == [1.5] * N
    assert joints.take(stiff(), 0.002) == TAKEN
    followed, out = joints.command(0.002)
    assert followed
    assert bytes(out) == bytes(stiff())


def test_after_silence_it_damps_until_somebody_has_damped(joints: Joints) -> None:
    joints.take(damping(), 0.0)
    joints.take(stiff(), 0.0)
    assert joints.command(0.03)[0]
    followed, out = joints.command(0.031)
    assert not followed
    assert damps(out)
    assert joints.take(stiff(), 0.032) == NOT_ARMED
    assert damps(joints.command(0.032)[1])
    joints.take(damping(), 0.033)
    assert joints.take(stiff(), 0.034) == TAKEN


def test_after_a_stop_it_damps_until_somebody_has_damped(joints: Joints) -> None:
    joints.take(damping(), 0.0)
    joints.take(stiff(), 0.0)
    joints.disarm()
    assert joints.take(stiff(), 0.001) == NOT_ARMED
    assert damps(joints.command(0.001)[1])
    joints.take(damping(), 0.002)
    assert joints.take(stiff(), 0.003) == TAKEN


def test_silence_counts_where_nobody_asked_meanwhile(joints: Joints) -> None:
    joints.take(damping(), 0.0)
    joints.take(stiff(), 0.0)
    assert joints.take(stiff(), 1.0) == NOT_ARMED
    assert damps(joints.command(1.0)[1])


@pytest.mark.parametrize(
    ("member", "value", "verdict"),
    [
        ("q_des", math.nan, NOT_FINITE),
        ("qd_des", math.inf, NOT_FINITE),
        ("tau_ff", -math.inf, NOT_FINITE),
        ("kp", math.nan, GAIN),
        ("kp", -1.0, GAIN),
        ("kp", 201.0, GAIN),
        ("kd", math.inf, GAIN),
        ("kd", 5.1, GAIN),
        ("tau_ff", 17.1, TORQUE),
    ],
)
@pytest.mark.parametrize("joint", [0, 10])
def test_what_is_not_allowed_counts_as_silence(
    joints: Joints, joint: int, member: str, value: float, verdict: int
) -> None:
    joints.take(damping(), 0.0)
    joints.take(stiff(), 0.0)
    broken = stiff()
    getattr(broken, member)[joint] = value
    assert joints.take(broken, 0.02) == verdict
    assert bytes(joints.command(0.02)[1]) == bytes(stiff())
    assert damps(joints.command(0.04)[1])
    assert joints.remote.refused == 1


def test_a_clock_that_is_no_number_means_silence(joints: Joints) -> None:
    joints.take(damping(), 0.0)
    joints.take(stiff(), 0.0)
    assert damps(joints.command(math.nan)[1])


def test_limits_are_those_of_the_robot(joints: Joints) -> None:
    assert list(joints.remote.tau_limit) == ROBOT.effort_limits[:3].tolist()


def test_the_type_is_the_one_that_the_bridge_sends() -> None:
    text = (SIDE / "pd_tau_targets_lcmt.lcm").read_text()
    members = re.findall(r"(\w+)\s+(\w+)(?:\[(\d+)\])?;", text)
    assert members == [(f.type, f.name, str(f.size) if f.size else "") for f in PD_TAU_TARGETS.fields]


FAKES = {
    "RobotController.h": """
struct ControlParameters {};
template <class T> struct Vector { T v[4]; T& operator[](int i) { return v[i]; } };
template <class T> using Vec4 = Vector<T>;
template <class T> struct Matrix { void setZero() {} T x; T& operator()(int, int) { return x; } };
template <class T> struct LegControllerCommand { Matrix<T> kpJoint, kdJoint; Vector<T> qDes, qdDes, tauFeedForward; };
struct LegController { LegControllerCommand<float> commands[4]; };
struct StateEstimator { void setContactPhase(Vec4<float>) {} };
struct RobotController {
  virtual ~RobotController() {}
  virtual void initializeController() = 0;
  virtual void runController() = 0;
  LegController* _legController;
  StateEstimator* _stateEstimator;
};
""",
    "pd_tau_targets_lcmt.hpp": """
struct pd_tau_targets_lcmt { double q_des[12], qd_des[12], tau_ff[12], kp[12], kd[12], se_contactState[4]; };
""",
    "lcm/lcm-cpp.hpp": """
#include <string>
#include <atomic>
extern std::atomic<int> opened, handled;
extern std::string address;
extern bool usable;
namespace lcm {
struct ReceiveBuffer {};
struct LCM {
  explicit LCM(const std::string& url) { address = url; ++opened; }
  bool good() const { return usable; }
  template <class M, class H>
  void* subscribe(const std::string&, void (H::*)(const ReceiveBuffer*, const std::string&, const M*), H* handler) {
    return handler;
  }
  int handleTimeout(int) { ++handled; return -1; }
};
}
""",
    "main.cpp": """
#include "RemoteJointController.hpp"
std::atomic<int> opened(0), handled(0);
std::string address;
bool usable;
int main(int count, char** words) {
  usable = words[1][0] == 'y';
  {
    RemoteJointController* controller = count > 2 ? new RemoteJointController(words[2]) : new RemoteJointController();
    controller->initializeController();
    while (opened < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    delete controller;
  }
  std::printf("%s %d %d", address.c_str(), int(opened), int(handled));
}
""",
}


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The controller with doubles of Cheetah-Software and of an LCM that fails, as a program."""
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("controller")
    for name, text in FAKES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    command = [compiler, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{SIDE}", f"-I{folder}"]
    subprocess.run([*command, str(folder / "main.cpp"), "-o", str(folder / "program")], check=True)
    return folder / "program"


@pytest.mark.parametrize(("usable", "words"), [("no", "cannot open LCM"), ("yes", "has failed")])
def test_lcm_that_fails_is_told_and_opened_again_after_a_pause(controller: Path, usable: str, words: str) -> None:
    ended = subprocess.run([str(controller), usable], capture_output=True, text=True, check=True, timeout=60.0)
    opened, handled = map(int, ended.stdout.split()[1:])
    assert opened == 2, "not once more for every turn of a loop that does not wait"
    assert handled in ((1, 2) if usable == "yes" else (0,)), "the program may end before it is used again"
    assert words in ended.stderr


@pytest.mark.parametrize(
    ("variable", "argument", "used"),
    [
        ("", [], "udpm://239.255.76.67:7667?ttl=1"),
        ("udpm://239.255.76.68:7668?ttl=1", [], "udpm://239.255.76.68:7668?ttl=1"),
        ("udpm://239.255.76.68:7668?ttl=1", ["memq://"], "memq://"),
    ],
)
def test_the_address_is_configured(controller: Path, variable: str, argument: list[str], used: str) -> None:
    ended = subprocess.run(
        [str(controller), "no", *argument],
        env={**os.environ, "REMOTE_JOINTS_LCM_URL": variable},
        capture_output=True,
        text=True,
        check=True,
        timeout=60.0,
    )
    assert ended.stdout.split()[0] == used
