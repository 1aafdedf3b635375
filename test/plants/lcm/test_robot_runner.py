"""The robot's controller under the calls that Cheetah-Software's RobotRunner makes, as a compiled program.

RobotRunner zeroes all commands before every tick. It disables the legs in some of the first 50 ticks, brings them to
an initial pose for 3 s without calling the controller, then calls `runController` every 2 ms, and `Estop` instead while
the radio's stop is pressed. The doubles here have that sequence of calls, with the test's clock and LCM.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled_robot_side import SIDE

INITIAL, STOPPED, FREE = 1500, slice(2000, 2500), 1.25
"""Ticks of the initial pose and of the radio's stop; stiffness of its way."""

FILES = {
    "clock.h": """
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
namespace std { namespace chrono { struct manual_clock {
  typedef nanoseconds duration;
  typedef std::chrono::time_point<manual_clock> time_point;
  static duration& elapsed() { static duration passed(0); return passed; }
  static time_point now() { return time_point(elapsed()); }
}; } }
#define steady_clock manual_clock
""",
    "RobotController.h": """
struct ControlParameters {};
template <class T, int N> struct Vector { T v[N]; T& operator[](int i) { return v[i]; } };
template <class T> using Vec4 = Vector<T, 4>;
template <class T> struct Matrix {
  T x[9];
  void setZero() { for (T& one : x) one = 0; }
  T& operator()(int i, int j) { return x[3 * i + j]; }
};
template <class T> struct LegControllerCommand {
  Matrix<T> kpJoint, kdJoint;
  Vector<T, 3> qDes, qdDes, tauFeedForward;
  void zero() { *this = LegControllerCommand(); }
};
struct LegController { LegControllerCommand<float> commands[4]; };
struct StateEstimator { Vec4<float> phase; void setContactPhase(Vec4<float>& told) { phase = told; } };
struct RobotController {
  virtual ~RobotController() {}
  virtual void initializeController() = 0;
  virtual void runController() = 0;
  virtual void updateVisualization() = 0;
  virtual ControlParameters* getUserControlParameters() = 0;
  virtual void Estop() {}
  LegController* _legController;
  StateEstimator* _stateEstimator;
};
""",
    "pd_tau_targets_lcmt.hpp": """
struct pd_tau_targets_lcmt { double q_des[12], qd_des[12], tau_ff[12], kp[12], kd[12], se_contactState[4]; };
""",
    "lcm/lcm-cpp.hpp": """
struct pd_tau_targets_lcmt;
extern std::atomic<const pd_tau_targets_lcmt*> waiting;
namespace lcm {
struct ReceiveBuffer {};
struct LCM {
  std::function<void(const pd_tau_targets_lcmt*)> handle;
  explicit LCM(const std::string&) {}
  bool good() const { return true; }
  template <class M, class H>
  void* subscribe(const std::string&, void (H::*f)(const ReceiveBuffer*, const std::string&, const M*), H* handler) {
    handle = [=](const M* message) { (handler->*f)(nullptr, "", message); };
    return handler;
  }
  int handleTimeout(int) {
    const pd_tau_targets_lcmt* message = waiting;
    if (message) { handle(message); waiting = nullptr; }
    else std::this_thread::yield();
    return 0;
  }
};
}
""",
    "main.cpp": """
#include "RemoteJointController.hpp"
std::atomic<const pd_tau_targets_lcmt*> waiting(nullptr);

/* Frames of the bridge: damping, then targets from each tick of `begin` on, damping for a tick between two of them. */
static pd_tau_targets_lcmt frame(int tick, const int* begin, int count) {
  pd_tau_targets_lcmt made = pd_tau_targets_lcmt();
  bool stiff = tick >= begin[0];
  for (int i = 1; i < count; ++i) stiff = stiff && tick != begin[i] - 1;
  for (double& kd : made.kd) kd = 1.0;
  if (stiff) for (int i = 0; i < 12; ++i) made.kp[i] = 20.0, made.tau_ff[i] = 3.0;
  return made;
}

int main(int count, char** words) {
  int begin[8];
  for (int i = 1; i < count; ++i) begin[i - 1] = std::atoi(words[i]);
  LegController legs;
  StateEstimator estimator;
  RemoteJointController* controller = new RemoteJointController("");
  controller->_legController = &legs;
  controller->_stateEstimator = &estimator;
  for (int foot = 0; foot < 4; ++foot) estimator.phase[foot] = 0.5f;
  controller->initializeController();
  for (int tick = 1; tick <= 3000; ++tick) {
    const pd_tau_targets_lcmt sent = frame(tick, begin, count - 1);
    waiting = &sent;
    while (waiting) std::this_thread::yield();
    for (auto& command : legs.commands) command.zero();
    const bool disabled = tick < 10 || (20 < tick && tick < 30) || (40 < tick && tick < 50);
    const bool stopped = 2000 <= tick && tick < 2500;
    if (!disabled) {
      if (stopped) controller->Estop();
      else if (tick < 1500) for (auto& command : legs.commands) command.kpJoint(0, 0) = 1.25f;
      else controller->runController();
    }
    std::printf("%g %g %g %g\\n", legs.commands[0].kpJoint(0, 0), legs.commands[3].tauFeedForward[2],
                legs.commands[3].kdJoint(2, 2), estimator.phase[3]);
    std::chrono::manual_clock::elapsed() += std::chrono::milliseconds(2);
  }
  delete controller;
}
""",
}


@dataclass(frozen=True)
class Tick:
    """Drive commands of one tick, and the contact phase that the robot's estimator has."""

    kp: float
    torque: float
    kd: float
    phase: float


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("runner")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    flags = ["-std=c++11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{SIDE}", f"-I{folder}"]
    command = [compiler, *flags, "-include", str(folder / "clock.h")]
    subprocess.run([*command, str(folder / "main.cpp"), "-o", str(folder / "program")], check=True)
    return folder / "program"


def ticks(program: Path, *begin: int) -> list[Tick]:
    """Run it with targets from each of these ticks on; the first tick is left out, so that indices are those there."""
    words = list(map(str, begin))
    ended = subprocess.run([str(program), *words], capture_output=True, text=True, check=True, timeout=120.0)
    lines = [Tick(*map(float, line.split())) for line in ended.stdout.splitlines()]
    assert len(lines) == 3000
    return [lines[0], *lines]


def damps(tick: Tick) -> bool:
    return tick.kp == 0.0 and tick.torque == 0.0 and tick.kd == 2.5 and tick.phase == 0.5


def test_targets_that_came_during_the_initial_pose_are_not_executed_after_it(program: Path) -> None:
    run = ticks(program, 600)
    assert {tick.kp for tick in run[50:INITIAL]} == {FREE}, "its own way"
    assert all(map(damps, run[INITIAL:2000])), "whatever was armed meanwhile"


def test_targets_after_damping_are_executed_until_the_radio_stop_and_not_by_themselves_after_it(program: Path) -> None:
    run = ticks(program, 600, 1700, 2700)
    assert all(map(damps, run[INITIAL:1699]))
    assert {(tick.kp, tick.torque, tick.phase) for tick in run[1700:2000]} == {(20.0, 3.0, 0.0)}
    assert {(tick.kp, tick.torque, tick.kd, tick.phase) for tick in run[STOPPED]} == {(0.0, 0.0, 0.0, 0.5)}
    assert all(map(damps, run[2500:2699]))
    assert {(tick.kp, tick.torque) for tick in run[2700:]} == {(20.0, 3.0)}
