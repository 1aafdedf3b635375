"""The access policy: that of the table, with what running nodes need and nothing else."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rclpy.node import Node
from ros_graph import NodeMaker

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.plants.lcm.transport import free_port
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.motion import packaged_motions
from contact_ddp_ros.ros.interfaces import ODOM, SERVICES, TOPICS, joint_effort, motion_service
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.security import ENCLAVES, FORMAT, OPERATOR, ROLES, security_policy

ROOT = Path(__file__).parents[2]
FILE = ROOT / "config" / "security" / "policies.xml"

Look = Callable[[str, str], list[tuple[str, list[str]]]]

PATIENCE = 120.0
"""For all nodes to be there; compiling kernels for the first time is part of it [s]."""


def allowed(enclave: str, verb: str, namespace: str = "/") -> set[str]:
    """Full names of the topics or services of an enclave, by the rules of sros2's templates."""
    root = ElementTree.fromstring(security_policy(namespace))
    profile = root.find(f"enclaves/enclave[@path='{ENCLAVES}/{enclave}']/profiles/profile")
    assert profile is not None
    prefix = profile.attrib["ns"].rstrip("/")
    names = [entry.text or "" for group in profile if group.get(verb) == "ALLOW" for entry in group]
    assert len(names) == len(set(names))
    own = f"{prefix}/{profile.attrib['node']}"
    return {
        name if name.startswith("/") else own + name[1:] if name.startswith("~") else f"{prefix}/{name}"
        for name in names
    }


def full(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def test_the_file_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["security-policy"]) == 0
    assert FILE.read_text(encoding="utf-8") == capsys.readouterr().out, (
        "run: contact-ddp security-policy > config/security/policies.xml"
    )
    assert "config/security/*.xml" in (ROOT / "setup.py").read_text(encoding="utf-8")


def test_it_names_exactly_the_table() -> None:
    implied = {"/parameter_events", "/rosout", "/tf"}
    efforts = {full(joint_effort(joint).name) for joint in JOINT_NAMES}
    enclaves = (*ROLES, OPERATOR)
    said = set().union(*(allowed(one, "publish") for one in enclaves))
    heard = set().union(*(allowed(one, "subscribe") for one in enclaves))
    transitions = {name for name in said | heard if name.endswith("/transition_event")}
    assert said - implied - efforts - transitions == {full(topic.name) for topic in TOPICS}
    assert heard - implied - transitions == {full(topic.name) for topic in TOPICS}
    served = set().union(*(allowed(one, "reply") for one in ROLES))
    nodes = {role.node for role in ROLES.values()}
    services = (*SERVICES, *map(motion_service, packaged_motions()))
    own = {name for name in served if name.split("/")[1] not in nodes}
    assert own == {full(service.name) for service in services}
    asked = allowed(OPERATOR, "request")
    assert asked == served


def test_people_cannot_play_a_node() -> None:
    for node in ("controller", "planner", "simulator", "lcm_bridge"):
        shared = {"/parameter_events", "/rosout"}
        assert allowed(OPERATOR, "publish") & allowed(node, "publish") == shared
    for topic in ("/joint_command", "/policy", "/odom", "/joint_states", "/clock"):
        speakers = {name for name in ROLES if topic in allowed(name, "publish")}
        assert speakers and (topic != "/joint_command" or speakers == {"controller"})
        assert topic != "/policy" or speakers == {"planner"}


def test_a_namespace_moves_relative_names_only() -> None:
    names = allowed("controller", "publish", "/left")
    assert {"/left/joint_command", "/left/controller/transition_event", "/diagnostics"} <= names
    assert "/joint_command" not in names


def test_in_a_namespace_clock_and_frames_may_be_the_robots_own() -> None:
    """As the launch file arranges it; without it, or in the root namespace, they are everybody's."""
    assert {"/clock", "/left/clock"} <= allowed("simulator", "publish", "/left")
    assert {"/clock", "/left/clock"} <= allowed("controller", "subscribe", "/left")
    assert {"/tf", "/left/tf"} <= allowed("frames", "publish", "/left")


