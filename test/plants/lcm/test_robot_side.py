"""The robot's own side (robot_side/), compiled and driven: what it executes, refuses, and damps by itself."""

import ctypes
import math
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from compiled_robot_side import (
    GAIN,
    NOT_ARMED,
    NOT_FINITE,
    SIDE,
    TAKEN,
    TICK,
    TORQUE,
    Joints,
    Remote,
    compiled,
    damping,
    damps,
    stiff,
)
from lcm_frames import ROBOT, N

from contact_ddp_ros.plants.lcm.codec import PD_TAU_TARGETS


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("robot_side"))


@pytest.fixture
def joints(library: ctypes.CDLL) -> Joints:
    return Joints(library)


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


def test_targets_from_before_the_first_execution_do_not_count(library: ctypes.CDLL) -> None:
    joints, remote = Joints(library), Remote()
    library.init(ctypes.byref(remote))
    joints.remote = remote
    joints.take(damping(), 0.0)
    assert joints.take(stiff(), 0.001) == TAKEN
    followed, out = joints.call(0.002)
    assert not followed
    assert damps(out)
    assert joints.take(stiff(), 0.003) == NOT_ARMED
    joints.take(damping(), 0.004)
    assert joints.take(stiff(), 0.005) == TAKEN
    assert joints.call(0.006)[0]


@pytest.mark.parametrize(("ticks", "follows"), [(1, True), (4, True), (6, False), (500, False)])
def test_a_gap_in_their_execution_disarms(joints: Joints, ticks: int, follows: bool) -> None:
    joints.take(damping(), 0.0)
    joints.take(stiff(), 0.0)
    assert joints.call(0.0)[0]
    for tick in range(1, ticks + 1):
        joints.take(stiff(), tick * TICK)
    assert joints.call(ticks * TICK)[0] == follows
    assert joints.take(stiff(), ticks * TICK) == (TAKEN if follows else NOT_ARMED)


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
