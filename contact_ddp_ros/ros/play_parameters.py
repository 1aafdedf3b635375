"""Parameters of the running planner and controller for the live page: what they are, and setting them."""

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python

from contact_ddp_ros.base.config import ParameterSpec, specs
from contact_ddp_ros.runs.live.commands import Answer

_PATIENCE = 10.0
"""Wait for the nodes' parameters before the page does without [s]."""


class RemoteParameters:
    """Of nodes by name; answers go to a function."""

    def __init__(self, node: Node, configs: Mapping[str, Any], tell: Callable[[Answer], None]) -> None:
        """`configs` are what the nodes' parameters would be by default; `tell` gets every answer."""
        self._tell = tell
        self._specs = {name: specs(config) for name, config in configs.items()}
        self._get = {name: node.create_client(GetParameters, f"{name}/get_parameters") for name in configs}
        self._set = {
            name: node.create_client(SetParametersAtomically, f"{name}/set_parameters_atomically") for name in configs
        }

    def ask(self, spin: Callable[[], bool]) -> dict[str, ParameterSpec]:
        """Those that the nodes have by "node.name", their values as defaults; `spin` lets answers come, until False."""
        futures: dict[str, Any] = {}
        deadline = clock.monotonic() + _PATIENCE
        while spin() and clock.monotonic() < deadline:
            for name, client in self._get.items():
                if name not in futures and client.service_is_ready():
                    futures[name] = client.call_async(GetParameters.Request(names=list(self._specs[name])))
            if len(futures) == len(self._specs) and all(future.done() for future in futures.values()):
                break
        found: dict[str, ParameterSpec] = {}
        for name, future in futures.items():
            if future.done():
                found |= _with_values(name, self._specs[name], future.result().values)
        return found

    def set(self, values: Mapping[str, Any]) -> None:
        """Set values by "node.name"; of each node all are taken over, or none."""
        for section, client in self._set.items():
            own = {name: value for name, value in values.items() if name.startswith(f"{section}.")}
            if not own:
                continue
            messages = [
                Parameter(name.partition(".")[2], value=list(value) if isinstance(value, tuple) else value)
                for name, value in own.items()
            ]
            request = SetParametersAtomically.Request(parameters=[one.to_parameter_msg() for one in messages])
            client.call_async(request).add_done_callback(partial(self._were_set, values=own))

    def _were_set(self, future: Any, values: Mapping[str, Any]) -> None:
        result = future.result().result
        text = ", ".join(f"{name} = {value}" for name, value in values.items())
        self._tell(Answer(True, f"set {text}", values) if result.successful else Answer(False, result.reason))


def _with_values(node: str, known: dict[str, ParameterSpec], values: Any) -> dict[str, ParameterSpec]:
    """Parameters by "node.name" with the values that the node has; those that it does not have are left out."""
    found = {}
    for (name, spec), value in zip(known.items(), values):
        python = parameter_value_to_python(value)
        if python is None:
            continue
        python = tuple(python) if isinstance(spec.default, tuple) else type(spec.default)(python)
        found[f"{node}.{name}"] = replace(spec, name=f"{node}.{name}", default=python)
    return found
