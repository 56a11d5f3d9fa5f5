"""Traces: whether spans are exported, without an import of OpenTelemetry.

The trace begins with the producer: the span of a request is a child of the `traceparent` of the
request, and the notification keeps the `traceparent` of that span, the parent of the spans of calls
and receipts. The flag `sampled` of the producer decides about all spans.

The standard variables OTEL_* configure the exporter. Without an endpoint `spans` is not imported.
"""

from __future__ import annotations

import os
from typing import Final

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_IS_ON: Final = (
    any(os.environ.get(name) for name in _ENDPOINTS)
    and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
)
_FLAGS: Final = slice(53, 55)
_SAMPLED: Final = 0x01


def are_on() -> bool:
    """Return True if the environment names an endpoint for spans."""
    return _IS_ON


def is_sampled(traceparent: str) -> bool:
    """Return True if spans are exported and the trace of the stored `traceparent` is sampled."""
    return _IS_ON and bool(int(traceparent[_FLAGS] or "0", 16) & _SAMPLED)


def start() -> None:
    """Import OpenTelemetry and start the exporter, so that no request or call waits for both."""
    if _IS_ON:
        from notifications.core.telemetry import spans  # noqa: PLC0415 - only if spans are exported

        spans.tracer()