def test_its_form_is_that_of_sros2() -> None:
    root = ElementTree.parse(FILE).getroot()
    assert (root.tag, root.attrib) == ("policy", {"version": FORMAT})
    (enclaves,) = root
    assert enclaves.tag == "enclaves"
    for enclave in enclaves:
        assert (enclave.tag, set(enclave.attrib)) == ("enclave", {"path"})
        (profiles,) = enclave
        (profile,) = profiles
        assert (profiles.tag, profile.tag, set(profile.attrib)) == ("profiles", "profile", {"ns", "node"})
        for group in profile:
            kind, verbs = group.tag.removesuffix("s"), set(group.attrib)
            assert verbs < ({"publish", "subscribe"} if kind == "topic" else {"reply", "request"})
            assert len(group) and all(entry.tag == kind for entry in group)


def test_the_page_names_every_enclave_and_only_files_that_exist() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    for name in (*ROLES, OPERATOR):
        assert f"`{ENCLAVES}/{name}`" in page, name
    rows = [line.split("|") for line in page.partition("## What is checked where")[2].splitlines() if "`" in line]
    assert len(rows) > 10
    for row in rows:
        for column, folder in ((3, "contact_ddp_ros"), (4, "test")):
            files = re.findall(r"`([\w/]+\.(?:py|h))`", row[column]) if len(row) > column else []
            first = (ROOT / files[0] if (ROOT / files[0]).exists() else ROOT / folder / files[0]) if files else None
            for name in files:
                places = (ROOT / name, ROOT / folder / name, first.parent / name if first else ROOT)
                assert any(place.is_file() for place in places), f"{name} of {row[1]}"


@pytest.fixture
def running(loopback: dict[str, str]) -> Iterator[NodeProcesses]:
    with NodeProcesses(loopback) as processes:
        for name in ("planner", "controller", "simulator", "drives"):
            motions = {"node.motions": "jump"} if name == "controller" else {}
            processes.start(name, {"use_sim_time": True, **motions})
        deadline = time.monotonic() + PATIENCE
        while "simulating" not in processes.log("simulator"):  # which refuses to share the clock with the bridge
            processes.check()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        processes.start("bridge", {"use_sim_time": True, "link.port": free_port()})
        yield processes


def test_running_nodes_have_what_they_need_and_nothing_else(running: NodeProcesses, make_node: NodeMaker) -> None:
    looker = make_node("looker")
    looks: dict[str, Look] = {
        "publish": looker.get_publisher_names_and_types_by_node,
        "subscribe": looker.get_subscriber_names_and_types_by_node,
        "reply": looker.get_service_names_and_types_by_node,
    }
    not_asked_for = {full(motion_service(name).name) for name in packaged_motions() if name != "jump"}
    by_odom = {full(ODOM.name)}  # of a controller with node.state odom
    one_output = {f"/joint/{joint}/cmd_force" for joint in JOINT_NAMES}
    for enclave in ("planner", "controller", "simulator", "lcm_bridge", "drives"):
        for verb, look in looks.items():
            unused = one_output if enclave == "drives" else by_odom if enclave == "controller" else set()
            wanted = allowed(enclave, verb) - not_asked_for - unused
            deadline = time.monotonic() + PATIENCE
            while (found := _found(looker, look, ROLES[enclave].node)) != wanted:
                running.check()
                assert time.monotonic() < deadline, (
                    f"{enclave} {verb}: {wanted - found} too much, {found - wanted} missing"
                )
                time.sleep(0.1)


def _found(looker: Node, look: Look, name: str) -> set[str]:
    """Full names that the node of that name has by now."""
    return {entry for entry, _ in look(name, "/")} if name in looker.get_node_names() else set()
