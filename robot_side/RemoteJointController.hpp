/* A controller for Cheetah-Software (user/) that does what comes over LCM; see docs/robot.md. C++11. */
#ifndef CONTACT_DDP_REMOTE_JOINT_CONTROLLER_HPP
#define CONTACT_DDP_REMOTE_JOINT_CONTROLLER_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <lcm/lcm-cpp.hpp>
#include <mutex>
#include <string>
#include <thread>

#include "RobotController.h"
#include "pd_tau_targets_lcmt.hpp"
#include "remote_joints.h"

class RemoteJointController : public RobotController {
 public:
  /* `address`: an LCM URL. Without one that of the environment variable REMOTE_JOINTS_LCM_URL, else the bridge's default. */
  explicit RemoteJointController(const std::string& address = configuredAddress())
      : _address(address), _quit(false) {
    remote_joints_init(&_remote);
  }

  virtual ~RemoteJointController() {
    _quit = true;
    if (_listener.joinable()) _listener.join();
  }

  virtual void initializeController() {
    _listener = std::thread([this] {
      while (!_quit) {
        listen();
        for (int slice = 0; slice < 10 && !_quit; ++slice) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    });
  }

  virtual void runController() {
    remote_joints_targets out;
    {
      std::lock_guard<std::mutex> lock(_mutex);
      remote_joints_command(&_remote, now(), &out);
    }
    for (int leg = 0; leg < 4; ++leg) {
      LegControllerCommand<float>& command = _legController->commands[leg];
      command.kpJoint.setZero();
      command.kdJoint.setZero();
      for (int joint = 0; joint < 3; ++joint) {
        const int i = 3 * leg + joint;
        command.qDes[joint] = float(out.q_des[i]);
        command.qdDes[joint] = float(out.qd_des[i]);
        command.tauFeedForward[joint] = float(out.tau_ff[i]);
        command.kpJoint(joint, joint) = float(out.kp[i]);
        command.kdJoint(joint, joint) = float(out.kd[i]);
      }
    }
    tellContacts(out.contact);
  }

  /* The radio's stop: Cheetah-Software zeroes all commands itself; nothing sets in by itself when it is released. Its
   * estimator is told that all feet stand, since no plan is executed. */
  virtual void Estop() {
    {
      std::lock_guard<std::mutex> lock(_mutex);
      remote_joints_disarm(&_remote);
    }
    const double standing[4] = {0.5, 0.5, 0.5, 0.5};
    tellContacts(standing);
  }

  virtual void updateVisualization() {}
  virtual ControlParameters* getUserControlParameters() { return nullptr; }

 private:
  static std::string configuredAddress() {
    const char* given = std::getenv("REMOTE_JOINTS_LCM_URL");
    return given && *given ? given : "udpm://239.255.76.67:7667?ttl=1";
  }

  /* Receive until told to quit or until LCM fails, where no network is up for one. The joints damp meanwhile. */
  void listen() {
    lcm::LCM lcm(_address);
    if (!lcm.good() || !lcm.subscribe("pd_plustau_targets", &RemoteJointController::onTargets, this)) {
      std::fprintf(stderr, "[RemoteJoints] cannot open LCM at %s; next try in 1 s\n", _address.c_str());
      return;
    }
    while (!_quit) {
      if (lcm.handleTimeout(100) < 0) {
        std::fprintf(stderr, "[RemoteJoints] LCM at %s has failed; opened again in 1 s\n", _address.c_str());
        return;
      }
    }
  }

  void onTargets(const lcm::ReceiveBuffer*, const std::string&, const pd_tau_targets_lcmt* message) {
    remote_joints_targets targets;
    std::copy(message->q_des, message->q_des + 12, targets.q_des);
    std::copy(message->qd_des, message->qd_des + 12, targets.qd_des);
    std::copy(message->tau_ff, message->tau_ff + 12, targets.tau_ff);
    std::copy(message->kp, message->kp + 12, targets.kp);
    std::copy(message->kd, message->kd + 12, targets.kd);
    std::copy(message->se_contactState, message->se_contactState + 4, targets.contact);
    std::lock_guard<std::mutex> lock(_mutex);
    remote_joints_take(&_remote, &targets, now());
  }

  void tellContacts(const double* contact) {
    Vec4<float> phase;
    for (int leg = 0; leg < 4; ++leg) phase[leg] = float(contact[leg]);
    _stateEstimator->setContactPhase(phase);
  }

  static double now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
  }

  const std::string _address;
  remote_joints _remote;
  std::mutex _mutex;
  std::atomic<bool> _quit;
  std::thread _listener;
};

#endif
