"""The metrics of a worker or beat: the instruments and the gauges of the process.

The setting NOTIFY_METRICS_LISTEN gives the address. Without an address the process counts nothing.
A thread pool has one process, so one port shows all metrics of a worker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from celery.worker.state import active_requests
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from notifications.core import conf
from notifications.core.rules.lane import LANES, Mode
from notifications.core.rules.states import Status
from notifications.core.telemetry import exposition, instruments, traces
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


_SHOWN_FROM_START: Final = (Status.SENT, Status.FAILED, Status.EXPIRED, Status.UNKNOWN)
"""Statuses in the rules of docs/grafana/alerts.yml."""


def serve(*, concurrency: int | None = None, queues: Collection[str] = ()) -> None:
    """Serve the metrics of this process, or stop counting without an address; start the exporter.

    Args:
        concurrency: the number of threads of a worker; None for beat.
        queues: the queues that the worker consumes.
    """
    address = conf.current().metrics_listen
    instruments.switch(on=address is not None)
    traces.start()
    if address is not None:
        _start_at_zero(queues)
        gauges = [] if concurrency is None else [WorkerGauges(concurrency)]
        exposition.serve(address, *gauges)


def _start_at_zero(queues: Collection[str]) -> None:
    """Create the series of the live lanes; `rate` does not see the first count of a new series."""
    for lane in LANES:
        if lane.name in queues and lane.mode is Mode.LIVE:
            labels = (lane.mode.label, lane.priority.name, lane.channel.label)
            for status in _SHOWN_FROM_START:
                instruments.TRANSITIONS.labels(*labels, status.label)
