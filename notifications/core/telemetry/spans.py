"""Spans of requests, provider calls and receipts, exported by OTLP over HTTP.

Import the module only if `traces.are_on()`: the SDK takes half a second and 20 MiB. Ended spans
wait in a bounded queue for a thread. A full queue drops spans, so a collector that hangs delays
nothing. A child of a fork has its own queue and thread.
"""

from __future__ import annotations

import atexit
import functools
import multiprocessing.util
import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Attributes = Mapping[str, str | int]
CLIENT: Final = SpanKind.CLIENT
"""Kind of the span of a provider call."""
CONSUMER: Final = SpanKind.CONSUMER
"""Kind of the span of a receipt."""
_SERVICE: Final = "notifications"
_SERVER_ERROR: Final = 500
_EXPORT_SECONDS: Final = 2.0
"""Most seconds for which an ending process exports its last spans."""
_propagator: Final = TraceContextTextMapPropagator()


@functools.cache
def tracer() -> Tracer:
    """Return the tracer of the process; the first call starts the exporter."""
    resource = Resource.create({
        "service.name": os.environ.get("OTEL_SERVICE_NAME") or _SERVICE,
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
    })
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    ending = _Ending(provider)
    atexit.register(ending.export)
    # A process of the web server is a child of multiprocessing, which runs no `atexit`.
    multiprocessing.util.Finalize(None, ending.export, exitpriority=0)
    os.register_at_fork(after_in_child=ending.prepare)
    return provider.get_tracer(__name__)


class _Ending:
    """Exports the last spans at the end of the process, and waits at most `_EXPORT_SECONDS`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self.prepare()

    def prepare(self) -> None:
        """Start the thread, because an ending interpreter starts no thread."""
        self._begins = threading.Event()
        self._thread = threading.Thread(target=self._close, name="spans", daemon=True)
        self._thread.start()

    def export(self) -> None:
        self._begins.set()
        self._thread.join(_EXPORT_SECONDS)

    def _close(self) -> None:
        self._begins.wait()
        self._provider.shutdown()


def begin_request(method: str, *, parent: str) -> Span:
    """Begin the span of an HTTP request.

    Args:
        method: the method of the request.
        parent: the `traceparent` of the request; empty for a new trace.
    """
    return tracer().start_span(
        method,
        context=_context(parent),
        kind=SpanKind.SERVER,
        attributes={"http.request.method": method},
    )


def end_request(span: Span, *, method: str, route: str, status: int) -> None:
    """End the span of an HTTP request with its route and status."""
    span.update_name(f"{method} /{route}")
    span.set_attributes({"http.route": f"/{route}", "http.response.status_code": status})
    if status >= _SERVER_ERROR:
        span.set_attribute("error.type", str(status))
        span.set_status(StatusCode.ERROR)
    span.end()


def traceparent_of(span: Span) -> str:
    """Return the `traceparent` that names a span as the parent."""
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"


def record(
    name: str,
    *,
    kind: SpanKind,
    parent: str,
    attributes: Attributes,
    seconds: float = 0.0,
    error: str = "",
) -> None:
    """Record a span that ends now.

    Args:
        name: the name of the span, one of few.
        kind: CLIENT for a call, CONSUMER for a receipt.
        parent: the `traceparent` of the notification.
        attributes: attributes by OpenTelemetry's conventions; no address and no text of a message.
        seconds: the duration.
        error: the kind of an error; empty for a success.
    """
    end = time.time_ns()  # spans have the time of the host, as all spans of a trace do
    span = tracer().start_span(
        name,
        context=_context(parent),
        kind=kind,
        attributes={**attributes, **({"error.type": error} if error else {})},
        start_time=end - int(seconds * 1e9),
    )
    if error:
        span.set_status(StatusCode.ERROR)
    span.end(end_time=end)


def _context(traceparent: str) -> Context:
    return _propagator.extract({"traceparent": traceparent}, context=Context())
