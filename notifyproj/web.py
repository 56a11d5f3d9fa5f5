"""`python -m notifyproj.web`: the web server, with its limits.

    --host     address to listen on; default 127.0.0.1
    --port     default 8000
    --workers  processes; default 1

The server speaks HTTP/1.1 only, because an HTTP/2 connection carries several requests at a time.
Each process answers NOTIFY_WEB_SLOTS requests at a time (`notifications.core.api.request_slots`).
The server limits the time for a request's head, which is also the longest idle time of a
connection.
The reverse proxy limits the time for a body, the time in which a client reads an answer, and the
connections of an address, because the proxy buffers requests and answers
(`docs/compose/proxy.conf.template`).
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from typing import Any, Final

from granian import wsgi
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server import Server, mp

from notifications.core.api.replies import REPLY, Reply, ServerProtocol
from notifications.core.conf import Web
from notifications.core.telemetry import process_number
from notifyproj import environment
from notifyproj.descriptors import allow_descriptors

THREADS: Final = 384
"""Most threads of a process: each request has a thread while its body comes, and until Django's
response."""
_STOP_SECONDS: Final = 10
"""Time for the requests in progress after the signal to stop."""
_DESCRIPTORS_BESIDE: Final = 1_024
"""Descriptors beside clients' connections: database, brokers, files."""
_HEAD_BYTES: Final = 32 * 1024
"""The largest head of a request, and most bytes of a connection in the server's buffer."""


def _with_reply(
    application: Callable[..., Any], scope_opts: dict[str, Any], access_log_fmt: str | None = None
) -> Callable[[ServerProtocol, dict[str, Any]], object]:
    """Wrap the application as granian does, with a reply in the environ (`core.api.replies`)."""
    answer = wsgi._callback_wrapper(application, scope_opts, access_log_fmt)  # noqa: SLF001 - see `_serve`

    def run(protocol: ServerProtocol, environ: dict[str, Any]) -> object:
        reply = environ[REPLY] = Reply(protocol)
        return answer(reply, environ)

    return run


def gives_replies() -> bool:
    """Return True if requests of this process can be answered later (`core.api.replies`).

    A process that was not forked has granian's own wrapper.
    """
    return mp._wsgi_call_wrap is not wsgi._callback_wrapper  # type: ignore[attr-defined]  # noqa: SLF001 - private names of granian, see `_serve`


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m notifyproj.web", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    web = environment.load(os.environ).web
    allow_descriptors(web.connections + _DESCRIPTORS_BESIDE)
    if asked.workers == 1:
        _serve(asked, web)
        return
    with tempfile.TemporaryDirectory(prefix="notify-metrics-") as folder:
        os.environ.setdefault(process_number.FOLDER, folder)  # the processes share their metrics
        _serve(asked, web)


def _serve(asked: argparse.Namespace, web: Web) -> None:
    # Granian has no option for a wrapper of an application's calls.
    mp._wsgi_call_wrap = _with_reply  # type: ignore[attr-defined,assignment]  # noqa: SLF001 - as above
    Server(
        "notifyproj.wsgi:application",
        address=asked.host,
        port=asked.port,
        interface=Interfaces.WSGI,
        workers=asked.workers,
        blocking_threads=THREADS,
        backpressure=web.connections,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=round(web.head_seconds * 1000), max_buffer_size=_HEAD_BYTES
        ),
        websockets=False,
        workers_kill_timeout=_STOP_SECONDS,
    ).serve()


if __name__ == "__main__":
    main()
