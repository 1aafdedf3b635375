"""ROS parameters from configuration dataclasses: declared with type, range and description, changed while running.

The configuration of a node is one dataclass; each of its fields, nested ones with a dotted prefix, becomes a parameter.
A change is checked as a whole and applied to the node's object at once, or refused with the reason. Structural
parameters, with which that object is built, may change only while it can be rebuilt.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from contact_ddp_ros.base.config import ParameterSpec, Value, check, flatten, replace, specs
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError
from contact_ddp_ros.base.parameter_file import file_that_sets
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.ros.rclpy_internals import given_parameters
from contact_ddp_ros.runs.robot_scaling import for_robot

Config = TypeVar("Config")

RESTART = "restart the node with the value"
"""Why structural parameters are fixed where a node has its object as long as it lives."""

_BUILT_IN = ("use_sim_time", "start_type_description_service", "qos_overrides.")
"""Parameters that rclpy itself declares."""


def fitted(node: Node, defaults: Config) -> Config:
    """Fit `defaults` to the robot that the command line or a parameter file names.

    Raises:
        ContactDdpError: there is no such robot, or its file or its description cannot be used.
    """
    given = given_parameters(node)
    source = given["node.urdf"].value if "node.urdf" in given else None
    return for_robot(defaults, load_robot(source)) if isinstance(source, str) and source else defaults


class NodeParameters(Generic[Config]):
    """The parameters of one node as a configuration."""

    def __init__(
        self,
        node: Node,
        defaults: Config,
        apply: Callable[[Config], None] | None = None,
        fixed: Callable[[], str] = lambda: RESTART,
    ) -> None:
        """Declare every parameter, with the values that the command line or a file gives, else those of `defaults`.

        `apply` takes over every later configuration, and may refuse it by raising a ContactDdpError; None at first
        where what it would change does not exist yet: see :meth:`connect`. `fixed` says what to do before a structural
        parameter may change, and is empty while one may.

        Raises:
            ParameterError: a value given is not allowed, or a name given is unknown.
        """
        self._node = node
        self._apply = apply
        self._fixed = fixed
        table = specs(defaults)
        _refuse_unknown(node, table)
        given = {name: self._declare(spec) for name, spec in table.items()}
        self._config = replace(defaults, given)
        self._structural = frozenset(name for name, spec in table.items() if spec.structural)
        self._connected = self._structure(self._config)
        node.add_pre_set_parameters_callback(self._coerce)
        node.add_on_set_parameters_callback(self._change)

    @property
    def config(self) -> Config:
        """The present configuration; its structural parameters apply to the next object that is built."""
        return self._config

    @property
    def outdated(self) -> list[str]:
        """Structural parameters that have changed since the connected object was built."""
        now = self._structure(self._config)
        return [name for name, value in self._connected.items() if now[name] != value]

    def connect(self, apply: Callable[[Config], None] | None) -> None:
        """Set the object, built from the present configuration, that later ones are applied to; None disconnects."""
        self._apply = apply
        self._connected = self._structure(self._config)

    def _structure(self, config: Config) -> dict[str, Value]:
        values = flatten(config)
        return {name: values[name] for name in sorted(self._structural)}

    def _declare(self, spec: ParameterSpec) -> Value:
        """Declare one parameter and return its checked value; a whole number given for a float is taken as one."""
        given = given_parameters(self._node).get(spec.name)
        try:
            value = spec.default if given is None else check(spec, given.value)
        except ParameterError as error:
            file = file_that_sets(spec.name, self._node.get_fully_qualified_name(), sys.argv)
            raise ParameterError(f"{error}; set in {file}" if file else str(error)) from error
        self._node.declare_parameter(spec.name, _plain(value), _descriptor(spec), ignore_override=True)
        return value

    def _coerce(self, parameters: Sequence[Parameter]) -> list[Parameter]:
        """Whole numbers for floats, as their declared type; what does not fit is left for the check to refuse."""
        values = flatten(self._config)
        return [_as_declared(parameter, values.get(parameter.name)) for parameter in parameters]

    def _change(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Check a set as a whole and apply it, or refuse it with the reason and change nothing."""
        known = flatten(self._config)
        values = {parameter.name: parameter.value for parameter in parameters if parameter.name in known}
        if not values:
            return SetParametersResult(successful=True)
        try:
            changed = replace(self._config, values)
            structure = self._structure(changed)
            shaping = [name for name, value in structure.items() if value != known[name]]
            if shaping and (remedy := self._fixed()):
                raise ParameterError(f"{', '.join(shaping)} cannot change now; {remedy}")
            if self._apply is not None and structure == self._connected:
                self._apply(changed)
        except ContactDdpError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self._config = changed
        return SetParametersResult(successful=True)


def _descriptor(spec: ParameterSpec) -> ParameterDescriptor:
    unit = f" [{spec.unit}]" if spec.unit else ""
    descriptor = ParameterDescriptor(description=f"{spec.description}{unit}", read_only=False)
    constraints = [f"one of {', '.join(spec.choices)}"] if spec.choices else []
    constraints += ["fixed while the node is at work"] if spec.structural else []
    descriptor.additional_constraints = "; ".join(constraints)
    if (spec.low is None and spec.high is None) or isinstance(spec.default, bool):
        return descriptor
    if isinstance(spec.default, int):
        largest = 2**63 - 1
        low = -largest if spec.low is None else int(spec.low)
        high = largest if spec.high is None else int(spec.high)
        descriptor.integer_range = [IntegerRange(from_value=low, to_value=high)]
    elif isinstance(spec.default, float):
        low_float = -sys.float_info.max if spec.low is None else float(spec.low)
        high_float = sys.float_info.max if spec.high is None else float(spec.high)
        descriptor.floating_point_range = [FloatingPointRange(from_value=low_float, to_value=high_float)]
    return descriptor


def _plain(value: Value) -> Any:
    """A value as rclpy takes it."""
    return list(value) if isinstance(value, tuple) else value


def _as_declared(parameter: Parameter, declared: Value | None) -> Parameter:
    value = parameter.value
    if isinstance(declared, float) and isinstance(value, int) and not isinstance(value, bool):
        return Parameter(parameter.name, Parameter.Type.DOUBLE, float(value))
    if isinstance(declared, tuple) and parameter.type_ is Parameter.Type.INTEGER_ARRAY:
        return Parameter(parameter.name, Parameter.Type.DOUBLE_ARRAY, [float(entry) for entry in value])
    return parameter


def _refuse_unknown(node: Node, known: dict[str, ParameterSpec]) -> None:
    """rclpy passes over values given for parameters that are never declared; a misspelt name would go unnoticed."""
    given = given_parameters(node)
    unknown = sorted(name for name in given if name not in known and not name.startswith(_BUILT_IN))
    if unknown:
        raise ParameterError(
            f"unknown parameter {', '.join(unknown)} of node {node.get_name()}; ros2 param list names the known ones"
        )
