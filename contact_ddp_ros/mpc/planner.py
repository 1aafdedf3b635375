"""Receding-horizon MPC: a measured state in, a policy out.

The horizon begins at the measurement's own instant: the first step is shortened so that it ends on the gait's grid, and
every later step lies on it. Each solve starts from the last policy, shifted; what the policy did not reach begins from
the heuristic controller of a cold solve. (What the policy did one gait cycle before is the worse guess: its gains, made
for the middle of a horizon, overshoot from the state at its end.) Touchdown multipliers are kept from solve to solve
(:mod:`contact_ddp_ros.mpc.warm_start`); those of hard limits travel with the policy. Where the shifted
policy leads the solve astray from the measured state (it diverges, or breaks limits grossly), the heuristic controller
is the guess for all of the horizon. A solve that diverges even so, or holds a number that is not finite, is reported
and gives no policy; the last good one stays the warm start. While the gait is held, the heuristic controller challenges
the warm start now and then (:mod:`contact_ddp_ros.mpc.warm_start`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.choices import INTERIOR_POINT
from contact_ddp_ros.base.config import specs, validate
from contact_ddp_ros.base.errors import MessageError, ParameterError
from contact_ddp_ros.mpc.config import CLEARANCE_MOST, PlannerConfig, ReferenceConfig, for_model
from contact_ddp_ros.mpc.cost_terms import cost_terms
from contact_ddp_ros.mpc.euler_convention import ChartChoice, policy_in_chart
from contact_ddp_ros.mpc.governor import (
    CommandGovernor,
    HeadingTracker,
    MotionLimits,
    RateLimited,
    SpeedTrim,
    motion_limits,
    pose_cut,
)
from contact_ddp_ros.mpc.grounds import FootGrounds
from contact_ddp_ros.mpc.horizon import followed, horizon_grid, steps_of_cycle
from contact_ddp_ros.mpc.loop_solver import LoopSolver, Solved
from contact_ddp_ros.mpc.plan_result import PlanResult, Provenance, plan_result
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.warm_start import (
    ColdRestart,
    IterationBudget,
    WarmStart,
    better,
    heuristic_guess,
    is_infeasible,
    reaches,
    shifted,
    shifted_multipliers,
    violations,
)
from contact_ddp_ros.ocp.interior_solution import DualVariables
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.gaits.sequence import GaitSequence
from contact_ddp_ros.robot.ground import FootHeights, Ground, LocalGround, Payload, TerrainEstimate
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.models.model import HorizontalFrame, Model, OwnFrame
from contact_ddp_ros.robot.state import BodyPose, RobotState

Array = NDArray[np.float64]

_NOTHING_FELT = TerrainEstimate()

_AS_IT_IS = OwnFrame(0.0, 0.0, 0.0)

_MEMORY = 0.5
"""Plans older than this are no warm start for a gait that is held at its beginning [s]."""


@dataclass(frozen=True)
class Prepared:
    """The problem builder that knows a gait, and that gait's index."""

    builder: ProblemBuilder
    gait: int


