"""A collector for tests: takes spans by OTLP over HTTP, as protobuf, or hangs."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

_HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ExportedSpan:
    """A span as the collector got it; ids in hexadecimal digits."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    service: str
    seconds: float
    attributes: Mapping[str, str | int]


class OtlpCollector:
    """A context manager; `spans` grows as they arrive."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.spans: list[ExportedSpan] = []
        self.bodies: list[bytes] = []
        self.asked = threading.Event()
        """Set by a request."""
        self._released = threading.Event()
        if not hangs:
            self._released.set()
        collector = self

        class OtlpHandler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.asked.set()
                collector._released.wait()
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces"
                assert self.headers["Content-Type"] == "application/x-protobuf"
                collector.bodies.append(body)
                collector.spans += _parse(body)
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_arguments: object) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer((_HOST, 0), OtlpHandler)
        self.url = f"http://{_HOST}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def hang(self) -> None:
        """Answer no further request."""
        self._released.clear()
        self.asked.clear()

    def environ(self) -> dict[str, str]:
        """The settings of a process that exports here twice a second."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "500"}

    def of(self, trace_id: str) -> dict[str, ExportedSpan]:
        """The spans of a trace by name."""
        return {each.name: each for each in list(self.spans) if each.trace_id == trace_id}


def _parse(body: bytes) -> list[ExportedSpan]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        ExportedSpan(
            name=span.name,
            trace_id=span.trace_id.hex(),
            span_id=span.span_id.hex(),
            parent_id=span.parent_span_id.hex(),
            service=next(
                each.value.string_value
                for each in resource.resource.attributes
                if each.key == "service.name"
            ),
            seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
            attributes={
                each.key: each.value.string_value or each.value.int_value
                for each in span.attributes
            },
        )
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
