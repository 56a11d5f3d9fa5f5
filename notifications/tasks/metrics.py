"""The metrics of a worker or beat: the instruments and the gauges of the process.

The setting NOTIFY_METRICS_LISTEN gives the address. Without an address the process counts nothing.
A thread pool has one process, so one port shows all metrics of a worker.
"""

from __future__ import annotations

from collections.abc import Iterator

from celery.worker.state import active_requests
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from notifications import conf
from notifications.telemetry import exposition, instruments, traces
from providers import registry

GAUGES = {
    "notifications_worker_concurrency": "Most tasks that a worker process runs at a time",
    "notifications_worker_active_tasks": "Tasks that a worker process runs now",
    "notifications_transport_requests": (
        "HTTP requests of a worker process to providers, in flight and waiting for a connection"
    ),
}
"""Gauges of a worker process with their help texts."""


class WorkerGauges(Collector):
    """The gauges of this worker process, read at each scrape.

    Args:
        concurrency: the number of threads.
    """

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges."""
        figures = (self._concurrency, len(active_requests))
        for name, figure in zip(GAUGES, figures, strict=False):
            yield GaugeMetricFamily(name, GAUGES[name], value=figure)
        usage = registry.transport_usage()
        name = "notifications_transport_requests"
        requests = GaugeMetricFamily(name, GAUGES[name], labels=["state"])
        requests.add_metric(["in_flight"], usage.in_flight)
        requests.add_metric(["waiting"], usage.waiting)
        yield requests


def serve(*, concurrency: int | None = None) -> None:
    """Serve the metrics of this process, or stop counting without an address; start the exporter.

    Args:
        concurrency: the number of threads of a worker; None for beat.
    """
    address = conf.current().metrics_listen
    instruments.switch(on=address is not None)
    traces.start()
    if address is not None:
        gauges = [] if concurrency is None else [WorkerGauges(concurrency)]
        exposition.serve(address, *gauges)
