/* The robot's side of the link: which torque targets its joints execute, and when they damp by themselves instead.
 *
 * Plain C, no allocation, no system call, no dependence: the caller brings the frames (pd_tau_targets_lcmt), a clock
 * that does not jump, and a lock where frames come in another thread. Units: rad, rad/s, N m, s.
 *
 * Joints damp until a frame without stiffness and feedforward has come (somebody on the other side is there and
 * harmless), then follow frames; after silence, or from the start, the same is asked for again. Frames count only while
 * they are executed: the same is asked for at the first call of remote_joints_command, and at one that comes late, since
 * somebody else may have moved the joints meanwhile. A frame that holds a number that is not finite or not allowed counts
 * as none.
 */
#ifndef CONTACT_DDP_REMOTE_JOINTS_H
#define CONTACT_DDP_REMOTE_JOINTS_H

#include <math.h>
#include <string.h>

enum { REMOTE_JOINTS_N = 12, REMOTE_JOINTS_FEET = 4 };

enum remote_joints_verdict {
  REMOTE_JOINTS_TAKEN = 0,
  REMOTE_JOINTS_NOT_FINITE = 1,
  REMOTE_JOINTS_GAIN = 2,
  REMOTE_JOINTS_TORQUE = 3,
  REMOTE_JOINTS_NOT_ARMED = 4
};

/* What a frame says; order of joints: FR, FL, HR, HL times abduction, hip, knee. */
struct remote_joints_targets {
  double q_des[REMOTE_JOINTS_N], qd_des[REMOTE_JOINTS_N], tau_ff[REMOTE_JOINTS_N];
  double kp[REMOTE_JOINTS_N], kd[REMOTE_JOINTS_N];
  double contact[REMOTE_JOINTS_FEET]; /* phase of contact for the estimator: 0.5 on the ground, 0 in the air */
};

struct remote_joints {
  double timeout;                    /* silence after which the joints damp */
  double gap;                        /* longest time between two calls of remote_joints_command that execute frames */
  double damping;                    /* gain with which they do */
  double kp_limit, kd_limit;         /* largest gains that are believed */
  double tau_limit[3];               /* largest feedforward of abduction, hip and knee that is believed */
  struct remote_joints_targets targets;
  double received, executed;         /* times of the last frame, and of the last call of remote_joints_command */
  int armed, refused;
};

static inline void remote_joints_init(struct remote_joints *self) {
  static const double tau_limit[3] = {17.0, 17.0, 26.0};
  memset(self, 0, sizeof *self);
  self->timeout = 0.03;
  self->gap = 0.01;
  self->executed = -INFINITY;
  self->damping = 2.5;
  self->kp_limit = 200.0;
  self->kd_limit = 5.0;
  memcpy(self->tau_limit, tau_limit, sizeof tau_limit);
}

static inline int remote_joints_silent(const struct remote_joints *self, double now) {
  return !(now - self->received <= self->timeout);
}

static inline enum remote_joints_verdict remote_joints_check(const struct remote_joints *self,
                                                             const struct remote_joints_targets *targets) {
  for (int i = 0; i < REMOTE_JOINTS_N; ++i) {
    if (!isfinite(targets->q_des[i]) || !isfinite(targets->qd_des[i]) || !isfinite(targets->tau_ff[i])) {
      return REMOTE_JOINTS_NOT_FINITE;
    }
    if (!(targets->kp[i] >= 0.0 && targets->kp[i] <= self->kp_limit)) return REMOTE_JOINTS_GAIN;
    if (!(targets->kd[i] >= 0.0 && targets->kd[i] <= self->kd_limit)) return REMOTE_JOINTS_GAIN;
    if (!(fabs(targets->tau_ff[i]) <= self->tau_limit[i % 3] * (1.0 + 1e-6))) return REMOTE_JOINTS_TORQUE;
  }
  for (int i = 0; i < REMOTE_JOINTS_FEET; ++i) {
    if (!(targets->contact[i] >= 0.0 && targets->contact[i] <= 1.0)) return REMOTE_JOINTS_NOT_FINITE;
  }
  return REMOTE_JOINTS_TAKEN;
}

/* Take a frame that came at `now`; anything but REMOTE_JOINTS_TAKEN leaves the joints with what they had. */
static inline enum remote_joints_verdict remote_joints_take(struct remote_joints *self,
                                                            const struct remote_joints_targets *targets, double now) {
  const enum remote_joints_verdict verdict = remote_joints_check(self, targets);
  int damps = 1;
  if (verdict != REMOTE_JOINTS_TAKEN) {
    ++self->refused;
    return verdict;
  }
  for (int i = 0; i < REMOTE_JOINTS_N; ++i) damps = damps && targets->kp[i] == 0.0 && targets->tau_ff[i] == 0.0;
  if (!damps && (!self->armed || remote_joints_silent(self, now))) {
    self->armed = 0;
    ++self->refused;
    return REMOTE_JOINTS_NOT_ARMED;
  }
  self->armed = 1;
  self->targets = *targets;
  self->received = now;
  return REMOTE_JOINTS_TAKEN;
}

/* Damp until somebody has damped, whatever has come: for a stop on the robot itself. */
static inline void remote_joints_disarm(struct remote_joints *self) { self->armed = 0; }

/* What the joints are to do at `now`; whether that is what the frames say and not damping of its own accord. */
static inline int remote_joints_command(struct remote_joints *self, double now, struct remote_joints_targets *out) {
  if (!(now - self->executed <= self->gap) || remote_joints_silent(self, now)) self->armed = 0;
  self->executed = now;
  if (self->armed) {
    *out = self->targets;
    return 1;
  }
  memset(out, 0, sizeof *out);
  for (int i = 0; i < REMOTE_JOINTS_N; ++i) out->kd[i] = self->damping;
  for (int i = 0; i < REMOTE_JOINTS_FEET; ++i) out->contact[i] = 0.5;
  return 0;
}

#endif
