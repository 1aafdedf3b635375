"""Closed loop whose solves begin to fail: the robot comes to a stand and says what keeps it from moving."""

from dataclasses import replace

import pytest

from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions

FAIL_FROM = 0.8


def test_a_robot_whose_solves_fail_stands_and_says_what_keeps_it_from_moving(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = {"controller.move.resume_timeout": 0.5, "controller.stand.ramp_time": 0.3}
    loop = ClosedLoop(RunOptions(duration=2.4, gait="trot", overrides=patience, record_plans=0, video=False))
    plan = loop.planner.plan

    def failing(state: RobotState, *args: float, **options: float) -> PlanResult:
        result = plan(state, *args, **options)  # type: ignore[arg-type]
        failed = replace(result, policy=None, status="DIVERGED", message="diverged: as the test has it")
        return failed if state.time >= FAIL_FROM else result

    monkeypatch.setattr(loop.planner, "plan", failing)
    recording = loop.run()
    controller = loop.controller
    assert controller.mode is ControlMode.STAND and controller.retreats == 1
    assert "in a row were refused or failed: solve_failed: diverged: as the test has it" in str(controller.retreat)
    said = [event.text for event in recording.events]
    assert controller.given_up and f"stays standing: {controller.given_up}" in said
    assert f"standing for want of policies: {controller.retreat}" in said
    assert (~recording.solves["ok"]).sum() >= 10