class Planner:
    """Plans a gait for one model of a robot; call :meth:`reset` before the first plan of a gait."""

    def __init__(self, model: Model, config: PlannerConfig | None = None, epoch: int = 0) -> None:
        """Build the problem for a model, which compiles its kernels or loads them.

        Args:
            model: of the robot that is planned for.
            config: parameters, for that model; its default ones by default.
            epoch: of the first gait; a planner that replaces another must begin with a later epoch.

        Raises:
            ContactDdpError: a parameter, the robot's description or the compiler is not usable.
        """
        self.config = config or for_model(PlannerConfig(), model.name)
        validate(self.config)
        _check_payload(self.config.payload, model)
        self.model = model
        self.model_hash = model.robot.model_hash
        self.builder = ProblemBuilder(model, self.config)
        self._groups = [[LEG_NAMES.index(leg) for leg in legs] for legs in model.legs_of.values()]
        self._gait = 0
        """Index of the gait that is to be followed."""
        self._solver = LoopSolver(self.config, self.builder.penalty(self.config))
        self.epoch = epoch
        self._epoch_time = 0.0
        self._sequence = 0
        self._ground = self.config.ground
        """That the present plan counts on."""
        self._advance = self._hurried = 0.0
        self._warm = WarmStart(self.config.gait.step)
        self._charts = ChartChoice()
        self._challenge = ColdRestart()
        self._governor = CommandGovernor()
        self._pose_cut = ""
        self._trim = SpeedTrim()
        self._slow_enough = True
        """Reach check of the planned motion in the gait that is to be followed."""
        self._height = RateLimited(self.config.reference.height)
        self._roll, self._pitch = RateLimited(), RateLimited()
        self._course = HeadingTracker()
        self._budget = IterationBudget()

    def prepared(self, config: PlannerConfig) -> Prepared:
        """What :meth:`configure` takes over; another thread may make it, as a new gait is compiled here.

        Raises:
            ParameterError: as :meth:`check`.
        """
        self.check(config)
        if config.gait == self.config.gait:
            return Prepared(self.builder, self._gait)
        return Prepared(*self.builder.knowing(config.gait))

    def check(self, config: PlannerConfig) -> None:
        """Refuse parameters that cannot be taken over.

        Raises:
            ParameterError: a structural parameter differs (the grid, the kernels), the gait is not for this model, or
                the payload takes more from the trunk than it weighs.
        """
        validate(config)
        _check_payload(config.payload, self.model)
        if config.structure != self.config.structure:
            raise ParameterError(
                "grid, integrator, tensors, constraints and cost terms are fixed while the planner exists; restart it"
            )
        if config.gait != self.config.gait:
            self.builder.check_gait(config.gait)

    def configure(self, config: PlannerConfig, prepared: Prepared | None = None) -> None:
        """Apply new parameters from the next solve on.

        Another gait begins where a cycle ends, as soon as none of it lies within the present horizon; a robot that
        stands begins with it.

        Raises:
            ParameterError: as :meth:`prepared`; nothing has changed then.
        """
        solver = LoopSolver(config, self.builder.penalty(config))
        prepared = prepared or self.prepared(config)
        if prepared.builder.sequence.gaits != self.builder.sequence.gaits:
            known = replace(prepared.builder.sequence, sections=self.builder.sequence.sections)
            self.builder = prepared.builder.along(known)
        self._gait = prepared.gait
        self.config = config
        self._solver = solver

    def know(self, gait: str) -> None:
        """Load or compile a gait now that is to be followed later.

        Raises:
            ParameterError: there is no such gait, or it is not for this model or grid.
        """
        self.builder, _ = self.builder.knowing(replace(self.config.gait, name=gait))

    @property
    def gait_start(self) -> float:
        """Time at which the gait's first mode began, had neither contact nor the legs' reach moved it [s]."""
        return self._epoch_time + self._advance + self._hurried

    def reset(self, time: float) -> None:
        """Start a new gait whose first mode begins at `time` [s]."""
        self.epoch += 1
        self._epoch_time, self._hurried = time - self._advance, 0.0
        self.builder = self.builder.along(self.builder.sequence.only(self._gait))
        self._forget()

    def warm_up(self, state: RobotState) -> None:
        """Load all that a plan needs by making one, and forget that plan."""
        self.plan(state, 0.0, hold=True)
        self._forget()

    def plan(
        self,
        state: RobotState,
        speed: float,
        *,
        lateral: float = 0.0,
        turn: float = 0.0,
        hold: bool = False,
        deadline: float | None = None,
        iterations: int | None = None,
        felt: TerrainEstimate = _NOTHING_FELT,
        pose: BodyPose | None = None,
        grounds: Mapping[str, Ground] | None = None,
    ) -> PlanResult:
        """Solve from a measured state for a commanded speed, to the left, too [m/s], and turn [rad/s].

        A planar model goes straight ahead whatever is commanded: its controller steers. `pose` is how the trunk is to
        be held, by default as configured; it is cut to what the parameters allow. A planar model has no roll.

        With `hold` the gait stays at its beginning: each plan starts the first mode at the state's own instant, so that
        a robot that stands may begin to bound with any of them. Where there is a `deadline`, on the clock of
        `time.perf_counter` [s], iterations that would not end in time are left out, but for one; a replay gives their
        number instead, the `allowed` of the recorded :class:`PlanResult`. Where `felt` has a ground, it takes the
        place of the parameters', but for its friction; where that is rough, feet swing higher. So do a payload
        and an inertia of the drives that are felt. `grounds` are the planes under single contact points of the
        model, by name, where they are known; their friction does not count.

        Raises:
            MessageError: an array of the state has another size, or the state or the speed is not finite.
            ParameterError: a ground is given for no contact point of the model, or a payload takes more from the trunk
                than it weighs.
        """
        n_joints = self.model.robot.n_joints
        if not state.has_sizes(n_joints):
            raise MessageError(f"an array of the state has another size; no plan is made but for {n_joints} joints")
        if not state.is_finite():
            raise MessageError("the state holds a number that is not finite; no plan is made from it")
        commanded: dict[str, object] = {"speed": speed, "lateral speed": lateral, "turn": turn}
        for what, number in commanded.items():
            if not (isinstance(number, Real) and math.isfinite(number)):
                raise MessageError(f"the commanded {what} is {number!r}; allowed: a finite number")
        if felt.feet and any(len(heights) != len(LEG_NAMES) for heights in (felt.feet.standing, felt.feet.landing)):
            raise MessageError(f"the ground under single feet is {felt.feet}; allowed: {len(LEG_NAMES)} heights each")
        if felt.payload is not None:
            _check_payload(felt.payload, self.model)
        self._take_chart(state, wait=deadline is None)
        self._move_ahead(felt.advance)
        x0, time, wished = self.model.state(state), state.time, _held(pose, self.config.reference)
        reference = self.builder.reference.reachable(wished)
        self._pose_cut, limits = pose_cut(wished, reference), self._limits(reference)
        challenge = hold and self._challenge.is_due(time)
        configured = self.config.ground
        self._ground = configured if felt.ground is None else replace(felt.ground, friction=configured.friction)
        if hold:
            x, y, z = state.position.tolist()
            self._hold(time, z - self._ground.height_at(x, y))
            wanted = self._governor.rest(time)
            self._trim.reset(time)
        else:
            wanted = self._governor.follow(TrunkCommand(speed, lateral, turn), time, limits, reference)
            self._slow_enough = limits.hold(wanted)
            reference = replace(reference, speed_limit=limits.speed)
            measured, cycle = self.model.forward_velocity(x0), self.builder.sequence.period
            wanted = replace(wanted, forward=self._trim.follow(wanted.forward, measured, time, cycle, reference))
        height = self._height.approach(reference.height, reference.height_rate, time)
        roll, pitch = (
            one.approach(target, reference.tilt_rate, time)
            for one, target in ((self._roll, reference.roll), (self._pitch, reference.pitch))
        )
        wanted, chart, trim = replace(wanted, lean=roll, pitch=pitch), self.model.chart, self._trim.value
        follow = partial(self._course.follow, reach=limits.reach, centripetal=limits.acceleration)
        motion = follow(state, wanted, self._ground, reference, hold=hold, speed_trim=trim, chart=chart)
        if motion.forward_excess or motion.lateral_excess:
            self._hurry(state)
        frame = self.model.frame(state, motion.heading)
        motion, ground = replace(motion, heading=0.0), frame.ground(self._ground)
        feet: FootHeights | FootGrounds | None = felt.feet and felt.feet.of_groups(self._groups)
        if grounds:
            known = {name: frame.ground(one) for name, one in grounds.items()}
            feet = FootGrounds.named(self.builder.feet, ground, known)
        clearance = min(reference.clearance + reference.clearance_gain * felt.roughness, CLEARANCE_MOST)
        config = replace(
            self.config,
            reference=replace(reference, height=height, clearance=clearance),
            payload=self.config.payload if felt.payload is None else felt.payload,
            drive_inertia=self.config.drive_inertia if felt.drive_inertia is None else felt.drive_inertia,
        )
        return self.plan_coordinates(
            *(frame.into(x0), time, motion, config, ground, feet),
            challenge=challenge,
            deadline=deadline,
            iterations=iterations,
            frame=frame,
        )

    def plan_coordinates(
        self,
        x0: Array,
        time: float,
        motion: TrunkCommand,
        config: PlannerConfig | None = None,
        ground: LocalGround | None = None,
        feet: FootHeights | FootGrounds | None = None,
        *,
        challenge: bool = False,
        deadline: float | None = None,
        iterations: int | None = None,
        frame: HorizontalFrame | OwnFrame = _AS_IT_IS,
    ) -> PlanResult:
        """Solve from the model's state x0 (2n,) at `time` [s] for a motion.

        `config` may have another reference, payload and inertia of the drives than the planner's, which it is by
        default. `ground` is that in the model's axes, by default level at the configured height, and `feet` how far
        that of each contact point lies above it, or planes of their own. The policy is that of `odom` where x0, motion
        and ground are those of a `frame`.

        With `challenge`, or where the warm-started solve is lost, the cold guess is solved from, too, and the better
        plan counts.
        """
        started = perf_counter()
        self._follow_gait(time)
        grid = horizon_grid(self._timetable(), self.config.gait.horizon_cycles, time, self.config.horizon)
        phased = replace(grid, times=grid.times - self._epoch_time)  # from the gait's epoch
        config = config or self.config
        x, y = (float(number) for number in (x0[0], x0[1] if self.model.height > 1 else 0.0))
        problem, xs_reference = self.builder.build(phased, config, replace(motion, x=x, y=y), ground, feet)
        heuristic = partial(heuristic_guess, self.builder, phased, xs_reference, config.first_guess)
        cycle = steps_of_cycle(self.builder.sequence, grid.start_step)
        last = self._warm.policy
        multipliers = self._warm.touchdowns.of(phased, cycle, len(self.builder.feet))
        fresh = DualVariables(multipliers, np.zeros((problem.n_nodes, problem.n_i)))
        wanted, near = self.config.iterations, self._warm.near
        most = wanted + self.config.constraint.further_iterations
        allowed = self._budget.iterations(deadline, 2 * most) if iterations is None else iterations
        if last is None:
            solved = self._solve(problem, x0, heuristic(), fresh, self.config.first_iterations)
        else:
            warm = replace(fresh, inequalities=shifted_multipliers(last, self._warm.inequalities, grid, near))
            guess = shifted(frame.policy_into(last), grid, heuristic(~reaches(last, grid, near)), near)
            solved = self._solve(problem, x0, guess, warm, min(wanted, allowed), min(most, allowed))
            if challenge or is_infeasible(solved.solution):
                rest = max(allowed - len(solved.solution.iterations), 1)
                other = self._solve(problem, x0, heuristic(), fresh, min(wanted, rest), min(most, rest))
                solved = other if better(solved.solution, other.solution) is other.solution else solved
        terms = partial(cost_terms, self.builder, problem, grid, solved.solution, solved.multipliers, solved.penalty)
        hard = self.config.constraint.method == INTERIOR_POINT
        result = plan_result(self.builder, grid, problem, solved.solution, frame, self._provenance(), started, hard)
        policy = result.policy
        if policy is not None:
            self._sequence = policy.sequence
            self._warm.policy, self._warm.inequalities = policy, solved.next.inequalities
            self._warm.near = grid.near
            policy = policy.until(grid.near)
            self._warm.hessian_blend = solved.solution.hessian_blend
            self._warm.touchdowns.update(phased, cycle, solved.next.equalities)
        return replace(
            result,
            policy=policy,
            cost_terms=terms,
            violations=partial(violations, problem, solved.solution),
            gait=self.config.gait.name,
            cold=last is None,
            allowed=allowed,
            cut="; ".join(filter(None, (self._governor.cut, self._pose_cut))),
        )

    def _solve(
        self, problem: Problem, x0: Array, guess: Guess, warm: DualVariables, iterations: int, most: int = 0
    ) -> Solved:
        started = perf_counter()
        solved = self._solver.solve(problem, x0, guess, warm, self._warm.hessian_blend, iterations, most)
        self._budget.record(perf_counter() - started, len(solved.solution.iterations))
        return solved

    def _provenance(self) -> Provenance:
        """Of the next policy."""
        return Provenance(
            self._sequence + 1, self.epoch, self.model_hash, self._ground, self._advance, self.model.chart
        )

    def _limits(self, reference: ReferenceConfig) -> MotionLimits:
        """Limits of the motion in the gaits of the horizon and in the one that is to be followed.

        The trunk counts as high and as tilted as it is planned to be at any time from now on.
        """
        tallest = replace(
            reference,
            height=max(reference.height, self._height.value),
            roll=max(reference.roll, self._roll.value, key=abs),
            pitch=max(reference.pitch, self._pitch.value, key=abs),
        )
        _, wanted = self.builder.sequence.gaits[self._gait]
        feet = self.builder.reference.foot_speeds(tallest, wanted)
        return motion_limits(feet, self.builder.reference.hip_radii, self.config.ground.friction, reference)

    def _take_chart(self, state: RobotState, wait: bool) -> None:
        """Go on in the chart of the attitude in which a state is regular, and the warm start with it."""
        builder = self._charts.builder(self.builder, state, wait=wait)
        if builder.model.chart is not self.model.chart:
            self.builder, self.model = builder, builder.model
            warm = policy_in_chart(self._warm.policy, self.model.chart)
            if warm is None:
                self._warm.forget()
            self._warm.policy = warm

    def _move_ahead(self, advance: float) -> None:
        """Let the gait, and the warm start with it, be as far ahead as contact has moved it [s]."""
        sooner = advance - self._advance
        self._advance = advance
        self._epoch_time -= sooner
        self._warm.delay(-sooner)

    def _hurry(self, state: RobotState) -> None:
        """Let the gait run faster where stances would outlast the reach of their legs, and the warm start with it.

        That is for velocities beyond the commanded ones, which are cut to what the gait's own stances reach.
        """
        late = self.builder.reference.overstay(state, state.time - self._epoch_time)
        sooner = min(late, self.config.reference.hurry / self.config.rate)
        self._hurried += sooner
        self._epoch_time -= sooner
        self._warm.delay(-sooner)

    def _hold(self, time: float, height: float) -> None:
        """Let the gait begin at `time`, at rest at the present height; the warm start keeps its phase."""
        last = self._warm.policy
        if last is not None and not (time - last.start <= _MEMORY and last.start - self._epoch_time <= _MEMORY):
            self._forget()  # what was planned long ago, or in the middle of the gait, leads astray
        alone = self.builder.sequence.only(self._gait)
        if alone != self.builder.sequence:
            self.builder = self.builder.along(alone)
            self._forget()
        self._height.restart(height, time)
        self._roll.restart(0.0, time)
        self._pitch.restart(0.0, time)
        self._warm.delay(time - self._epoch_time)
        self._epoch_time, self._hurried = time, 0.0

    def _forget(self) -> None:
        self._warm.forget()
        self._governor.rest(self._epoch_time)
        self._height.restart(self.config.reference.height, self._epoch_time)
        self._roll.restart(0.0, self._epoch_time)
        self._pitch.restart(0.0, self._epoch_time)

    def _timetable(self) -> GaitSequence:
        """The gaits on the clock of the states."""
        return replace(self.builder.sequence, epoch=self._epoch_time)

    def _follow_gait(self, time: float) -> None:
        """Forget gaits that are over, and let another begin after the horizon where one is wanted and slow enough."""
        sequence = self.builder.sequence
        gait = self._gait if self._slow_enough else sequence.sections[-1].gait
        wanted = followed(self._timetable(), gait, self.config.gait.horizon_cycles, time)
        if wanted.sections != sequence.sections:
            self.builder = self.builder.along(replace(sequence, sections=wanted.sections))


def _held(pose: BodyPose | None, reference: ReferenceConfig) -> ReferenceConfig:
    """The reference with the trunk as told, within the parameters' limits; what is not told stays as configured."""
    if pose is None:
        return reference
    wanted = {
        "height": reference.height if pose.height is None else pose.height,
        "roll": pose.roll,
        "pitch": pose.pitch,
    }
    bounds = specs(reference)
    low, high = ({name: getattr(bounds[name], side) for name in wanted} for side in ("low", "high"))
    return replace(reference, **{name: min(max(value, low[name]), high[name]) for name, value in wanted.items()})


def _check_payload(payload: Payload, model: Model) -> None:
    trunk = next(joint.mass for joint in model.tree.joints if joint.mass > 0.0)
    if not payload.mass > -trunk:
        raise ParameterError(f"payload.mass is {payload.mass:g} kg; allowed: more than {-trunk:g} kg, the trunk's own")
