"""The trace id of a request, and the log line of a request.

The service continues a caller's W3C `traceparent` or starts a new trace. The trace id is the
response's `X-Request-Id`, the `instance` of a problem and a field of every log line. The trace id
is stored with the notification, and the provider call carries the trace id too. The log has the
route instead of the path, because a path can contain a person's id.
"""

from __future__ import annotations

import functools
import logging
import re
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import Histogram

from notifications.core import clock, telemetry
from notifications.core.telemetry import instruments, traces

if TYPE_CHECKING:
    from opentelemetry.trace import Span

STARTED: Final = "notifications.started"
"""Key of `request.META` for the start of a request that began before Django, in monotonic seconds.
"""
_KEY: Final = "notifications.traceparent"
_SHAPE: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})")
_API: Final = "/v1/"
_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_OWN_ROUTES: Final = frozenset({"v1", "healthz", "startupz", "readyz", "metrics"})
"""First parts of the routes that are labels as a whole. The admin has one label for its hundreds of
routes."""
_log: Final = logging.getLogger("notifications.core.api")


class Correlation:
    """Middleware, the outermost: every response gets a trace id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, and write the log line."""
        started = request.META.get(STARTED) or clock.monotonic()
        span = _begin_span(request)
        trace = trace_id(request)
        with structlog.contextvars.bound_contextvars(trace_id=trace):
            response = self._get_response(request)
            response["X-Request-Id"] = trace
        if span is not None:
            _end_span(span, request, response.status_code)
        status, method = response.status_code, str(request.method)
        report(method, _route(request), status, trace=trace, started=started)
        return response


def report(method: str, route: str, status: int, *, trace: str, started: float) -> None:
    """Observe the duration of a request that ends now, and write the log line.

    Args:
        method: HTTP method.
        route: as Django's router spells it; empty for an unknown path.
        status: status of the response.
        trace: trace id of the request.
        started: monotonic time of the beginning, in seconds.
    """
    seconds = clock.monotonic() - started
    _observe(method, route, status, seconds)
    if _log.isEnabledFor(logging.INFO):
        telemetry.write_request({
            "method": method,
            "route": route,
            "status": status,
            "duration_ms": round(seconds * 1000, 1),
            "trace_id": trace,
        })


def _begin_span(request: HttpRequest) -> Span | None:
    """Begin the span of a request that changes something; later spans are children of the span."""
    if not traces.are_on() or request.method != "POST" or not request.path.startswith(_API):
        return None
    from notifications.core.telemetry import spans  # noqa: PLC0415 - only if spans are exported

    span = spans.begin_request("POST", parent=request.headers.get("traceparent", ""))
    request.META[_KEY] = spans.traceparent_of(span)
    return span


def _end_span(span: Span, request: HttpRequest, status: int) -> None:
    from notifications.core.telemetry import spans  # noqa: PLC0415 - only if spans are exported

    spans.end_request(span, method="POST", route=_route(request), status=status)


def _route(request: HttpRequest) -> str:
    return request.resolver_match.route if request.resolver_match else ""


def _observe(method: str, route: str, status: int, seconds: float) -> None:
    """Observe the duration of a request; the labels are bounded for any request of a stranger."""
    if route.partition("/")[0] not in _OWN_ROUTES:
        route = route.partition("/")[0] if route.startswith("admin/") else "other"
    labels = (method if method in _METHODS else "other", route, f"{status // 100}xx")
    _series(*labels).observe(seconds)


@functools.cache  # as many entries as the metric has series
def _series(method: str, route: str, status: str) -> Histogram:
    return instruments.HTTP_REQUEST_SECONDS.labels(method, route, status)


def traceparent(request: HttpRequest) -> str:
    """Return the `traceparent` to pass on: the caller's trace id and flags with a new span id."""
    return traceparent_of(request.META)


def traceparent_of(environ: dict[str, Any]) -> str:
    """Return the `traceparent` to pass on, from a WSGI environ, which keeps it."""
    known = environ.get(_KEY)
    if known is None:
        came = _SHAPE.fullmatch(environ.get("HTTP_TRACEPARENT", ""))
        chance = secrets.token_hex(24)
        trace, flags = (came[1], came[2]) if came else (chance[16:], "01")
        known = environ[_KEY] = f"00-{trace}-{chance[:16]}-{flags}"
    return str(known)


def trace_id(request: HttpRequest) -> str:
    """Return the trace id of the request: 32 hexadecimal digits."""
    return trace_id_of(request.META)


def trace_id_of(environ: dict[str, Any]) -> str:
    """Return the trace id of the request, from a WSGI environ."""
    return traceparent_of(environ)[3:35]
