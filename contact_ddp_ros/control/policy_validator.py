"""Validation of policies before the controller follows them: sizes, numbers, model, order, age.

From what age on a policy is late, of a planner that may be slower than its nominal period.

A planner that shares a small processor takes longer than its period for a solve, drops the requests that come meanwhile
and answers the newest one next, or chooses a lower rate: its policies are old when they arrive, or far apart. What is
late is then counted in these periods.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.safety import SafetyViolation, ViolationKind
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import CHECKED, NUMBERS, Policy, all_within
from contact_ddp_ros.robot.rotation import COMPILED, READ
from contact_ddp_ros.robot.state import RobotState

_SHARE = 0.2
"""Share of the last policy in the running mean of the ages at arrival."""

_SLOWEST = 0.06
"""Longest period that is believed [s]: three of them are half a horizon of the bound.

With more periods allowed a policy still has to reach beyond the present and to be near the measured state.
"""


class PlannerPace:
    """Running mean of the age at which policies arrive, or of the time between them where that is longer."""

    def __init__(self, config: SafetyConfig) -> None:
        self.config = config
        self._age = 0.0

    def arrived(self, age: float, interval: float = 0.0) -> None:
        """Take the age of a policy at its arrival and the time since the last one began [s] into the mean."""
        if age >= 0.0:
            self._age += _SHARE * (min(max(age, interval), _SLOWEST) - self._age)

    @property
    def period(self) -> float:
        """Between two policies, the nominal one at least [s]."""
        return max(self.config.planner_period, min(self._age, _SLOWEST))

    @property
    def timeout(self) -> float:
        """Age from which a policy is late [s]."""
        return self.config.policy_periods * self.period


Array = NDArray[np.float64]


class PolicyValidator:
    """Validates policies one after another: right sizes, finite, of this model, in order, not late."""

    def __init__(self, model: WholeBodyModel, model_hash: int, config: SafetyConfig) -> None:
        """`model` is the planner's, and `model_hash` the fingerprint that its policies must carry."""
        self.config = config
        self.pace = PlannerPace(config)
        self._model = model
        self._coordinates, self._torques = model.coordinates, model.torque_limits
        n_forces = len(model.legs_of) * len(model.axes)
        self._sizes = {"state": 2 * len(self._coordinates), "control": len(self._torques), "force": n_forces}
        self._model_hash = model_hash
        self._last: Policy | None = None
        self._answered: Policy | None = None

    def forget(self) -> None:
        """Forget the order so far: the next policy may be of any epoch and sequence."""
        self._last = self._answered = None

    def missed(self) -> None:
        """Note an answer that gave no policy: the time to the next one tells nothing of the planner's rate."""
        self._answered = None

    def check(
        self, policy: Policy, now: float, following: bool, state: RobotState | None = None
    ) -> SafetyViolation | None:
        """Fault of a policy at time `now` [s], or None, and then its successors must come after it.

        `state` is the measured one, where one is known: a policy must pass near it.
        Where the last policy is being followed (`following`), one of another epoch is refused; otherwise a later epoch
        is always welcome, and an earlier one once the last policy has run out (the planner has been restarted).
        """
        finding = self._size(policy)
        fine = finding is None and self._is_fine(policy)
        finding = finding or (None if fine else self._finite(policy)) or self._order(policy, now, following)
        if finding is None:
            last = self._answered
            going = last is not None and policy.start < last.end  # otherwise there has been a pause
            self.pace.arrived(now - policy.start, policy.start - last.start if last is not None and going else 0.0)
        finding = finding or self._age(policy, now, following)
        finding = finding or (None if fine else self._range(policy) or self._torque(policy))
        finding = finding or self.away(policy, now, state)
        if finding is None:
            self._last = self._answered = policy
        return finding

    def lateness(self, policy: Policy | None, now: float) -> SafetyViolation | None:
        """Why a policy is not fresh at `now` [s]: none has come, it is late, or its horizon is over; None if it is."""
        if policy is None:
            return SafetyViolation(ViolationKind.NO_POLICY, "no policy has arrived")
        if not now < policy.end:
            return SafetyViolation(
                ViolationKind.POLICY_OVER, f"the policy ended {now - policy.end:.3f} s ago, and no other came"
            )
        age = now - policy.start
        if not age <= self.pace.timeout:
            text = f"the policy is {age:.3f} s old; in time: {self.pace.timeout:.3f} s"
            return SafetyViolation(ViolationKind.POLICY_STALE, text)
        return None

    def _size(self, policy: Policy) -> SafetyViolation | None:
        n = len(policy.controls)
        n_x, n_u, n_forces = self._sizes.values()
        wanted = {
            "times": (n + 1,),
            "states": (n + 1, n_x),
            "controls": (n, n_u),
            "gains": (n, n_u, n_x),
            "modes": (n,),
            "forces": (n, n_forces),
        }
        for name, shape in wanted.items():
            found = np.shape(getattr(policy, name))
            if found != shape or n == 0:
                return SafetyViolation(
                    ViolationKind.POLICY_SIZE, f"{name} has shape {found}; allowed: {shape}, at least one knot"
                )
        return None

    def _is_fine(self, policy: Policy) -> bool:
        """All checks of a policy's numbers at once, compiled; what exactly is wrong is for the ones below to say."""
        config = self.config
        limits = config.policy_knot, config.policy_step, config.policy_velocity, config.policy_gain, config.policy_force
        return _is_fine(*policy.numbers(), limits, config.policy_torque_factor * self._torques)

    def _finite(self, policy: Policy) -> SafetyViolation | None:
        for name in NUMBERS:
            if not np.isfinite(getattr(policy, name)).all():
                return SafetyViolation(ViolationKind.POLICY_NOT_FINITE, f"not a finite number in {name}")
        return None

    def _order(self, policy: Policy, now: float, following: bool) -> SafetyViolation | None:
        if policy.model_hash != self._model_hash:
            text = f"made for model {policy.model_hash:x}; this controller runs {self._model_hash:x}"
            return SafetyViolation(ViolationKind.POLICY_MODEL, text)
        last = self._last
        if last is None:
            return None
        expired = not now - last.start <= self.pace.timeout
        if policy.epoch != last.epoch:
            if following or (policy.epoch < last.epoch and not expired):
                text = f"epoch {policy.epoch} while following epoch {last.epoch}"
                return SafetyViolation(ViolationKind.POLICY_EPOCH, text)
        elif policy.sequence <= last.sequence and not (expired and not following):
            text = f"sequence {policy.sequence} after {last.sequence} of the same epoch"
            return SafetyViolation(ViolationKind.POLICY_SEQUENCE, text)
        return None

    def _age(self, policy: Policy, now: float, following: bool) -> SafetyViolation | None:
        """A late policy is better than the one before it, but none to begin with."""
        age = now - policy.start
        if not now < policy.end:
            return SafetyViolation(ViolationKind.POLICY_OVER, f"ended {now - policy.end:.3f} s ago")
        if not following and not age <= self.pace.timeout:
            text = f"starts {age:.3f} s ago; allowed: {self.pace.timeout:.3f} s"
            return SafetyViolation(ViolationKind.POLICY_STALE, text)
        if not -age <= self.pace.timeout + self.config.clock_tolerance:
            text = f"starts {-age:.3f} s from now; allowed: {self.pace.timeout:.3f} s"
            return SafetyViolation(ViolationKind.POLICY_FROM_FUTURE, text)
        return None

    def _range(self, policy: Policy) -> SafetyViolation | None:
        """No plan of this robot runs back in time, jumps from knot to knot, or needs such velocities and gains."""
        config, n_q = self.config, policy.states.shape[1] // 2
        for what, values, low, high in (
            ("time between knots [s]", np.diff(policy.times), 0.0, config.policy_knot),
            ("step between knots [m, rad]", np.diff(policy.states[:, :n_q], axis=0), None, config.policy_step),
            ("velocity [m/s, rad/s]", policy.states[:, n_q:], None, config.policy_velocity),
            ("gain [N m/m ... N m s/rad]", policy.gains, None, config.policy_gain),
            ("force [N]", policy.forces, None, config.policy_force),
        ):
            low = -high if low is None else low
            if not (values.min() >= low and values.max() <= high):
                text = f"{what} from {values.min():.3g} to {values.max():.3g}; allowed: {low:g} to {high:g}"
                return SafetyViolation(ViolationKind.POLICY_RANGE, text)
        return None

    def _torque(self, policy: Policy) -> SafetyViolation | None:
        allowed = self.config.policy_torque_factor * self._torques
        within = np.abs(policy.controls) <= allowed
        if within.all():
            return None
        knot, control = np.argwhere(~within)[0]
        text = f"control {control} of knot {knot} is {policy.controls[knot, control]:.1f} N m"
        return SafetyViolation(ViolationKind.POLICY_TORQUE, f"{text}; allowed: ±{allowed[control]:.1f}")

    def away(self, policy: Policy, now: float, state: RobotState | None) -> SafetyViolation | None:
        """Text on a policy's state at `now` [s] that is too far from a measured one: height, then angles; or None."""
        if state is None:
            return None
        n_q, up = policy.states.shape[1] // 2, self._model.height
        away = np.abs(self._model.deviation(state, policy.sample(now).state, policy.chart))[up:n_q].tolist()
        allowed = [self.config.policy_height, *[self.config.policy_angle] * (n_q - up - 1)]
        within = [distance <= limit for distance, limit in zip(away, allowed)]
        if all(within):
            return None
        index = within.index(False)
        what, unit = self._coordinates[index + up], "m" if index == 0 else "rad"
        text = f"has {what} {away[index]:.2f} {unit} from where it is; allowed: {allowed[index]:.2f} {unit}"
        return SafetyViolation(ViolationKind.POLICY_AWAY, text)


@njit(nb.boolean(*CHECKED, nb.types.UniTuple(nb.float64, 5), READ), **COMPILED)
def _is_fine(times, states, controls, gains, forces, limits, torques):  # type: ignore[no-untyped-def]
    """True if every number lies within its limits, which are finite: so are the numbers then."""
    longest, step, velocity, gain, force = limits
    n, n_q = len(controls), states.shape[1] // 2
    fine = all_within(gains.ravel(), gain) and all_within(forces.ravel(), force)
    for k in range(n):
        fine &= 0.0 <= times[k + 1] - times[k] <= longest
        for i in range(n_q):
            fine &= abs(states[k + 1, i] - states[k, i]) <= step
        for i in range(len(torques)):
            fine &= abs(controls[k, i]) <= torques[i]
    for k in range(n + 1):
        fine &= all_within(states[k, n_q:], velocity)
    return fine
