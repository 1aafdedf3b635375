"""The doubles of gz.msgs speak protobuf's wire format, with the fields of gz.msgs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plants.gazebo.messages import joint_states

from contact_ddp_ros.plants.gazebo.emulator.messages import TABLES, TYPES
from contact_ddp_ros.robot.joints import JOINT_NAMES


def test_bytes_are_those_of_protobuf() -> None:
    """Worked out by hand from the encoding's specification."""
    effort = TYPES["Double"]()
    effort.data = 1.0
    assert effort.SerializeToString() == bytes.fromhex("11000000000000f03f")
    request = TYPES["WorldControl"]()
    request.pause, request.multi_step = True, 300
    request.reset.all = True
    assert request.SerializeToString() == bytes.fromhex("100120ac022a021001")
    odometry = TYPES["Odometry"]()
    odometry.header.stamp.sec, odometry.header.stamp.nsec = 2, 5
    assert odometry.SerializeToString() == bytes.fromhex("0a060a0408021005")
    assert TYPES["Boolean"]().SerializeToString() == b""


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1), st.floats(allow_nan=False))
def test_what_is_written_is_read(seconds: int, nanoseconds: int, x: float) -> None:
    message = TYPES["Odometry"]()
    message.header.stamp.sec, message.header.stamp.nsec = seconds, nanoseconds
    message.pose.position.x = x
    again = TYPES["Odometry"]()
    data = message.SerializeToString()
    assert again.ParseFromString(data) == len(data)
    assert (again.header.stamp.sec, again.header.stamp.nsec, again.pose.position.x) == (seconds, nanoseconds, x)
    assert again.twist.linear.y == 0.0


def test_repeated_messages_survive() -> None:
    again = TYPES["Model"]()
    again.ParseFromString(joint_states(5).SerializeToString())
    assert [joint.name for joint in again.joint] == list(JOINT_NAMES)
    assert again.joint[7].axis1.velocity == -7.0


def test_fields_that_are_not_known_are_skipped() -> None:
    """A text in field 15, four bytes in 14, eight in 13 and a number in 12, between fields that are known."""
    data = bytes.fromhex("7a0161750102030469010203040506070860ff0111000000000000f03f")
    message = TYPES["Double"]()
    message.ParseFromString(data)
    assert message.data == 1.0


def test_a_misspelt_field_is_an_error_as_in_protobuf() -> None:
    with pytest.raises(AttributeError, match="efort"):
        TYPES["Double"]().efort = 1.0
    with pytest.raises(AttributeError, match="stamp"):
        TYPES["Odometry"]().stamp  # noqa: B018
    with pytest.raises(AttributeError, match="header"):
        TYPES["Double"]().header = 3


def test_tables_agree_with_protobuf() -> None:
    """Against Google's implementation with the same field numbers and types, where it is installed."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    descriptor_pool = pytest.importorskip("google.protobuf.descriptor_pool")
    factory = pytest.importorskip("google.protobuf.message_factory")
    types = {"double": 1, "int": 3, "bool": 8, "text": 9}
    file = descriptor_pb2.FileDescriptorProto(name="double_of_gz.proto", package="double_of_gz", syntax="proto3")
    for name, table in TABLES.items():
        message = file.message_type.add(name=name)
        for number, field, kind in table:
            entry = message.field.add(name=field, number=number, label=3 if kind.endswith("*") else 1)
            if kind in types:
                entry.type = types[kind]
            else:
                entry.type, entry.type_name = 11, f".double_of_gz.{kind.rstrip('*')}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    for name in TABLES:
        descriptor = pool.FindMessageTypeByName(f"double_of_gz.{name}")
        if hasattr(factory, "GetMessageClass"):
            theirs = factory.GetMessageClass(descriptor)()
        else:  # before protobuf 4.22
            theirs = factory.MessageFactory(pool).GetPrototype(descriptor)()
        ours, again = TYPES[name](), TYPES[name]()
        for message in (ours, theirs):
            _fill(message, name)
        assert theirs.SerializeToString(deterministic=True) == ours.SerializeToString()
        again.ParseFromString(theirs.SerializeToString())
        assert again.SerializeToString() == ours.SerializeToString()


def _fill(message: object, name: str) -> None:
    for number, field, kind in TABLES[name]:
        if kind in ("double", "int", "bool", "text"):
            setattr(message, field, {"double": 0.1 * number, "int": -number, "bool": True, "text": field}[kind])
        elif kind.endswith("*"):
            _fill(getattr(message, field).add(), kind[:-1])
        else:
            _fill(getattr(message, field), kind)
