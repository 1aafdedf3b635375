"""What the launch file makes of its arguments, read with doubles of ROS 2's launch, which is not on PyPI."""

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from installation import PACKAGE, ROOT, executables, install, register

from contact_ddp_ros.base.config import specs
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR
from contact_ddp_ros.plants.gazebo.user_world import own_world
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.urdf import default_urdf
from contact_ddp_ros.ros import bringup, composed_node
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.node_config import CONFIGURATIONS
from contact_ddp_ros.ros.security import ENCLAVES, ROLES

LAUNCH_FILE = ROOT / "launch" / "bringup.launch.py"
URDF = default_urdf()
NAMES = {
    "launch": ["LaunchDescription"],
    "launch.actions": [
        "DeclareLaunchArgument", "EmitEvent", "ExecuteProcess", "LogInfo", "OpaqueFunction", "RegisterEventHandler",
        "SetEnvironmentVariable",
    ],
    "launch.event_handlers": ["OnShutdown"],
    "launch.events": ["Shutdown"],
    "launch.events.process": ["SignalProcess"],
    "launch_ros": [],
    "launch_ros.actions": ["Node"],
    "launch_ros.parameter_descriptions": ["ParameterFile", "ParameterValue"],
}  # fmt: skip
TRANSPORTS = ["FASTDDS_BUILTIN_TRANSPORTS", "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"]
SIMULATED = ["mujoco", "gazebo"]
BACKENDS = [*SIMULATED, "lcm", "unitree"]


class Said:
    """An object of the launch system: what it was made of."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.kind = type(self).__name__
        self.arguments, self.options = arguments, options

    @property
    def name(self) -> str:
        return str(self.options["name"] if "name" in self.options else self.arguments[0])

    @property
    def files(self) -> list[str]:
        """Parameter files of a node, weakest first."""
        return [str(one.arguments[0]) for one in self.options["parameters"] if not isinstance(one, dict)]

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that are not from files; they come last, so are the strongest."""
        values = [one for one in self.options["parameters"] if isinstance(one, dict)]
        assert self.options["parameters"][len(self.files) :] == values
        return {name: value for part in values for name, value in part.items()}


class Configuration(Said):
    """The value of an argument."""

    def perform(self, context: dict[str, str]) -> str:
        return context[self.arguments[0]]


class Logger:
    """Keeps warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warning(self, text: str) -> None:
        self.warnings.append(text)


class Launch:
    """The launch file, on an installation of its own."""

    def __init__(self, prefix: Path, module: ModuleType, logger: Logger) -> None:
        self.prefix, self._module, self._logger = prefix, module, logger
        self.defaults = {one.name: one.options["default_value"] for one in module.ARGUMENTS}

    def __call__(self, **given: str) -> list[Said]:
        """Its actions for these arguments."""
        assert set(given) <= set(self.defaults)
        for argument in self._module.ARGUMENTS:
            value, choices = given.get(argument.name), argument.options.get("choices")
            assert value is None or choices is None or value in choices
        (description,) = (one for one in self._module.generate_launch_description().arguments)
        (opaque,) = (one for one in description if one.kind == "OpaqueFunction")
        return list(opaque.options["function"](self.defaults | given))

    def nodes(self, **given: str) -> dict[str, Said]:
        """Its nodes by executable."""
        return {one.options["executable"]: one for one in self(**given) if one.kind == "Node"}

    @property
    def warnings(self) -> list[str]:
        return self._logger.warnings


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Launch:
    logger = Logger()
    for name, kinds in NAMES.items():
        module = ModuleType(name)
        for kind in kinds:
            setattr(module, kind, type(kind, (Said,), {}))
        monkeypatch.setitem(sys.modules, name, module)
    for name, kind, value in (
        ("launch.substitutions", "LaunchConfiguration", Configuration),
        ("launch.logging", "get_logger", lambda _name: logger),
    ):
        module = ModuleType(name)
        setattr(module, kind, value)
        monkeypatch.setitem(sys.modules, name, module)
    install(tmp_path / "install")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    monkeypatch.delenv("GZ_PARTITION", raising=False)
    spec = importlib.util.spec_from_file_location("bringup_launch_file", LAUNCH_FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "subprocess", SimpleNamespace(run=in_this_process))
    return Launch(tmp_path / "install", module, logger)


def in_this_process(command: list[str], *, input: str, **_options: Any) -> SimpleNamespace:
    """Answer of the nodes' Python, without another process."""
    assert Path(command[0]).name == "prepare_bringup"
    try:
        known = bringup.bringup(**json.loads(input))
    except ContactDdpError as error:
        return SimpleNamespace(returncode=1, stderr=f"[INFO] loading\n{error}\n")
    return SimpleNamespace(returncode=0, stdout=json.dumps(asdict(known)), stderr="")


