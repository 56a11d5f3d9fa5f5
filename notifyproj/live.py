"""`python -m notifyproj.live`: the live process, which holds the streams of the inbox.

    --host  address to listen on; default 127.0.0.1
    --port  default 8001

SIGTERM ends each stream with a goodbye. The process ends when the clients have read the goodbye, or
after eight seconds. The process keeps nothing that another process or a client needs, so any number
of processes may run and any process may be killed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

import django
import uvicorn
from django.apps import apps
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from notifyproj import environment
from notifyproj.descriptors import allow_descriptors

_STOP_SECONDS: Final = 8
_BACKLOG: Final = 4_096
"""Connections that wait in the kernel: after a restart many clients connect together."""
_BUFFER_BYTES: Final = 16 * 1024
"""Unsent bytes of a connection beyond which an event waits for the client."""
_KERNEL_BYTES: Final = 64 * 1024
"""Unsent bytes of a connection in the kernel, which would take up to 4 MiB for a slow reader."""
_CANCEL_SECONDS: Final = 1.0
"""Time after which a task that has not ended is cancelled again."""
_HEAD_SECONDS: Final = 10.0
"""Time from the connection to the end of a request's head."""
_HEAD_BYTES: Final = 32 * 1024
_DESCRIPTORS_BESIDE: Final = 256
_INBOX: Final = "notifications.features.inbox"


class Protocol(HttpToolsProtocol):
    """A connection with limits for the head and the buffer, and with a function to abort."""

    _received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        """Limit the buffer, and the time for the head."""
        transport.set_write_buffer_limits(high=_BUFFER_BYTES)
        connection: socket.socket = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KERNEL_BYTES)
        super().connection_made(transport)
        self.loop.call_later(_HEAD_SECONDS, self._abort_without_request)

    def data_received(self, data: bytes) -> None:
        """Parse a part of the request; a head without end ends the connection."""
        self._received += len(data)
        if self.cycle is None and self._received > _HEAD_BYTES:
            self.transport.abort()
        else:
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Add the function that ends the connection at once (`features.inbox.live.http`)."""
        super().on_message_begin()
        self.scope["extensions"] = {"notify.abort": {"call": self.transport.abort}}

    def _abort_without_request(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.abort()


class LiveServer(uvicorn.Server):
    """The server; a signal ends the streams before the server waits for the connections."""

    def __init__(self, config: uvicorn.Config, *, on_stop: Callable[[], None]) -> None:
        """Create a server that calls `on_stop` in the event loop at the first signal."""
        super().__init__(config)
        self._on_stop = on_stop
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: None = None) -> None:  # type: ignore[override]  # no sockets here
        """Listen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; a second signal does not wait for connections."""
        del sig, frame
        self.force_exit = self.should_exit
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._on_stop)


def main() -> int:
    """Serve until SIGTERM; returns 1 if a task of the process failed.

    Raises:
        SystemExit: the app of the inbox is not installed.
    """
    parser = argparse.ArgumentParser(prog="python -m notifyproj.live", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    chosen = parser.parse_args()
    live = environment.load(os.environ).live
    allow_descriptors(live.connections + _DESCRIPTORS_BESIDE)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()
    if not apps.is_installed(_INBOX):
        parser.exit(1, f"The live process streams inboxes: add {_INBOX} to INSTALLED_APPS.\n")
    return asyncio.run(_serve(chosen.host, chosen.port))


async def _serve(host: str, port: int) -> int:
    from notifications.core import conf  # noqa: PLC0415 - after Django is set up
    from notifications.core.api import clients, problems  # noqa: PLC0415 - after Django is set up
    from notifications.core.store.postgres import fallbacks, host_clock  # noqa: PLC0415 - after Django is set up
    from notifications.features.inbox.live.http import Application  # noqa: PLC0415 - after Django is set up
    from notifications.features.inbox.live.service import Service  # noqa: PLC0415 - after Django is set up

    await asyncio.to_thread(host_clock.Watch().start)
    fallbacks.FallbackWatch(fallbacks.name_of("live"), [fallbacks.STATE]).start()
    service = Service(conf.current())
    config = uvicorn.Config(
        Application(service, problems.body, clients.key_behind_proxies),
        host=host,
        port=port,
        loop="asyncio",
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    server = LiveServer(config, on_stop=service.hub.stop)
    work = asyncio.create_task(service.run())
    work.add_done_callback(lambda _done: setattr(server, "should_exit", True))
    await server.serve()
    has_failed = work.done()
    while not work.done():  # Python 3.11 can lose a cancellation beside a lost connection
        work.cancel()
        await asyncio.wait([work], timeout=_CANCEL_SECONDS)
    await service.remove_report()
    if has_failed:
        work.result()
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
