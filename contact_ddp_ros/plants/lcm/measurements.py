"""Robot state from LCM frames: paired, stamped on receipt, believed only if they agree.

Joints and estimate come as two frames per tick of the robot, in an order that is its own. A state is complete when both
have come within a fraction of a tick; after a lost frame the lonely one is forgotten, so the two never drift apart.
The older of the two receipts is the stamp.

An inertial unit has a rate of its own: a state comes with its newest sample, whose stamp tells how old that is, and
with the mean of the forces since the state before.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import LinkError, ParameterError
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import LAYOUTS, Definition, Frame, Layout, decode
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import ImuSample, RobotState

Array = NDArray[np.float64]

AUTO = "auto"
"""The layout of the first valid frame."""

_TOLERANCE = 0.001
"""Largest time between the two frames of one tick: half a tick at 500 Hz [s]."""

_IMU_AGE = 0.02
"""Largest age of a sample that is handed on with a state: four periods of a unit at 200 Hz [s]."""

_SAMPLES = 20
"""Samples between two states that count: of a unit at 1000 Hz, those of the age above."""

_CHECK_PERIOD = 1.0
"""Time between two looks whether the robot's redundant numbers agree [s]."""


@dataclass(frozen=True)
class Measurement:
    """State and sensor readings of the robot at one instant.

    Attributes:
        state: stamped on receipt.
        torques: (12,) as the robot estimates them [N m].
        imu: newest sample of the inertial unit, stamped on receipt; None where none has come for 20 ms.
    """

    state: RobotState
    torques: Array
    imu: ImuSample | None


@dataclass(frozen=True)
class _Received:
    stamp: float
    frame: Frame


class MeasurementReader:
    """Pairs frames of joints and estimator in the order of their arrival; for one thread."""

    def __init__(self, robot: Robot, layout: str = AUTO) -> None:
        """`layout`: name of the only layout that is accepted, or :data:`AUTO`.

        Raises:
            ParameterError: there is no layout of that name.
        """
        if layout != AUTO and layout not in LAYOUTS:
            raise ParameterError(f"layout {layout!r}; allowed: {', '.join((AUTO, *LAYOUTS))}")
        self._robot = robot
        self._layout = LAYOUTS.get(layout)
        self._leg_data: _Received | None = None
        self._estimate: _Received | None = None
        self._state: RobotState | None = None
        self._unit: tuple[Definition, int | None] | None = None
        self._imu: ImuSample | None = None
        self._samples: deque[ImuSample] = deque(maxlen=_SAMPLES)
        self._checked = -np.inf

    @property
    def layout(self) -> Layout | None:
        """The accepted layout; None before the first frame in the case of :data:`AUTO`."""
        return self._layout

    def forget(self) -> None:
        """Discard a frame that waits for its counterpart."""
        self._leg_data = self._estimate = None

    def leg_data(self, data: bytes, stamp: float) -> Measurement | None:
        """Process a frame of the legs, received at `stamp` [s]; return the measurement it completes.

        Raises:
            LinkError: the frame is malformed or of another layout, or its redundant numbers contradict each other.
        """
        layouts = self._believed()
        frame = decode(data, [layout.leg_data for layout in layouts])
        self._layout = next(layout for layout in layouts if layout.leg_data == frame.definition)
        self._leg_data = _Received(stamp, frame)
        return self._complete()

    def estimate(self, data: bytes, stamp: float) -> Measurement | None:
        """Process a frame of the estimator received at `stamp` [s]; return the measurement it completes.

        Raises:
            LinkError: as :meth:`leg_data`.
        """
        layouts = self._believed()
        frame = decode(data, [layout.estimate for layout in layouts])
        self._layout = next(layout for layout in layouts if layout.estimate == frame.definition)
        self._estimate = _Received(stamp, frame)
        return self._complete()

    def imu(self, data: bytes, stamp: float) -> None:
        """Process a frame of an inertial unit received at `stamp` [s]; the first unit that has a sample is believed.

        Raises:
            LinkError: the frame is malformed or of another layout, or gravity contradicts the robot's orientation.
        """
        frame = decode(data, [unit for layout in self._believed() for unit in layout.imus.values()])
        sample, packets = conventions.imu_sample(frame, stamp), frame.values.get("good_packets")
        unit, counted = self._unit or (frame.definition, None)
        repeated = packets is not None and packets == counted
        if sample is not None and frame.definition == unit and not repeated:
            self._unit = unit, packets
            self._take(sample)

    def _take(self, sample: ImuSample) -> None:
        found = None if self._state is None else conventions.imu_disagreement(sample, self._state.orientation)
        if found is not None:
            raise LinkError(f"the robot and we do not mean the same: {found}")
        self._samples.append(sample)

    def _believed(self) -> list[Layout]:
        return list(LAYOUTS.values()) if self._layout is None else [self._layout]

    def _complete(self) -> Measurement | None:
        leg_data, estimate = self._leg_data, self._estimate
        if leg_data is None or estimate is None:
            return None
        if abs(leg_data.stamp - estimate.stamp) > _TOLERANCE:
            if leg_data.stamp < estimate.stamp:
                self._leg_data = None
            else:
                self._estimate = None
            return None
        self.forget()
        stamp = min(leg_data.stamp, estimate.stamp)
        state = conventions.robot_state(leg_data.frame, estimate.frame, stamp)
        self._agree(leg_data.frame, estimate.frame, stamp)
        self._state = state
        if (own := conventions.imu_sample(estimate.frame, stamp)) is not None:
            self._take(own)
        if self._samples:
            force = np.mean([sample.specific_force for sample in self._samples], axis=0)
            self._imu = replace(self._samples[-1], specific_force=force)
            self._samples.clear()
        recent = self._imu is not None and abs(stamp - self._imu.time) <= _IMU_AGE
        return Measurement(state, leg_data.frame.array("tau_est"), self._imu if recent else None)

    def _agree(self, leg_data: Frame, estimate: Frame, stamp: float) -> None:
        """Now and then, and again and again after a contradiction: no state passes before they agree."""
        if 0.0 <= stamp - self._checked < _CHECK_PERIOD:
            return
        found = conventions.disagreement(self._robot, leg_data, estimate)
        if found is not None:
            raise LinkError(f"the robot and we do not mean the same: {found}")
        self._checked = stamp