@pytest.mark.parametrize(
    ("variables", "loopback", "expected"),
    [
        ({}, "false", "UDPv4"),
        ({"RMW_IMPLEMENTATION": "rmw_fastrtps_dynamic_cpp"}, "false", "UDPv4"),
        ({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}, "false", None),
        ({"FASTDDS_BUILTIN_TRANSPORTS": "LARGE_DATA"}, "false", None),
        ({"FASTRTPS_DEFAULT_PROFILES_FILE": "mine.xml"}, "false", None),
        ({"FASTDDS_DEFAULT_PROFILES_FILE": "mine.xml"}, "false", None),
        ({}, "true", None),
    ],
)
@pytest.mark.parametrize("composed", ["false", "true"])
def test_our_nodes_do_without_shared_memory_unless_transports_are_chosen(
    launch: Launch,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    loopback: str,
    expected: str | None,
    composed: str,
) -> None:
    for name in (*TRANSPORTS, "RMW_IMPLEMENTATION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    register(launch.prefix, "robot_state_publisher")
    nodes = launch.nodes(loopback=loopback, composed=composed)
    ours = [node for node in nodes.values() if node.options["package"] == PACKAGE]
    assert len(ours) == (3 if composed == "true" else 4)
    for node in ours:
        assert node.options["additional_env"].get("FASTDDS_BUILTIN_TRANSPORTS") == expected
    assert "additional_env" not in nodes["robot_state_publisher"].options


def remapped(node: Said) -> set[tuple[str, str]]:
    return set(node.options["remappings"])


@pytest.mark.parametrize("backend", [*BACKENDS, "driver", "none"])
def test_every_node_is_started_under_its_own_name_with_parameters_that_it_has(launch: Launch, backend: str) -> None:
    nodes = launch.nodes(backend=backend, autostart="false", lockstep="true", variant="ilqr", model=str(URDF))
    assert len(nodes) == (2 if backend == "none" else 3)
    for executable, node in nodes.items():
        module = importlib.import_module(f"{PACKAGE}.ros.{executable}")
        assert executable in executables()
        assert node.name == module.NAME
        assert node.options["package"] == PACKAGE
        known = {*specs(CONFIGURATIONS[node.name]), "use_sim_time"}
        assert set(node.parameters) <= known
        assert node.parameters["use_sim_time"] is (backend in SIMULATED)
        assert node.parameters["node.lockstep"] is True
        assert node.parameters["node.urdf"] == str(URDF)
    for name in ("planner_node", "controller_node"):
        assert nodes[name].parameters["node.autostart"] is False
    assert nodes["planner_node"].parameters["variant"] == "ilqr"


@pytest.mark.parametrize("namespace", ["", "dog"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_controller_and_robot_may_share_a_process(launch: Launch, backend: str, namespace: str) -> None:
    apart = launch.nodes(backend=backend, namespace=namespace, autostart="false", lockstep="true")
    nodes = launch.nodes(backend=backend, namespace=namespace, autostart="false", lockstep="true", composed="true")
    assert set(nodes) == {"planner_node", "composed_node"}
    both = nodes["composed_node"]
    assert both.options["name"] is None, "one name would be that of both nodes"
    (robot,) = both.options["arguments"]
    assert robot in composed_node.ROBOTS
    sections = yaml.safe_load(Path(both.files[-1]).read_text())
    prefix = f"/{namespace}" if namespace else ""
    found = {name: section["ros__parameters"] for name, section in sections.items()}
    assert found == {f"{prefix}/{one.name}": one.parameters for one in apart.values() if one.name != "planner"}
    assert set(found) == {f"{prefix}/controller", f"{prefix}/{robot}"}
    with pytest.raises(RuntimeError, match="composed:=true needs a backend"):
        launch(backend="none", composed="true")
    with pytest.raises(RuntimeError, match="enclave"):
        launch(composed="true", enclaves="/contact_ddp")


def test_ctrl_c_that_only_the_launch_has_heard_goes_on_to_the_nodes(launch: Launch) -> None:
    (handler,) = (one for one in launch() if one.kind == "RegisterEventHandler")
    pass_on = handler.arguments[0].options["on_shutdown"]
    assert not pass_on(SimpleNamespace(due_to_sigint=False), None)
    (emit,) = pass_on(SimpleNamespace(due_to_sigint=True), None)
    event = emit.options["event"]
    assert event.options["signal_number"] == signal.SIGINT
    ours, other = (type(next(iter(launch.nodes().values())))() for _ in range(2))
    ours.node_package, other.node_package = PACKAGE, "rviz2"
    assert [event.options["process_matcher"](node) for node in (ours, other)] == [True, False]


def test_velocities_are_stamped_where_asked_for(launch: Launch) -> None:
    nodes = launch.nodes(stamped_cmd_vel="true")
    assert nodes["planner_node"].parameters["node.enable_stamped_cmd_vel"] is True
    with pytest.raises(RuntimeError, match="joystick"):
        launch(stamped_cmd_vel="true", joystick="true")


def test_what_is_not_asked_for_is_left_to_the_parameter_file(launch: Launch, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("/**: {ros__parameters: {node.lockstep: true}}\n")
    for node in launch.nodes(params_file=str(file)).values():
        assert set(node.parameters) == {"use_sim_time"}
        assert node.files[-1] == str(file)
        assert Path(node.files[0]).name == "base.yaml"


@pytest.mark.parametrize("composed", ["false", "true"])
def test_a_robot_and_a_gait_may_be_named(launch: Launch, composed: str) -> None:
    register(launch.prefix, "robot_state_publisher")
    nodes = launch.nodes(model="go1", gait="pronk", composed=composed)
    assert nodes["planner_node"].parameters["gait.name"] == "pronk"
    assert nodes["planner_node"].parameters["node.urdf"] == "go1"
    assert {"gait.name", "node.urdf"} <= set(specs(CONFIGURATIONS["planner"]))
    (description,) = nodes["robot_state_publisher"].parameters["robot_description"].arguments
    assert description == load_robot("go1").description
    if composed == "true":
        sections = yaml.safe_load(Path(nodes["composed_node"].files[-1]).read_text())
        assert {section["ros__parameters"]["node.urdf"] for section in sections.values()} == {"go1"}
    else:
        assert nodes["controller_node"].parameters["node.urdf"] == "go1"
        assert not any("gait.name" in nodes[name].parameters for name in ("controller_node", "simulator_node"))


def test_files_of_robot_and_gait_are_named_in_full(
    launch: Launch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A node may start in another folder."""
    (tmp_path / "mine.yaml").write_text((ROOT / "config" / "gaits" / "bound.yaml").read_text())
    shutil.copy(URDF, tmp_path / "robot.urdf")
    monkeypatch.chdir(tmp_path)
    planner = launch.nodes(model="robot.urdf", gait="mine.yaml")["planner_node"]
    assert planner.parameters["gait.name"] == str(tmp_path / "mine.yaml")
    assert planner.parameters["node.urdf"] == str(tmp_path / "robot.urdf")


def test_another_robot_is_put_into_gazebos_world(launch: Launch) -> None:
    def world(**given: str) -> str:
        (server,) = (one for one in launch(backend="gazebo", **given) if one.kind == "ExecuteProcess")
        return Path(server.options["cmd"][-1]).read_text(encoding="utf-8")

    assert world(model="go1") == own_world(load_robot("go1"), SimOptions()).text


def test_the_robot_has_stricter_parameters_which_a_file_may_still_change(launch: Launch, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("bridge: {ros__parameters: {link: {interface: eth0}}}\n")
    for node in launch.nodes(backend="lcm", params_file=str(file)).values():
        assert [Path(one).name for one in node.files] == ["base.yaml", "robot.yaml", "mine.yaml"]
        assert all(Path(one).is_file() for one in node.files)
    assert not launch.warnings


@pytest.mark.parametrize(
    ("section", "namespace", "idle"),
    [
        ("planer", "", True),
        ("planner", "", False),
        ("planner", "left", True),
        ("/left/planner", "left", False),
        ("/left/planner", "/left/", False),
        ("/**/planner", "left", False),
        ("/**", "left", False),
    ],
)
def test_a_section_for_nobody_is_pointed_out(
    launch: Launch, tmp_path: Path, section: str, namespace: str, idle: bool
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"{section}: {{ros__parameters: {{rate: 50.0}}}}\n")
    launch(params_file=str(file), namespace=namespace)
    assert [section in text for text in launch.warnings] == [True] * idle


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("model", "/nowhere/robot.urdf"),
        ("model", str(ROOT / "setup.py")),
        ("model", "go3"),
        ("gait", "galop"),
        ("gait", "nowhere.yaml"),
        ("record", "/nowhere/bag"),
        ("enclaves", "contact_ddp"),
        ("enclaves", "/nobody"),
    ],
)
def test_a_name_or_a_path_that_leads_nowhere_ends_the_launch(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, value: str
) -> None:
    monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(tmp_path))
    register(launch.prefix, "ros2bag")
    with pytest.raises(RuntimeError, match=f"{argument}:={value}") as caught:
        launch(**{argument: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [None, "planner: [", "- planner", "planner: {rate: 50.0}"])
def test_a_parameter_file_that_is_none_ends_the_launch(launch: Launch, tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "mine.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(Exception, match=r"mine\.yaml") as caught:
        launch(params_file=str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("given", "expected"), [({}, None), ({"interface": "eth7"}, "eth7")])
@pytest.mark.parametrize(("backend", "node"), [("lcm", "lcm_bridge_node"), ("unitree", "unitree_node")])
def test_the_interface_to_a_robot_is_an_argument(
    launch: Launch, backend: str, node: str, given: dict[str, str], expected: str | None
) -> None:
    model = {"model": "go2"} if backend == "unitree" else {}
    nodes = launch.nodes(backend=backend, **model, **given)
    assert nodes[node].parameters.get("link.interface") == expected
    with pytest.raises(RuntimeError, match="interface:=eth7 is for backend:=lcm and backend:=unitree alone"):
        launch(backend="mujoco", interface="eth7")
    assert not nodes[node].parameters["use_sim_time"]


@pytest.mark.parametrize(
    ("given", "emulated"),
    [
        ({"interface": "lo", "model": "go2", "emulator": "auto"}, True),
        ({"interface": "lo", "model": "go2", "emulator": "false"}, False),
        ({"interface": "eth7", "model": "my.urdf", "emulator": "auto"}, False),
        ({"interface": "eth7", "model": "go2", "emulator": "true"}, True),
    ],
)
def test_a_go2_is_brought_up_with_its_emulator_unless_there_is_a_robot(
    launch: Launch, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], emulated: bool
) -> None:
    monkeypatch.setattr(sys.modules["launch.actions"], "IncludeLaunchDescription", type("Include", (Said,), {}), False)
    sources = ModuleType("launch.launch_description_sources")
    sources.PythonLaunchDescriptionSource = type("Source", (Said,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, sources.__name__, sources)
    spec = importlib.util.spec_from_file_location("go2_launch_file", LAUNCH_FILE.with_name("go2.launch.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    declared = module.generate_launch_description().arguments[0]
    defaults = {one.name: one.options["default_value"] for one in declared if one.kind == "DeclareLaunchArgument"}
    assert defaults == {"interface": "lo", "model": "go2", "emulator": "auto"}
    include, *rest = declared[-1].options["function"](given)
    assert include.arguments[0].arguments[0] == str(LAUNCH_FILE)
    passed = dict(include.options["launch_arguments"])
    assert passed == {"backend": "unitree", "interface": given["interface"], "model": given["model"]}
    assert set(passed) <= set(launch.defaults), "arguments of bringup.launch.py"
    commands = [one.options["cmd"] for one in rest]
    assert [Path(command[0]).name for command in commands] == ["unitree_emulator"] * emulated
    assert all(os.access(command[0], os.X_OK) and "--ros-args" not in command for command in commands)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_robot_in_a_namespace_has_time_and_frames_of_its_own(launch: Launch, backend: str) -> None:
    own = {("/tf", "tf"), ("/tf_static", "tf_static"), ("/clock", "clock")}
    for node in launch.nodes(backend=backend, namespace="left").values():
        assert node.options["namespace"] == "left"
        assert remapped(node) == own
    for node in launch.nodes(backend=backend).values():
        assert not remapped(node)


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_node_gets_the_enclave_that_the_policy_names(launch: Launch, backend: str) -> None:
    register(launch.prefix, "robot_state_publisher")
    for enclaves in (ENCLAVES, f"{ENCLAVES}/"):
        nodes = launch.nodes(backend=backend, enclaves=enclaves)
        ours = {name: node for name, node in nodes.items() if node.options["package"] == PACKAGE}
        assert set(ours) > {"planner_node", "controller_node", "frames_node"}
        for executable, node in ours.items():
            words = node.options["ros_arguments"]
            folder, role = words[words.index("--enclave") + 1].rsplit("/", 1)
            assert folder == ENCLAVES
            assert ROLES[role].node == importlib.import_module(f"{PACKAGE}.ros.{executable}").NAME
    assert not any("--enclave" in node.options.get("ros_arguments", []) for node in launch.nodes().values())


def test_who_brings_the_states_brings_the_time(launch: Launch) -> None:
    for node in launch.nodes(backend="none", namespace="left").values():
        assert ("/clock", "clock") not in remapped(node)


def test_gazebo_is_told_apart_by_its_release_and_its_namespace(launch: Launch) -> None:
    bridge = launch.nodes(backend="gazebo", gazebo_release=EMULATOR)["gazebo_bridge_node"]
    assert bridge.parameters["node.release"] == EMULATOR
    (server,) = (one for one in launch(backend="gazebo", gazebo_release=EMULATOR) if one.kind == "ExecuteProcess")
    assert "gazebo-emulator" in server.options["cmd"]
    assert "node.release" not in launch.nodes(backend="gazebo")["gazebo_bridge_node"].parameters

    def partition(**given: str) -> list[str]:
        actions = launch(backend="gazebo", **given)
        kinds = [one.kind for one in actions]
        found = [one.arguments[1] for one in actions if one.arguments[:1] == ("GZ_PARTITION",)]
        assert not found or kinds.index("SetEnvironmentVariable") < kinds.index("ExecuteProcess") < kinds.index("Node")
        return found

    assert partition() == []
    assert partition(namespace="left") != partition(namespace="right")


def test_the_world_for_gazebo_goes_with_the_launch(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    at_exit: list[Callable[[], object]] = []
    monkeypatch.setattr(
        "atexit.register", lambda function, *given, **options: at_exit.append(partial(function, *given, **options))
    )
    (server,) = (one for one in launch(backend="gazebo") if one.kind == "ExecuteProcess")
    world = Path(server.options["cmd"][-1])
    assert world.read_text(encoding="utf-8").startswith("<?xml")
    for function in at_exit:
        function()
    assert not world.parent.exists()


def test_gazebos_world_is_made_to_measure(launch: Launch, tmp_path: Path) -> None:
    own = tmp_path / "hall.sdf"
    own.write_text(
        "<sdf version='1.9'><world name='hall'><physics type='dart'><max_step_size>0.002</max_step_size></physics>"
        "</world></sdf>"
    )
    actions = launch(
        backend="gazebo",
        gazebo_world=str(own),
        gazebo_friction="0.4",
        gazebo_trunk_mass_scale="1.1",
        gazebo_real_time_factor="0.5",
    )
    (server,) = (one for one in actions if one.kind == "ExecuteProcess")
    world = Path(server.options["cmd"][-1]).read_text(encoding="utf-8")
    for part in ("<mu>0.4</mu>", "<real_time_factor>0.5</real_time_factor>", "data: 1", 'name="mini_cheetah"'):
        assert part in world
    (bridge,) = (one for one in actions if one.options.get("executable") == "gazebo_bridge_node")
    expected = {"gazebo.world": "hall", "gazebo.timestep": 0.002}
    assert bridge.parameters.items() >= expected.items()


def test_gazebos_ground_is_a_shape_of_ours(launch: Launch) -> None:
    actions = launch(backend="gazebo", gazebo_release="emulator", gazebo_ground="step:1,0.03")
    (server,) = (one for one in actions if one.kind == "ExecuteProcess")
    world = Path(server.options["cmd"][-1]).read_text(encoding="utf-8")
    assert '<collision name="collision_1">' in world
    assert "<size>200 100 1</size>" in world


def test_loopback_holds_for_gazebos_messages_too(launch: Launch) -> None:
    actions = launch(backend="gazebo", loopback="true")
    server = [one.kind for one in actions].index("ExecuteProcess")
    assert ("GZ_IP", "127.0.0.1") in [one.arguments for one in actions[:server]]
    assert not any("GZ_IP" in one.arguments for one in launch(backend="gazebo"))


def test_a_running_gazebo_server_is_joined(launch: Launch) -> None:
    actions = launch(backend="gazebo", gazebo_server="join", namespace="left")
    kinds = [one.kind for one in actions]
    assert "ExecuteProcess" not in kinds
    assert "SetEnvironmentVariable" in kinds
    with pytest.raises(RuntimeError, match="gazebo_friction cannot change"):
        launch(backend="gazebo", gazebo_server="join", gazebo_friction="0.4")


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("gazebo_friction", "ice", "must be a number"),
        ("gazebo_friction", "-1", "friction"),
        ("gazebo_ground", "hill:3", "ground 'hill:3'; allowed"),
        ("gazebo_real_time_factor", "0", "real-time factor"),
        ("gazebo_world", "/nowhere.sdf", "/nowhere.sdf cannot be read"),
    ],
)
def test_a_world_that_cannot_be_made_ends_the_launch(launch: Launch, argument: str, value: str, error: str) -> None:
    with pytest.raises((RuntimeError, ContactDdpError), match=error):
        launch(backend="gazebo", **{argument: value})


def test_description_frames_and_rviz_share_clock_and_frames_with_the_robot(launch: Launch) -> None:
    for package in ("robot_state_publisher", "rviz2"):
        register(launch.prefix, package)
    nodes = launch.nodes(rviz="true", namespace="left")
    description = nodes["robot_state_publisher"].parameters["robot_description"]
    assert description.options == {"value_type": str}, "else it is read as YAML"
    assert description.arguments[0].startswith("<?xml")
    for name in ("robot_state_publisher", "frames_node", "rviz2"):
        assert remapped(nodes[name]) == remapped(nodes["simulator_node"])
        assert nodes[name].parameters["use_sim_time"] is True
        assert nodes[name].options["namespace"] == "left"
    option, file = nodes["rviz2"].options["arguments"]
    assert option == "-d" and Path(file).is_file()


@pytest.mark.parametrize(
    ("argument", "package", "install_this"),
    [("rviz", "rviz2", "rviz2"), ("joystick", "joy", "joy"), ("record", "ros2bag", "rosbag2")],
)
def test_what_is_missing_is_named(launch: Launch, argument: str, package: str, install_this: str) -> None:
    with pytest.raises(RuntimeError, match=rf"{argument}:=true .*{package}: .*ros-\$ROS_DISTRO-{install_this}$"):
        launch(**{argument: "true"})


def test_a_record_is_of_the_topics_of_this_robot(launch: Launch, tmp_path: Path) -> None:
    register(launch.prefix, "ros2bag")

    def command(**given: str) -> list[str]:
        (bag,) = (one.options["cmd"] for one in launch(**given) if one.options.get("name") == "bag")
        return list(bag)

    words = command(record=str(tmp_path / "new"), namespace="left")
    assert words[:2] == ["sh", "-c"] and words[3:7] == [str(tmp_path / "new"), "ros2", "bag", "record"]
    assert "--use-sim-time" not in words, "ros2 bag cannot be told of another clock than /clock"
    topics = words[words.index("--topics") + 1 :]
    assert topics == [one.name if one.name.startswith("/") else f"/left/{one.name}" for one in io.RECORDED]
    words = command(record="true")
    assert words[:3] == ["ros2", "bag", "record"] and "--use-sim-time" in words
    assert "--use-sim-time" not in command(record="true", backend="lcm")
    with pytest.raises(RuntimeError, match="exists already"):
        launch(record=str(tmp_path))


def test_nobody_but_who_refused_ends_the_launch(launch: Launch) -> None:
    on_exit: Callable[..., list[Said]] = launch.nodes()["planner_node"].options["on_exit"]

    class Exit:
        process_name = "planner_node-1"

        def __init__(self, code: int) -> None:
            self.returncode = code

    with pytest.raises(RuntimeError, match="planner_node-1 cannot start"):
        on_exit(Exit(1), None)
    for code in (0, -9, 70):
        assert on_exit(Exit(code), None) == []


EVERYTHING = {"rviz": "true", "joystick": "true", "record": "true"}
OTHERS = ("robot_state_publisher", "rviz2", "joy", "joy_teleop", "ros2bag")
WITHOUT_RESPAWN = {"rviz2", "gazebo"}
"""A window that was closed stays closed; the end of Gazebo's server ends the launch."""


def processes(launch: Launch, **given: str) -> dict[str, Said]:
    """Everything that the launch file starts, by the name in its log."""
    for package in OTHERS:
        register(launch.prefix, package)
    started = [one for one in launch(**EVERYTHING | given) if one.kind in ("Node", "ExecuteProcess")]
    return {one.options.get("exec_name") or one.name: one for one in started}


@pytest.mark.parametrize("respawn", ["true", "false"])
@pytest.mark.parametrize("composed", ["true", "false"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_process_ends_with_the_launch_and_is_started_again(
    launch: Launch, backend: str, composed: str, respawn: str
) -> None:
    started = processes(launch, backend=backend, composed=composed, respawn=respawn)
    assert {"planner_node", "frames_node", "robot_state_publisher", "rviz2", "joy_node", "joy_teleop", "bag"} < set(
        started
    )
    assert ("gazebo" in started) == (backend == "gazebo")
    for name, one in started.items():
        command = "".join(part if isinstance(part, str) else "" for part in one.options["prefix"])
        assert command.split() == ["setpriv", "--pdeathsig", "TERM"], name
        assert one.options["prefix"][-1].arguments == ("launch-prefix",), "gdb and others still go in front"
        assert one.options["respawn"] is (respawn == "true" and name not in WITHOUT_RESPAWN), name
        assert one.options["respawn_delay"] > 0.0
        assert ("on_exit" in one.options) == (one.options.get("package") == PACKAGE or name == "gazebo"), name


def test_a_recorder_that_is_started_again_gets_another_folder(launch: Launch, tmp_path: Path) -> None:
    recorder = processes(launch, record=str(tmp_path / "bag"))["bag"]
    shell, option, script, folder, *_ = recorder.options["cmd"]
    for expected in ("bag", "bag-2", "bag-3"):
        record = ["sh", "-c", 'mkdir "$2"', "sh"]  # which gets --output FOLDER
        subprocess.run([shell, option, script, folder, *record], check=True)
        assert (tmp_path / expected).is_dir()


BLOCKED = ("numba", "numpy", "scipy", "casadi", "mujoco", "pinocchio", "matplotlib", "rclpy", PACKAGE)


def test_the_launch_file_imports_none_of_what_the_nodes_need(launch: Launch, tmp_path: Path) -> None:
    """System's Python, while the nodes' packages are in a virtual environment."""
    doubles = tmp_path / "doubles"
    for name, kinds in {
        **NAMES,
        "launch.substitutions": ["LaunchConfiguration"],
        "launch.logging": ["get_logger"],
    }.items():
        folder = doubles / name.replace(".", "/")
        folder.mkdir(parents=True, exist_ok=True)
        classes = [f"class {kind}:\n    def __init__(self, *a, **k): self.name = a and a[0]\n" for kind in kinds]
        (folder / "__init__.py").write_text("\n".join(classes))
    for name in BLOCKED:
        (doubles / f"{name}.py").write_text(f"raise ModuleNotFoundError('{name} is not here')\n")
    code = (
        "import importlib.util as u, json, sys\n"
        "spec = u.spec_from_file_location('bringup', sys.argv[1]); module = u.module_from_spec(spec)\n"
        "sys.modules['bringup'] = module; spec.loader.exec_module(module)\n"
        "print(json.dumps(module._known(json.loads(sys.argv[2]), ['planner'])['topics']))\n"
    )
    words = [sys.executable, "-c", code, str(LAUNCH_FILE), json.dumps(launch.defaults)]
    program = launch.prefix / "lib" / PACKAGE / "prepare_bringup"
    own = f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} {ROOT / 'scripts' / 'prepare_bringup'}\n"
    program.write_text(own)  # the nodes' Python has what this one lacks
    environment = {**os.environ, "PYTHONPATH": str(doubles)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [topic.name for topic in io.RECORDED]
    program.write_text(f"#!/bin/sh\nPYTHONPATH={ROOT}:{doubles} exec {sys.executable} {ROOT}/scripts/prepare_bringup\n")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert re.search(rf"RuntimeError: \[FATAL\] \[bringup\]: .* is not here, in {sys.executable}; install", done.stderr)
