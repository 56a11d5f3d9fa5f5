"""The trace id of a request, and the log line of a request.

The service continues a caller's W3C `traceparent` or starts a new trace. The trace id is the
response's `X-Request-Id`, the `instance` of a problem and a field of every log line. The trace id
is stored with the notification, and the provider call carries the trace id too. The log has the
route instead of the path, because a path can contain a person's id.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable
from typing import Final

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from notifications import clock, telemetry

_KEY: Final = "notifications.traceparent"
_SHAPE: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_log: Final = logging.getLogger("notifications.api")


class Correlation:
    """Middleware, the outermost: every response gets a trace id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, and write the log line."""
        started = clock.monotonic()
        trace = trace_id(request)
        with structlog.contextvars.bound_contextvars(trace_id=trace):
            response = self._get_response(request)
            response["X-Request-Id"] = trace
        if _log.isEnabledFor(logging.INFO):
            telemetry.write_request({
                "method": request.method,
                "route": request.resolver_match.route if request.resolver_match else "",
                "status": response.status_code,
                "duration_ms": round((clock.monotonic() - started) * 1000, 1),
                "trace_id": trace,
            })
        return response


def traceparent(request: HttpRequest) -> str:
    """Return the `traceparent` to pass on: the caller's trace id with a new span id."""
    known = request.META.get(_KEY)
    if known is None:
        came = _SHAPE.fullmatch(request.headers.get("traceparent", ""))
        trace = came[1] if came else secrets.token_hex(16)
        known = request.META[_KEY] = f"00-{trace}-{secrets.token_hex(8)}-01"
    return str(known)


def trace_id(request: HttpRequest) -> str:
    """Return the trace id of the request: 32 hexadecimal digits."""
    return traceparent(request)[3:35]
