"""Client of Unitree's motion switcher: whether the robot's own motion service moves it, and its release.

A robot that was switched on is moved by its own service, which sends motor commands as well; others are executed in
turn with them until it is released. Requests and responses are JSON over DDS.

References:
    Types, topics and numbers: `unitree_api` and `motion_switcher` of Unitree's public Python package.
"""

import itertools
import json
import time as clock
from collections.abc import Callable
from functools import cache
from typing import Any

from cyclonedds.idl import annotations, make_idl_struct, types

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.unitree.link import UnitreeLink

REQUEST_TOPIC, RESPONSE_TOPIC = (f"rt/api/motion_switcher/{part}" for part in ("request", "response"))

CHECK, SELECT, RELEASE = 1001, 1002, 1003
"""Numbers of the requests."""

_LOOK = 0.01
"""Time between two looks for an answer [s]."""


@cache
def api_types() -> tuple[type[Any], type[Any]]:
    """Types of a request and a response."""
    identity = _struct("RequestIdentity_", id=types.int64, api_id=types.int64)
    lease, status = _struct("RequestLease_", id=types.int64), _struct("ResponseStatus_", code=types.int32)
    policy = _struct("RequestPolicy_", priority=types.int32, noreply=bool)
    header = _struct("RequestHeader_", identity=identity, lease=lease, policy=policy)
    answer = _struct("ResponseHeader_", identity=identity, status=status)
    sequence: Any = types.sequence
    data = sequence[types.uint8]
    return _struct("Request_", header=header, parameter=str, binary=data), _struct(
        "Response_", header=answer, data=str, binary=data
    )


def _struct(name: str, **fields: Any) -> type[Any]:
    made = make_idl_struct(name, f"unitree_api.msg.dds_.{name}", fields)
    annotations.final(made)
    annotations.autoid("sequential")(made)
    return made


class MotionService:
    """The robot's own motion service; blocking, for one thread at a time."""

    def __init__(self, link: UnitreeLink, timeout: float = 5.0) -> None:
        """`timeout`: longest wait for an answer [s]. Answers come by :meth:`UnitreeLink.receive` of another thread."""
        self._link, self._timeout = link, timeout
        request, response = api_types()
        self._request: Any = request
        self._send: Callable[[Any], None] = link.publisher(REQUEST_TOPIC, request)
        self._awaited = 0
        self._answer: Any = None
        link.subscribe(RESPONSE_TOPIC, response, self._on_response)
        self._numbers = itertools.count(clock.monotonic_ns())

    @property
    def exists(self) -> bool:
        """True if somebody answers on this link; simulators have nobody."""
        return bool(self._link.types(REQUEST_TOPIC, read=True))

    def active(self) -> str:
        """Name of the mode in which it moves the robot; empty where it is released or there is none.

        Raises:
            LinkError: it does not answer, or refuses.
        """
        if not self.exists:
            return ""
        try:
            return str(json.loads(self._call(CHECK, {}))["name"])
        except (ValueError, KeyError, TypeError) as error:
            raise LinkError(f"the motion switcher answers with something else than its mode: {error}") from error

    def release(self) -> None:
        """Have it move the robot no longer. Raises LinkError where it refuses."""
        self._call(RELEASE, {})

    def select(self, mode: str) -> None:
        """Have it move the robot again, in a mode. Raises LinkError where it refuses."""
        self._call(SELECT, {"name": mode})

    def _call(self, number: int, parameter: dict[str, Any]) -> str:
        """Data of the answer to a request."""
        own, deadline = next(self._numbers), clock.monotonic() + self._timeout
        self._awaited, self._answer = own, None
        header = self._request.__annotations__["header"]
        identity, lease, policy = header.__annotations__.values()
        self._send(self._request(header(identity(own, number), lease(0), policy(0, False)), json.dumps(parameter), []))
        while self._answer is None:
            if clock.monotonic() > deadline:
                raise LinkError(f"the motion switcher has not answered request {number} for {self._timeout:g} s")
            clock.sleep(_LOOK)
        code = self._answer.header.status.code
        if code:
            raise LinkError(f"the motion switcher refuses request {number} with code {code}")
        return str(self._answer.data)

    def _on_response(self, response: Any) -> None:
        if response.header.identity.id == self._awaited:
            self._answer = response


class MotionServiceEmulator:
    """Server of the motion switcher's requests, for the emulator."""

    def __init__(self, link: UnitreeLink, mode: str) -> None:
        """`mode`: in which it begins to move the robot."""
        self.mode = mode
        request, self._response = api_types()
        self._send = link.publisher(RESPONSE_TOPIC, self._response)
        link.subscribe(REQUEST_TOPIC, request, self._on_request)

    def _on_request(self, request: Any) -> None:
        number = request.header.identity.api_id
        if number == RELEASE:
            self.mode = ""
        elif number == SELECT:
            self.mode = json.loads(request.parameter)["name"]
        header = self._response.__annotations__["header"]
        status = header.__annotations__["status"](0)
        data = json.dumps({"form": "0", "name": self.mode})
        self._send(self._response(header(request.header.identity, status), data, []))
