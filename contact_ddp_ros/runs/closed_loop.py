"""Closed loop of a run's options: the robot begins standing, stands up, and moves as soon as it stands and has a plan.

In lock-step a run depends on its options only, not on the machine; in real time the planner solves in a thread of its
own, as on the robot. See :mod:`contact_ddp_ros.runs.loop`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.cost_terms import TERMS
from contact_ddp_ros.mpc.custom_terms import configured_terms
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.reference import gait_schedule, gait_sequence
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.plant import SimulatedPlant
from contact_ddp_ros.plants.pushes import Push, PushSchedule
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.state import DriveGains
from contact_ddp_ros.runs.loop import CONTROL_PERIOD, Channel, LockStep, Loop, Observer, WallClock, estimator_of
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import FALL_HEIGHT, Recorder, Recording, RunInfo, plain_options
from contact_ddp_ros.runs.robot_scaling import scales
from contact_ddp_ros.runs.scenario import Scenario, scenario

_PATIENCE = 1.0
"""Time within which a robot that could not stand up at once is asked again [s]."""

REST_AFTER_FALL = 1.0
"""Time after which a robot that is to recover is told to get up [s]."""

MakeSimulator = Callable[[Robot, DriveGains, SimOptions], SimulatedPlant]
"""Builds the simulated world from the robot, the gains of its drives and what the planner does not know."""


class Timetable(Observer):
    """Timed requests of a run's options: speed, gaits, when to move and to stop, getting up after a fall."""

    def __init__(self, options: RunOptions) -> None:
        """Begin with everything still to come."""
        self._options = options
        self._gaits = list(options.gaits)
        self._stood = self._moved = self._stopped = False

    def before_tick(self, loop: Loop) -> None:
        """Command the speed of now, and the gait that is due; stand up as soon as there is a state for it."""
        now, controller = loop.plant.time, loop.controller
        loop.speed = self._options.speed_at(now)
        if loop.ticks == 0:
            controller.update(loop.state, loop.shown)
        if not self._stood and now <= _PATIENCE:
            answer = controller.request(ControlMode.STAND)
            self._stood = answer.accepted
            if not answer.accepted and loop.ticks == 0:
                loop.event(f"stand refused: {answer.reason}")
        if not self._moved and now >= self._options.stand_time:
            self._moved = loop.move_is_due = True
        while self._gaits and self._gaits[0][0] <= now + 1e-9 and not loop.clock.busy:
            _, gait = self._gaits.pop(0)
            loop.planner.configure(replace(loop.planner.config, {"gait.name": gait}))
            loop.event(f"gait {gait} requested")

    def after_update(self, loop: Loop) -> None:
        """Get up and stop where that is due."""
        now, stop = loop.plant.time, self._options.stop_time
        fault = loop.controller.fault
        if self._options.recover and fault is not None and now >= fault.time + REST_AFTER_FALL:
            answer = loop.controller.request(ControlMode.RECOVER)
            if answer.accepted:
                loop.move_is_due = not self._stopped
                loop.event(f"recover requested: {answer.reason}")
        if stop is not None and not self._stopped and now >= stop:
            self._stopped, loop.plans_standing = True, False
            loop.event(f"stand requested: {loop.controller.request(ControlMode.STAND).reason}")


class Pushes(Observer):
    """Pushes of the trunk, each at its time."""

    def __init__(self, pushes: Sequence[Push]) -> None:
        """Begin with all of them to come."""
        self._schedule = PushSchedule(pushes)

    def after_update(self, loop: Loop) -> None:
        """Push where that is due."""
        for push in self._schedule.due(loop.plant.time):
            loop.plant.push(np.array(push.force), push.duration, np.array(push.torque))
            loop.event(str(push))


class ClosedLoop(Loop):
    """Closed loop of planner, controller and simulated robot, built from the options of a run."""

    def __init__(
        self,
        options: RunOptions,
        recorder: Recorder | None = None,
        job: str = "sim",
        channel: Channel | None = None,
        make_simulator: MakeSimulator = make_simulator,
    ) -> None:
        """Builds everything; loads or compiles the kernels.

        Raises:
            ContactDdpError: a parameter, the robot's description or the compiler is not usable.
        """
        self._duration = options.duration
        found = scenario(options)
        robot = found.robot
        controller = Controller(robot, found.controller)
        planner = Planner(WholeBodyModel(robot), found.planner)
        for _, gait in options.gaits:
            planner.know(gait)
        super().__init__(
            make_simulator(robot, controller.drive_gains, found.simulator),
            controller,
            recorder or Recorder(),
            planner,
            estimator=estimator_of(options, robot, controller.config),
            channel=channel,
            observers=[Timetable(options), Pushes(options.pushes)],
            clock=LockStep(options.planner_delay) if options.lockstep else WallClock(),
        )
        self.steering = (options.turn, options.left)
        planner_period = self.ticks_per_plan * CONTROL_PERIOD
        control_period = self.steps_per_tick * self.plant.timestep
        self.recorder.begin(run_info(job, found, control_period, planner_period))

    def run(self) -> Recording:
        """Run the closed loop for the duration of the options."""
        return self.run_to(self._duration)


def run(options: RunOptions, recorder: Recorder | None = None) -> Recording:
    """Run one closed loop and return what was recorded; see :class:`ClosedLoop`."""
    return ClosedLoop(options, recorder).run()


def run_info(job: str, scenario: Scenario, control_period: float, planner_period: float) -> RunInfo:
    """The information of a run with or without ROS; periods in s.

    Raises:
        ParameterError: a gait of the run does not exist or is not for its model.
    """
    options, robot, planner = scenario.run, scenario.robot, scenario.planner
    model = WholeBodyModel(robot)
    sequence = gait_sequence(model, planner.gait)
    for _, name in options.gaits:
        sequence = sequence.knowing(name, gait_schedule(model, replace(planner.gait, {"name": name})))
    foot_of = dict(zip(LEG_NAMES, FOOT_NAMES, strict=True))
    feet_of = {contact: tuple(foot_of[leg] for leg in legs) for contact, legs in model.legs_of.items()}
    return RunInfo(
        job=job,
        options=plain_options(options),
        joint_names=JOINT_NAMES,
        torque_limits=tuple(float(limit) for limit in robot.effort_limits),
        foot_names=FOOT_NAMES,
        contact_points=tuple(model.legs_of),
        force_dimension=len(model.axes),
        mode_names=tuple(mode.name for mode in sequence.modes),
        gait_period=sequence.period,
        mode_feet=tuple(tuple(foot for name in mode.contacts for foot in feet_of[name]) for mode in sequence.modes),
        control_period=control_period,
        planner_period=planner_period,
        planner_friction=planner.ground.friction,
        cost_terms=(*TERMS, *(term.name for term in configured_terms(planner))),
        plan_coordinates=model.coordinates,
        parameters=scenario.parameters,
        ground_height=planner.ground.height,
        fall_height=FALL_HEIGHT * scales(robot)[0],
    )
