"""A transport with the interface of Gazebo's bindings, within one process or between the processes of one machine.

Within a process a :class:`Bus` calls back at once, in the thread that publishes. Between processes the server listens
on a local socket named after GZ_PARTITION, and each node of another process is a client of it, with a thread that calls
back. Frames between processes hold what Gazebo's would: names, and messages in protobuf's wire format. As with Gazebo,
a node may be there before the server: it keeps looking for one, also after that has ended; until then what it publishes
reaches nobody, and its requests are answered when there is a server or not at all.
"""

import contextlib
import itertools
import os
import socket
import tempfile
import time as clock
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from contact_ddp_ros.base.errors import GazeboError
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR, Bindings, Messages, Publisher
from contact_ddp_ros.plants.gazebo.emulator.messages import TYPES

Callback = Callable[[Any], None]
Handler = Callable[[Any], Any]

_LOOK = 0.05
"""Time between two attempts to connect [s]."""

_PUBLISH, _SUBSCRIBE, _UNSUBSCRIBE, _REQUEST, _ANSWER = b"P", b"S", b"U", b"R", b"A"

EMULATOR_MESSAGES = Messages(
    **{name: TYPES[name] for name in ("Double", "Model", "Odometry", "IMU", "WorldControl", "Boolean", "EntityWrench")}
)


class Bus:
    """Topics and services of one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._callbacks: dict[str, list[Callback]] = {}
        self._services: dict[str, tuple[Any, Handler]] = {}

    def subscribe(self, topic: str, callback: Callback) -> None:
        """Call back with every message of a topic, in the thread that publishes it."""
        with self._lock:
            self._callbacks[topic] = [*self._callbacks.get(topic, []), callback]

    def unsubscribe(self, topic: str, callback: Callback) -> None:
        """Remove a callback of a topic."""
        with self._lock:
            self._callbacks[topic] = [one for one in self._callbacks.get(topic, []) if one != callback]

    def publish(self, topic: str, message: Any) -> None:
        """Pass a message to all callbacks of its topic."""
        for callback in self._callbacks.get(topic, []):
            callback(message)

    def serve(self, service: str, request_type: Any, handler: Handler) -> None:
        """Register the handler of a service."""
        self._services[service] = request_type, handler

    def request(self, service: str, request: Any) -> Any:
        """Call a service; return its answer, None for an unknown service."""
        found = self._services.get(service)
        return None if found is None else found[1](request)


class BusNode:
    """A node of the process that has the bus; as the node of Gazebo's bindings."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._mine: dict[str, Callback] = {}

    def advertise(self, topic: str, _message_type: Any) -> Publisher:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        return _Publisher(lambda message: self._bus.publish(topic, message))

    def subscribe(self, _message_type: Any, topic: str, callback: Callback) -> bool:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        self._mine[topic] = callback
        self._bus.subscribe(topic, callback)
        return True

    def unsubscribe(self, topic: str) -> bool:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        callback = self._mine.pop(topic, None)
        if callback is not None:
            self._bus.unsubscribe(topic, callback)
        return callback is not None

    def request(
        self, service: str, request: Any, _request_type: Any, response_type: Any, _timeout: int
    ) -> tuple[bool, Any]:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        answer = self._bus.request(service, request)
        return (False, response_type()) if answer is None else (True, answer)


class SocketBus(Bus):
    """A bus that nodes of other processes reach, too; use it as a context manager, or call :meth:`close`."""

    def __init__(self, address: Path | None = None) -> None:
        """Listen at `address`, by default at the partition's.

        Raises:
            GazeboError: another process listens there already.
        """
        super().__init__()
        self._address = address or partition_address()
        _clear(self._address)
        self._listener = Listener(str(self._address), "AF_UNIX")
        self._remote: dict[str, list[_Client]] = {}
        self._clients: set[_Client] = set()
        Thread(target=self._accept, name="emulator accept", daemon=True).start()

    def publish(self, topic: str, message: Any) -> None:
        """Pass a message to all subscribers of its topic, in this process and in others."""
        super().publish(topic, message)
        clients = self._remote.get(topic, [])
        if clients:
            frame = _frame(_PUBLISH, topic, message.SerializeToString())
            for client in clients:
                try:
                    client.send(frame)
                except OSError:
                    self._forget(client)

    def close(self) -> None:
        """Stop listening and close all connections."""
        self._listener.close()
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.hang_up()
        self._address.unlink(missing_ok=True)

    def __enter__(self) -> "SocketBus":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = _Client(self._listener.accept())
                Thread(target=self._attend, args=(client,), name="emulator client", daemon=True).start()

    def _attend(self, client: "_Client") -> None:
        with self._lock:
            self._clients.add(client)
        with contextlib.suppress(OSError, EOFError):
            while True:
                kind, name, content = _parts(client.connection.recv_bytes())
                if kind == _SUBSCRIBE:
                    with self._lock:
                        others = [one for one in self._remote.get(name, []) if one is not client]
                        self._remote[name] = [*others, client]
                elif kind == _UNSUBSCRIBE:
                    with self._lock:
                        self._remote[name] = [one for one in self._remote.get(name, []) if one is not client]
                elif kind == _PUBLISH:
                    kind_name, _, body = content.partition(b"\0")
                    super().publish(name, _parsed(TYPES[kind_name.decode()], body))
                elif kind == _REQUEST:
                    client.send(self._answer(name, content))
        self._forget(client)

    def _answer(self, name: str, content: bytes) -> bytes:
        number, _, body = content.partition(b"\0")
        found = self._services.get(name)
        answer = b"" if found is None else found[1](_parsed(found[0], body)).SerializeToString()
        return _frame(_ANSWER, name, number + (b"\0" if found is None else b"\1") + answer)

    def _forget(self, client: "_Client") -> None:
        with self._lock:
            self._clients.discard(client)
            self._remote = {
                topic: [one for one in clients if one is not client] for topic, clients in self._remote.items()
            }


