"""A gap in the floor: a robot that comes to a stand with its feet in it says why it does not go on."""

from pathlib import Path

from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions

BEGINS, WIDTH, DEPTH, HALF = 1.15, 0.11, 0.5, 20.0


def floor_with_a_gap(path: Path) -> Path:
    before, beyond = (
        f'<geom type="box" size="{HALF} 10 {DEPTH / 2}" pos="{x} 0 {-DEPTH / 2}"/>'
        for x in (BEGINS - HALF, BEGINS + WIDTH + HALF)
    )
    bottom = f'<geom type="plane" size="0 0 1" pos="0 0 {-DEPTH}"/>'
    path.write_text(f"<mujoco><worldbody>{bottom}{before}{beyond}</worldbody></mujoco>", encoding="utf-8")
    return path


def test_a_stand_in_a_gap_says_what_keeps_it_from_moving(tmp_path: Path) -> None:
    patience = {"controller.move.resume_timeout": 0.5, "simulator.imu.preset": "ideal"}  # noise has it fall in
    terrain = str(floor_with_a_gap(tmp_path / "gap.xml"))
    loop = ClosedLoop(RunOptions(duration=5.6, terrain=terrain, overrides=patience, record_plans=0, video=False))
    recording = loop.run()
    controller = loop.controller
    assert controller.mode is ControlMode.STAND and controller.retreats == 1
    assert "plans in a row were refused or failed: solve_failed: " in str(controller.retreat)
    assert controller.given_up
    said = [event.text for event in recording.events]
    assert f"stays standing: {controller.given_up}" in said
    assert f"standing for want of policies: {controller.retreat}" in said
    assert (~recording.solves["ok"]).sum() >= 10
