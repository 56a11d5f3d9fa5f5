"""The instruments as text, and the HTTP server that answers Prometheus in a worker or beat.

In a web process `notifications.core.api.metrics` answers. The web processes of a host
share a folder of metric files (`process_number`), so each web process answers with their sum.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Final

import prometheus_client
import structlog
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from notifications.core.conf import ListenAddress
from notifications.core.telemetry import process_number
from notifications.core.telemetry.instruments import REGISTRY

_log = structlog.get_logger(__name__)


class Instruments(Collector):
    """The instruments of the process, or of all processes that share a folder."""

    def collect(self) -> Iterator[Metric]:
        """Yield the families with their samples."""
        if process_number.FOLDER in os.environ:
            shared: Collector = MultiProcessCollector(None)  # type: ignore[no-untyped-call]  # untyped
            yield from shared.collect()
        else:
            yield from REGISTRY.collect()


def text(*further: Collector) -> bytes:
    """Return the figures of Python, the instruments and further families in Prometheus's format."""
    return prometheus_client.generate_latest(_registry(*further))


def serve(address: ListenAddress, *further: Collector) -> threading.Thread:
    """Answer `GET /metrics` on the first free port of the address, in background threads.

    A process without a free port works without the server and logs `metrics_not_served`.
    """
    # A thread, because the standard library asks the resolver for the host's name.
    starting = threading.Thread(
        target=_serve, args=(address, _registry(*further)), name="metrics", daemon=True
    )
    starting.start()
    return starting


def _serve(address: ListenAddress, registry: CollectorRegistry) -> None:
    reason = ""
    for port in address.ports:
        try:
            prometheus_client.start_http_server(port, addr=address.host, registry=registry)
        except OSError as error:
            reason = str(error)
            continue
        _log.info("metrics_served", host=address.host, port=port)
        return
    _log.warning("metrics_not_served", host=address.host, reason=reason)


_PYTHON: Final = prometheus_client.REGISTRY
"""Memory, processor time and descriptors of the process; prometheus_client registers them."""


def _registry(*further: Collector) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_All(_PYTHON, Instruments(), *further))
    return registry


class _All(Collector):
    def __init__(self, *collectors: Collector) -> None:
        self._collectors = collectors

    def collect(self) -> Iterator[Metric]:
        for each in self._collectors:
            yield from each.collect()
