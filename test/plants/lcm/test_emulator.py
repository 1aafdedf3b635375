"""The emulator over a real link: it stands when told to, damps by itself, and garbage never makes a torque."""

import dataclasses
import sys
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from lcm_frames import ROBOT, N

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.guard import CommandGuard, GuardConfig
from contact_ddp_ros.plants.lcm.codec import (
    CHEETAH_SOFTWARE,
    EMULATOR_TICK,
    LAYOUTS,
    PD_TAU_TARGETS,
    TARGETS_CHANNEL,
    TICK_CHANNEL,
    Frame,
    Layout,
    decode,
    encode,
)
from contact_ddp_ros.plants.lcm.conventions import targets_frame, tick_state
from contact_ddp_ros.plants.lcm.emulator import RobotEmulator, RobotEmulatorConfig
from contact_ddp_ros.plants.lcm.execution import ExecutionWatch
from contact_ddp_ros.plants.lcm.measurements import Measurement, MeasurementReader
from contact_ddp_ros.plants.lcm.transport import Link, LinkOptions, free_port
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import JointCommand

STAND = JointCommand(ROBOT.standing, np.zeros(N), np.zeros(N))
STIFF = DriveConfig(kp=(80.0, 80.0, 80.0), kd=(2.0, 2.0, 2.0)).gains(4)


class Listener:
    """The bridge's part without ROS: reads states, and answers them when asked to."""

    def __init__(self, options: LinkOptions, layout: Layout) -> None:
        self.link = Link(options)
        self.reader = MeasurementReader(ROBOT)
        self.guard = CommandGuard(ROBOT, STIFF, GuardConfig())
        self.tick: Frame | None = None
        self.measured: Measurement | None = None
        self.link.subscribe(TICK_CHANNEL, self._on_tick)
        self.link.subscribe(layout.leg_channel, lambda data: self._keep(self.reader.leg_data(data, self.time)))
        self.link.subscribe(layout.estimate_channel, lambda data: self._keep(self.reader.estimate(data, self.time)))

    @property
    def time(self) -> float:
        return 0.0 if self.tick is None else 1e-9 * self.tick.values["time_ns"]

    def _on_tick(self, data: bytes) -> None:
        self.tick = decode(data, [EMULATOR_TICK])
        self.reader.forget()

    def _keep(self, measured: Measurement | None) -> None:
        if measured is not None:
            self.measured = measured
            self.guard.measured(measured.state, self.time)

    def next(self) -> Measurement:
        self.measured = None
        for _ in range(100):
            self.link.receive(0.1)
            if self.measured is not None:
                return self.measured
        raise AssertionError("the emulator is silent")

    def answer(self, command: JointCommand) -> bytes:
        """Send the answer to a state; returns its frame."""
        self.guard.command(command, self.time, self.time)
        frame = targets_frame(self.guard.targets(self.time), np.zeros(4), self.time, 0)
        self.link.publish(TARGETS_CHANNEL, frame)
        return frame


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_robot_stands_over_the_link_in_lock_step(link_options: LinkOptions, layout: Layout) -> None:
    terrain = "flat" if layout is CHEETAH_SOFTWARE else "slope:10"
    config = RobotEmulatorConfig(layout=layout.name, lockstep=True, terrain=terrain, link=link_options)
    emulator = RobotEmulator(ROBOT, config)
    listener, stop = Listener(link_options, layout), Event()
    thread = Thread(target=emulator.run, args=(stop,))
    thread.start()
    try:
        for tick in range(500):
            measured = listener.next()
            assert measured.state.time == pytest.approx(0.002 * tick, abs=1e-9)
            listener.answer(JointCommand.damping(N) if tick == 0 else STAND)
        assert listener.tick is not None
        assert listener.tick.array("contact_forces").reshape(4, 3)[:, 2].sum() == pytest.approx(
            9.81 * ROBOT.mass, rel=0.05
        )
        np.testing.assert_allclose(listener.tick.array("foot_heights"), 0.0, atol=1e-3, err_msg="above that ground")
        pitch = quaternion_to_rpy(measured.state.orientation)[1]
        assert pitch == pytest.approx(0.0 if terrain == "flat" else -np.radians(10.0), abs=0.03)
        np.testing.assert_allclose(tick_state(listener.tick).position, measured.state.position, atol=1e-6)
        assert measured.state.position[2] > 0.2, "the ramp lets it sag, then it carries its weight"
        np.testing.assert_allclose(measured.state.joint_velocities, 0.0, atol=0.05)
    finally:
        stop.set()
        thread.join(5.0)
    assert emulator.time == pytest.approx(1.0, abs=0.003)


def test_a_state_that_nobody_answers_is_told_again(link_options: LinkOptions) -> None:
    layout = LAYOUTS["cheetah_software"]
    emulator = RobotEmulator(ROBOT, RobotEmulatorConfig(lockstep=True, link=link_options))
    listener, stop = Listener(link_options, layout), Event()
    thread = Thread(target=emulator.run, args=(stop,))
    thread.start()
    try:
        assert [listener.next().state.time for _ in range(2)] == [0.0, 0.0]
    finally:
        stop.set()
        thread.join(5.0)
    assert emulator.time == 0.0


