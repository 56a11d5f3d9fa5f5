"""Figures of a live process, for `/metrics` of the process; other processes do not have them."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY: Final = CollectorRegistry()

CONNECTIONS: Final = Gauge(
    "notifications_live_connections", "Open streams of the process", registry=REGISTRY
)
CONNECTIONS_LIMIT: Final = Gauge(
    "notifications_live_connections_limit", "Most streams of the process", registry=REGISTRY
)
RECIPIENTS: Final = Gauge(
    "notifications_live_recipients", "Recipients with a stream", registry=REGISTRY
)
STATE_UP: Final = Gauge(
    "notifications_live_state_up",
    "1 while announcements come from the state instance; 0: versions are compared with Postgres",
    registry=REGISTRY,
)
DATABASE_UP: Final = Gauge(
    "notifications_live_database_up", "1 while the database answers reads", registry=REGISTRY
)
OPENED: Final = Counter("notifications_live_opened", "Streams that began", registry=REGISTRY)
REFUSED: Final = Counter(
    "notifications_live_refused", "Requests without a stream", ["status"], registry=REGISTRY
)
ENDED: Final = Counter(
    "notifications_live_ended", "Streams that the process ended", ["reason"], registry=REGISTRY
)
EVENTS: Final = Counter(
    "notifications_live_events", "Events with changes and resets", registry=REGISTRY
)
LAG_SECONDS: Final = Histogram(
    "notifications_live_lag_seconds",
    "Time from the announcement of a commit until the socket or its buffer took the event",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
    registry=REGISTRY,
)
