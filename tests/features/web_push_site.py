"""A site of a producer for web push: a page, a service worker and a back end for tokens.

The push service of the browser's vendor is missing here: the site's worker answers
`pushManager.subscribe` itself. The browser takes pushes through the DevTools protocol.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import orjson

_HERE: Final = Path(__file__).parent
_POINT: Final = (
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
)
"""A public key of the example in RFC 8291, 5."""


@contextmanager
def serve(service: str, token: Callable[[], str]) -> Iterator[str]:
    """Serve the site; yield its origin. `token` returns the token of the signed-in user."""

    def file(name: str) -> bytes:
        text = (_HERE / name).read_text()
        return text.replace("SERVICE", service).replace("POINT", _POINT).encode()

    class SiteHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/notify-sw.js":
                self._answer(file("web_push_worker.js"), "text/javascript")
            elif self.path == "/token":
                self._answer(orjson.dumps({"token": token()}), "application/json")
            else:
                self._answer(file("web_push_page.html"), "text/html")

        def _answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), SiteHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
