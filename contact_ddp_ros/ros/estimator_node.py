"""The state estimator as a node: odometry with covariance from an IMU and the joints, for whoever wants only that.

The controller has its own (`node.state: imu`); this one serves other controllers, records, or comparisons.
"""

import sys
from functools import partial
from threading import Event
from typing import Any

import numpy as np
from rclpy.node import Node

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import estimate_message, time_ns
from contact_ddp_ros.ros.exchange import Synchroniser
from contact_ddp_ros.ros.loop_messages import ImuReader, stamp_misfit, stamp_of
from contact_ddp_ros.ros.monitor import Recent
from contact_ddp_ros.ros.node_config import EstimatorNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters, fitted
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics
from contact_ddp_ros.ros.runtime import publisher, run_node
from contact_ddp_ros.ros.timebase import Timebase
from contact_ddp_ros.runs.kernels import load_control

NAME = "estimator"

_SLICE = 0.1
"""Longest wait without a look whether to end [s]."""

_FROZEN = 0.1
"""Time for which the IMU may repeat its sample [s]."""


class EstimatorNode:
    """Publishes `odom` for every pair of joint states and IMU sample."""

    def __init__(self, node: Node) -> None:
        """Build the estimator and its topics.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self.node = node
        load_control()
        self._parameters = NodeParameters(node, fitted(node, EstimatorNodeConfig()))
        config = self._parameters.config
        self._estimator = StateEstimator(load_robot(config.node.urdf or None), config.estimation.state)
        self._reader, self._timebase = ImuReader(), Timebase()
        self._pairing: Synchroniser[bytes] = Synchroniser(time_ns(config.node.pairing_tolerance))
        self._samples = self._told = self._malformed = 0
        self._new_samples, self._new_malformed, self._last_error = Recent(), Recent(), ""
        self._odometry = publisher(node, io.ODOM)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.IMU, partial(self._on_message, 1), raw=True)
        self._inlet.subscribe(io.JOINT_STATES, partial(self._on_message, 0), raw=True)
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(lambda config: self._estimator.filter.configure(config.estimation.state))

    def run(self, stop: Event) -> None:
        """Estimate until `stop`."""
        while not stop.is_set():
            self._inlet.receive(_SLICE)

    def wake(self) -> None:
        """End a wait of :meth:`run`: each ends by itself within a fraction of a second."""

    def farewell(self) -> None:
        """Last message of the node: none."""

    def _on_message(self, kind: int, message: bytes) -> None:
        pair = self._pairing.put(kind, stamp_of(message), message)
        if pair is None:
            return
        stamp, joints, imu = pair
        self._samples += 1
        try:
            if (misfit := stamp_misfit(stamp)) is not None:
                raise misfit
            state = self._estimator.update(*self._reader.read(joints, imu, self._timebase.seconds(stamp)))
        except MessageError as error:
            self._malformed, self._last_error = self._malformed + 1, str(error)
            self.node.get_logger().error(self._last_error, throttle_duration_sec=1.0)
            return
        if np.isfinite(state.position).all():
            self._told += 1
            found = self._estimator.filter
            self._odometry.publish(estimate_message(state, (found.pose_covariance, found.twist_covariance), stamp))

    def _report(self) -> tuple[bytes, str, dict[str, Any]]:
        values = {
            "samples": self._samples,
            "estimates": self._told,
            "malformed messages": self._malformed,
            **(self._estimator.figures() if self._told else {}),
        }
        if refused := self._new_malformed.growth(self._malformed):
            return ERROR, f"{refused} malformed messages since the last report: {self._last_error}", values
        if not self._new_samples.growth(self._samples):
            alone = self._pairing.alone
            text = f"the last {alone} imu/data and joint_states had no counterpart of their stamp" if alone else ""
            return WARN, text or "no imu/data and joint_states", values
        if self._estimator.frozen > _FROZEN:
            return WARN, f"the IMU has repeated its sample for {self._estimator.frozen:.2f} s", values
        if not self._told:
            return WARN, "waits for a trunk that is steady", values
        return OK, "estimating", values


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_node(NAME, EstimatorNode, arguments)


if __name__ == "__main__":
    sys.exit(main())