def garbage(frame: bytes) -> list[bytes]:
    random = np.random.default_rng(0)
    flipped = bytearray(frame)
    flipped[8 + 3 * 96] = 0xFF  # an infinite or negative gain
    return [
        b"",
        frame[:7],
        frame[:-1],
        frame + b"\0",
        bytes(8) + frame[8:],
        bytes(flipped),
        encode(PD_TAU_TARGETS, {"kp": np.full(N, -1.0), "tau_ff": np.full(N, 9.0)}),
        *(random.bytes(size) for size in random.integers(0, 700, 50)),
    ]


def test_garbage_never_makes_a_torque(link_options: LinkOptions) -> None:
    emulator = RobotEmulator(ROBOT, dataclasses.replace(RobotEmulatorConfig(), link=link_options))
    sender, stop = Link(link_options), Event()
    good = encode(PD_TAU_TARGETS, {"q_des": ROBOT.standing, "kp": np.full(N, 50.0), "tau_ff": np.full(N, 9.0)})
    frames = garbage(good)
    for sent, frame in enumerate(frames, start=1):
        sender.publish(TARGETS_CHANNEL, frame)
        for _ in range(1000):
            emulator.tick(stop)
            if emulator.malformed == sent:
                break
        assert emulator.malformed == sent
    assert emulator.time == 0.0, "it hangs until the first targets"
    assert not emulator.applied_torques.any()


def test_it_damps_by_itself_when_targets_stay_away(link_options: LinkOptions) -> None:
    config = RobotEmulatorConfig(link=link_options, targets_timeout=0.03, period=0.001)  # one step of physics
    emulator, sender, stop = RobotEmulator(ROBOT, config), Link(link_options), Event()
    stiff = {"q_des": ROBOT.standing + 0.3, "kp": np.full(N, 60.0), "kd": np.full(N, 1.0)}

    def follows(targets: dict[str, np.ndarray] | None, ticks: int = 20) -> bool:
        """Activity of the drives, other than damping, in the last of some ticks, sent these targets in each."""
        for _ in range(ticks):
            if targets is not None:
                sender.publish(TARGETS_CHANNEL, encode(PD_TAU_TARGETS, targets))
            rates = emulator.state.joint_velocities
            emulator.tick(stop)
        damping = np.clip(-config.own_damping * rates, -ROBOT.effort_limits, ROBOT.effort_limits)
        return not np.allclose(emulator.applied_torques, damping, atol=1e-9)

    while emulator.time == 0.0:
        follows(stiff, 1)
    assert not follows(stiff), "it waits for damping first"
    for _ in range(5):  # on a busy machine it may find a silence
        follows({"kd": np.full(N, 1.0)})
        if follows(stiff):
            break
    else:
        pytest.fail("it does not follow")
    assert not follows(None, 61)
    assert not follows(stiff, 5), "it waits for damping first"


def test_it_brings_the_legs_to_an_initial_pose_by_itself_and_tells_it(link_options: LinkOptions) -> None:
    config = RobotEmulatorConfig(initial_pose=0.3, lockstep=True, link=link_options)
    emulator, watch = RobotEmulator(ROBOT, config), ExecutionWatch()
    listener, stop = Listener(link_options, CHEETAH_SOFTWARE), Event()
    told: list[str] = []
    listener.link.subscribe("leg_control_command", lambda data: told.append(watch.executed(data, listener.time)))
    thread = Thread(target=emulator.run, args=(stop,))
    thread.start()
    try:
        for tick in range(400):
            measured = listener.next()
            if tick == 150:
                brought = measured.state.joint_positions
            command = STAND if 50 <= tick < 200 or tick >= 300 else JointCommand.damping(N)
            watch.sent(listener.answer(command), listener.time)
    finally:
        stop.set()
        thread.join(5.0)
    assert brought.reshape(4, 3)[:, 0] @ [-1.0, 1.0, -1.0, 1.0] > 0.8, "towards 0.6 rad outwards, all legs"
    assert {"somebody else" in text for text in told[:149]} == {True}
    assert {text.split(":")[0] for text in told[151:199]} == {"the joints damp instead of following targets"}
    assert set(told[220:]) == {""}
    assert np.abs(measured.state.joint_positions - brought).max() > 0.3, "targets after damping are executed"


def test_links_of_different_prefixes_do_not_hear_each_other(link_options: LinkOptions) -> None:
    here, there = Link(link_options), Link(dataclasses.replace(link_options, prefix="other_"))
    heard: list[bytes] = []
    here.subscribe("channel", heard.append)
    there.publish("channel", b"not for us")
    here.publish("channel", b"for us")
    while not heard:
        assert here.receive(5.0)
    assert heard == [b"for us"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (LinkOptions(group="10.0.0.1"), "no multicast address"),
        (LinkOptions(group="cheetah"), "no multicast address"),
        (LinkOptions(interface="nosuch0"), "no network interface 'nosuch0'; there are"),
        (LinkOptions(interface="lo"), "sudo ip route replace 239.255.76.67/32 dev lo"),
    ],
)
def test_links_that_cannot_work_say_what_to_do(options: LinkOptions, words: str) -> None:
    with pytest.raises(LinkError, match=words):
        Link(options)


def test_a_library_that_lcm_lacks_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The package answers that with an attempt to import itself from elsewhere."""
    (tmp_path / "lcm").mkdir()
    lines = "try:", " raise ImportError('libx.so.0: no such file')", "except ImportError:", " from .Release import _lcm"
    (tmp_path / "lcm" / "__init__.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lcm", raising=False)
    with pytest.raises(LinkError, match=r"libx\.so\.0.*install that library"):
        Link(LinkOptions(port=free_port()))
