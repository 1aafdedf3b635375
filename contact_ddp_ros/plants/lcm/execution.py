"""Watch over what the robot's joints execute with the torque targets that were sent to it.

Cheetah-Software publishes after every tick what its drives are commanded (`leg_control_command`). The robot follows
where that is, bit for bit in single precision, a recent frame. It does not while its program brings the legs to a pose
of its own, under the radio's stop, after its own time-out, or where somebody else commands it.
"""

from threading import Lock
from typing import Final

import numpy as np

from contact_ddp_ros.plants.lcm.codec import LEG_CONTROL_COMMAND, PD_TAU_TARGETS, Frame, decode

_OLDEST: Final = 0.03
"""Age of targets from which on executing them counts as not following: the robot's own time-out [s]."""
_MEMORY: Final = 0.5
"""Memory of sent targets, to tell old ones from somebody else's [s]."""
_SENT: Final = ("q_des", "qd_des", "tau_ff", "kp", "kd")
_EXECUTED: Final = ("q_des", "qd_des", "tau_ff", "kp_joint", "kd_joint")
_CARTESIAN: Final = ("f_ff", "kp_cartesian", "kd_cartesian")
"""Members that move the legs by way of the feet, which no torque targets do."""


class ExecutionWatch:
    """Remembers sent targets and judges executed commands; one thread may send while another one receives."""

    def __init__(self) -> None:
        """Start before anything was sent."""
        self._lock = Lock()
        self._sent: dict[bytes, float] = {}
        """Times of the last sending of each frame [s], in single precision and in that order."""
        self._damped = -np.inf
        """Time of the last frame without stiffness and feedforward [s]."""
        self._followed = False
        """Flag of a frame with stiffness or feedforward sent after that."""

    def sent(self, targets: bytes, now: float) -> None:
        """Remember torque targets that are sent at `now` [s]."""
        frame = decode(targets, [PD_TAU_TARGETS])
        key, pulls = _key(frame, _SENT), _any(frame, ("tau_ff", "kp"))
        with self._lock:
            self._sent.pop(key, None)
            self._sent[key] = now
            self._followed = pulls
            if not pulls:
                self._damped = now
            while self._sent and now - next(iter(self._sent.values())) > _MEMORY:
                del self._sent[next(iter(self._sent))]

    def executed(self, data: bytes, now: float) -> str:
        """Description of what the joints do instead of what was sent, from a frame received at `now` [s].

        Empty where they follow. Damping is harmless, whoever commands it, unless targets other than damping were sent.

        Raises:
            LinkError: the frame is malformed.
        """
        frame = decode(data, [LEG_CONTROL_COMMAND])
        pulls = _any(frame, ("tau_ff", "kp_joint", *_CARTESIAN))
        with self._lock:
            sent = None if _any(frame, _CARTESIAN) else self._sent.get(_key(frame, _EXECUTED))
            damping_is_wanted = not self._followed or now - self._damped <= _OLDEST
        if sent is not None and now - sent <= _OLDEST:
            return ""
        if pulls and sent is not None:
            return f"the joints execute targets {1e3 * (now - sent):.0f} ms old; allowed: {1e3 * _OLDEST:.0f} ms"
        if pulls:
            return (
                f"somebody else moves the legs, with {frame.array('kp_joint').max():.0f} N m/rad: the robot's program"
                " on the way to its initial pose, or another sender of targets"
            )
        if not _any(frame, ("kd_joint",)):
            return "the joints are limp: the radio's stop is pressed, or the robot's program disables the legs"
        return "" if damping_is_wanted else "the joints damp instead of following targets: damp, then stand"


def _key(frame: Frame, names: tuple[str, ...]) -> bytes:
    return np.concatenate([frame.array(name) for name in names]).astype(np.float32).tobytes()


def _any(frame: Frame, names: tuple[str, ...]) -> bool:
    return any(bool(frame.array(name).any()) for name in names)
