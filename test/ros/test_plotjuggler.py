"""The layout of PlotJuggler names topics that the nodes have, and fields that their messages have."""

import re
from pathlib import Path
from xml.etree import ElementTree

from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.ros import interfaces

LAYOUT = Path(__file__).parents[2] / "config" / "plotjuggler_layout.xml"
TOPICS = {f"/{topic.name.strip('/')}": topic for topic in interfaces.TOPICS}

ANGLES = {"roll_deg", "pitch_deg", "yaw_deg"}
"""What PlotJuggler makes of a quaternion."""

JOINT_FIELDS = {"position", "velocity", "effort"}
"""What it shows of a joint, under the joint's name."""


def problem(curve: str) -> str:
    """What is wrong with the name of a curve; empty where nothing is."""
    name = next((name for name in sorted(TOPICS, key=len, reverse=True) if curve.startswith(f"{name}/")), None)
    if name is None:
        return f"{curve}: no such topic"
    fields = curve.removeprefix(f"{name}/").split("/")
    if TOPICS[name] is interfaces.JOINT_STATES:
        joint, field = fields
        return "" if joint in JOINT_NAMES and field in JOINT_FIELDS else f"{curve}: no such joint or field"
    kind = TOPICS[name].type
    for index, field in enumerate(fields):
        plain = re.sub(r"\[\d+\]$", "", field)
        known = kind.get_fields_and_field_types()
        if kind.__name__ == "Quaternion" and field in ANGLES:
            return ""
        if plain not in known:
            return f"{curve}: {kind.__name__} has {', '.join(known)}"
        if index < len(fields) - 1:
            kind = type(getattr(kind(), plain))
    return ""


def test_every_curve_is_a_field_of_a_topic():
    tree = ElementTree.parse(LAYOUT)
    curves = [curve.attrib["name"] for curve in tree.iter("curve")]
    assert len(curves) > 15
    assert [text for text in map(problem, curves) if text] == []


def test_the_topics_that_are_subscribed_are_those_that_are_plotted():
    tree = ElementTree.parse(LAYOUT)
    subscribed = {topic.attrib["name"] for topic in tree.iter("topic")}
    assert subscribed <= TOPICS.keys()
    for curve in tree.iter("curve"):
        assert any(curve.attrib["name"].startswith(f"{name}/") for name in subscribed), curve.attrib["name"]


def test_a_wrong_name_is_found():
    assert "no such topic" in problem("/odometry/pose")
    assert "has linear, angular" in problem("/cmd_vel/linea/x")
    assert "no such joint" in problem("/joint_states/fr_ankle_joint/position")
