"""Two Valkeys behind a fixed address, as behind a Kubernetes service, and a planned failover."""

from __future__ import annotations

import contextlib
import socket
import threading
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

import redis

from notifyproj.devstack.ports import LOOPBACK
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.valkey import Valkey

_PART: Final = 65_536


class Forwarder:
    """Forwards each new connection to `target`; open connections stay with their server."""

    def __init__(self, target: int, *, address: str = LOOPBACK) -> None:
        """Listen on a free port of `address`; `target`: the port of the first server."""
        self.target = target
        self._listener = socket.create_server((address, 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection((LOOPBACK, self.target))
            except OSError:
                return  # the listener is closed
            self._open += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=_copy, args=pair, daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(_PART):
            sink.sendall(part)
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


class Pair:
    """A primary and a replica behind two fixed addresses: of the state Redis and of the broker."""

    def __init__(self, stack: Stack) -> None:
        """Create the servers beside those of a stack, with its password."""
        self._servers = [
            Valkey(name, place=stack.state.place, password=stack.state.password, save="")
            for name in ("failover-a", "failover-b")
        ]
        self._stack = ExitStack()
        self._forwarders: list[Forwarder] = []

    def __enter__(self) -> Self:
        for server in self._servers:
            server.start()
            self._stack.callback(server.erase)
            self._stack.callback(server.kill)
        self._forwarders = [
            self._stack.enter_context(Forwarder(self._servers[0].port)) for _ in range(2)
        ]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def urls(self) -> list[str]:
        """The URLs of the two addresses."""
        password = self._servers[0].password
        return [f"redis://:{password}@{LOOPBACK}:{each.port}/0" for each in self._forwarders]

    def new(self) -> redis.Redis:
        """Return a client of the server that is the primary after the failover."""
        return redis.from_url(self._servers[1].url)

    def fail_over(self) -> None:
        """Let the second server become the primary and the first its replica, which lives on."""
        first, second = self._servers
        with self.new() as new, redis.from_url(first.url) as old:
            new.replicaof("NO", "ONE")
            for each in self._forwarders:
                each.target = second.port
            old.config_set("masterauth", second.password)
            old.replicaof(LOOPBACK, str(second.port))