class _Client:
    """A node of another process, as the bus sees it; whole frames, whichever thread sends them."""

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self.connection = connection
        self._sending = Lock()

    def send(self, frame: bytes) -> None:
        with self._sending:
            self.connection.send_bytes(frame)

    def hang_up(self) -> None:
        """End the connection, also for a thread that waits for a frame of it."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self.connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)


class SocketNode:
    """A node of another process than the server's; as the node of Gazebo's bindings."""

    def __init__(self, address: Path | None = None) -> None:
        """Connect to the server at `address`, by default the partition's, now and again whenever it is gone."""
        self._address = address or partition_address()
        self._server: Connection[Any, Any] | None = None
        self._connected = Event()
        self._sending = Lock()
        self._callbacks: dict[str, tuple[Any, Callback]] = {}
        self._numbers = itertools.count()
        self._asked: dict[bytes, tuple[Event, list[bytes]]] = {}
        Thread(target=self._work, name="emulator node", daemon=True).start()
        self._connected.wait(_LOOK)

    def advertise(self, topic: str, message_type: Any) -> Publisher:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        kind = str(message_type.KIND).encode() + b"\0"
        return _Publisher(lambda message: self._send(_PUBLISH, topic, kind + message.SerializeToString()))

    def subscribe(self, message_type: Any, topic: str, callback: Callback) -> bool:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        self._callbacks[topic] = message_type, callback
        self._send(_SUBSCRIBE, topic, b"")
        return True

    def unsubscribe(self, topic: str) -> bool:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        self._send(_UNSUBSCRIBE, topic, b"")
        return self._callbacks.pop(topic, None) is not None

    def request(
        self, service: str, request: Any, _request_type: Any, response_type: Any, timeout: int
    ) -> tuple[bool, Any]:
        """See :class:`contact_ddp_ros.plants.gazebo.bindings.Node`."""
        deadline = clock.monotonic() + 1e-3 * timeout
        number, answered, answers = str(next(self._numbers)).encode(), Event(), list[bytes]()
        self._asked[number] = answered, answers
        self._connected.wait(1e-3 * timeout)
        sent = self._send(_REQUEST, service, number + b"\0" + request.SerializeToString())
        if sent and answered.wait(max(0.0, deadline - clock.monotonic())) and answers[0].startswith(b"\1"):
            return True, _parsed(response_type, answers[0][1:])
        self._asked.pop(number, None)
        return False, response_type()

    def _send(self, kind: bytes, name: str, content: bytes) -> bool:
        try:
            with self._sending:
                if self._server is None:
                    return False
                self._server.send_bytes(_frame(kind, name, content))
        except OSError:
            return False
        return True

    def _work(self) -> None:
        """Loop: connect to the server, send the subscriptions, receive until the connection ends."""
        while True:
            try:
                server = Client(str(self._address), "AF_UNIX")
            except OSError:
                clock.sleep(_LOOK)
                continue
            with self._sending:
                self._server = server
            for topic in list(self._callbacks):
                self._send(_SUBSCRIBE, topic, b"")
            self._connected.set()
            with contextlib.suppress(OSError, EOFError):
                self._receive(server)
            self._connected.clear()
            with self._sending:
                self._server = None
            server.close()

    def _receive(self, server: "Connection[Any, Any]") -> None:
        while True:
            kind, name, content = _parts(server.recv_bytes())
            if kind == _PUBLISH and name in self._callbacks:
                message_type, callback = self._callbacks[name]
                callback(_parsed(message_type, content))
            elif kind == _ANSWER:
                number, mark, body = _split_answer(content)
                if number in self._asked:
                    answered, answers = self._asked.pop(number)
                    answers.append(mark + body)
                    answered.set()


class _Publisher:
    def __init__(self, publish: Callable[[Any], object]) -> None:
        self._publish = publish

    def publish(self, message: Any) -> bool:
        """Send a message."""
        return self._publish(message) is not False


def emulator_bindings(bus: Bus | None = None) -> Bindings:
    """Bindings whose nodes are on `bus`, or on that of the emulator's process where there is none given."""
    return Bindings(EMULATOR, SocketNode if bus is None else lambda: BusNode(bus), EMULATOR_MESSAGES)


def partition_address() -> Path:
    """Path of the socket of this partition's emulator."""
    partition = "".join(letter if letter.isalnum() else "_" for letter in os.environ.get("GZ_PARTITION", "default"))
    return Path(tempfile.gettempdir(), f"contact_ddp_gazebo_{os.getuid()}_{partition}.socket")


def _clear(address: Path) -> None:
    """Remove what a killed emulator left; raise GazeboError where one still listens."""
    if not address.exists():
        return
    try:
        Client(str(address), "AF_UNIX").close()
    except OSError:
        address.unlink(missing_ok=True)
        return
    raise GazeboError(f"an emulator of Gazebo listens at {address} already; give yours another GZ_PARTITION")


def _frame(kind: bytes, name: str, content: bytes) -> bytes:
    return kind + name.encode() + b"\0" + content


def _parts(frame: bytes) -> tuple[bytes, str, bytes]:
    name, _, content = frame[1:].partition(b"\0")
    return frame[:1], name.decode(), content


def _split_answer(content: bytes) -> tuple[bytes, bytes, bytes]:
    """Number of the request, mark whether there was a service, and its answer."""
    end = next(index for index, byte in enumerate(content) if byte in (0, 1))
    return content[:end], content[end : end + 1], content[end + 1 :]


def _parsed(kind: Any, content: bytes) -> Any:
    message = kind()
    message.ParseFromString(content)
    return message
