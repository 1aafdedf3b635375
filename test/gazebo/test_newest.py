"""A reader that is late gets the newest messages, in the order in which they came."""

from threading import Event
from typing import Any

from contact_ddp_ros.gazebo.emulator.messages import TYPES
from contact_ddp_ros.gazebo.emulator.transport import Bus, emulator_bindings
from contact_ddp_ros.gazebo.newest import newest_only

PATIENCE = 60.0


def double(value: float) -> Any:
    message = TYPES["Double"]()
    message.data = value
    return message


def test_what_a_late_reader_has_missed_is_left_out() -> None:
    bus = Bus()
    node = newest_only(emulator_bindings(bus)).node()
    heard: list[tuple[str, float]] = []
    busy, free, done = Event(), Event(), Event()

    def read(topic: str, message: Any) -> None:
        heard.append((topic, message.data))
        busy.set()
        assert free.wait(PATIENCE)
        if message.data == 99.5:
            done.set()

    node.subscribe(TYPES["Double"], "/joints", lambda message: read("joints", message))
    node.subscribe(TYPES["Double"], "/base", lambda message: read("base", message))
    bus.publish("/joints", double(0.0))
    assert busy.wait(PATIENCE)
    for count in range(1, 100):
        bus.publish("/joints", double(count))
        bus.publish("/base", double(count + 0.5))
    free.set()
    assert done.wait(PATIENCE)
    assert heard == [("joints", 0.0), ("joints", 98.0), ("base", 98.5), ("joints", 99.0), ("base", 99.5)]


def test_nothing_comes_of_a_topic_that_is_not_wanted_any_more() -> None:
    bus = Bus()
    node = newest_only(emulator_bindings(bus)).node()
    heard, done = list[float](), Event()
    node.subscribe(TYPES["Double"], "/a", lambda message: heard.append(message.data))
    node.subscribe(TYPES["Double"], "/b", lambda _message: done.set())
    assert node.unsubscribe("/a")
    bus.publish("/a", double(1.0))
    bus.publish("/b", double(1.0))
    assert done.wait(PATIENCE)
    assert not heard
