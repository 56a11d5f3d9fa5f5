"""Status webhooks: calls per second, and nine good endpoints beside one that hangs.

[webhook_rate] Messages delivered per second by one process, compared with a Celery task that posts
one signed message with requests and stores the result, two prefork children.

[webhook_isolation] Seconds to deliver the messages of nine endpoints while a tenth endpoint accepts
connections and never answers, compared with the same without the tenth.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

from notifyproj.devstack.ports import LOOPBACK
from tests.benchmarks import posting
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_MESSAGES: Final = 6_000
_ENDPOINTS: Final = 32
"""Producers' endpoints; a call in flight is one of at most eight at an endpoint."""
_GOOD: Final = 9
_EACH: Final = 2_000
_HANGING: Final = 40
"""Messages of the endpoint that hangs."""
_RATE_TARGET: Final = 8.0
_ISOLATION_TARGET: Final = 0.95


def measure_rate(stage: Stage) -> Figure:
    """Measure webhook_rate."""
    stage.run()
    found = paired(ours=lambda: _rate(stage), theirs=lambda: posting.rate(stage))
    return Figure(
        name="webhook_rate",
        value=found.ours,
        unit="messages/s",
        baseline="messages/s (a Celery task with requests each, prefork 2)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_RATE_TARGET:.0f}x",
        met=found.ratio >= _RATE_TARGET,
    )


def measure_isolation(stage: Stage) -> Figure:
    """Measure webhook_isolation."""
    stage.run()
    _good_rate(stage, hangs=False)  # warm
    found = paired(
        ours=lambda: _good_rate(stage, hangs=True), theirs=lambda: _good_rate(stage, hangs=False)
    )
    return Figure(
        name="webhook_isolation",
        value=found.ours,
        unit="messages/s to nine endpoints, a tenth hangs",
        baseline="messages/s without the tenth",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_ISOLATION_TARGET}x",
        met=found.ratio >= _ISOLATION_TARGET,
    )


def _rate(stage: Stage) -> float:
    from notifications.core.webhooks import calls  # noqa: PLC0415 - after Django is set up

    with stage.standing_still():
        fill(stage, _MESSAGES, endpoints=_ENDPOINTS)
        began = time.perf_counter()
        called = calls.work_off()
        took = time.perf_counter() - began
    _check_sent(_MESSAGES // _ENDPOINTS * _ENDPOINTS)
    return called / took


def _good_rate(stage: Stage, *, hangs: bool) -> float:
    from notifications.core.models import WebhookMessage  # noqa: PLC0415 - after Django is set up
    from notifications.core.webhooks import calls  # noqa: PLC0415 - after Django is set up

    with stage.standing_still(), _silent_server() as silent:
        clear()
        good = [endpoint(stage.sink.url) for _ in range(_GOOD)]
        for each in good:
            _add(each, _EACH)
        if hangs:
            _add(endpoint(silent), _HANGING)
        began = time.perf_counter()
        calls.work_off()
    _check_sent(_GOOD * _EACH)
    last = WebhookMessage.objects.filter(endpoint_id__in=good, state="sent").count()
    return last / (_last_answer(good) - began)


def _last_answer(endpoints: list[int]) -> float:
    """Return the time of the last answer of these endpoints, on the clock of `perf_counter`."""
    from django.db.models import F, Max  # noqa: PLC0415 - after Django is set up

    from notifications.core.models import WebhookAttempt  # noqa: PLC0415 - after Django is set up

    rows = WebhookAttempt.objects.filter(endpoint_id__in=endpoints)
    ended = rows.aggregate(last=Max(F("started_at")), latency=Max(F("latency_ms")))
    wall: float = ended["last"].timestamp() + ended["latency"] / 1000
    return time.perf_counter() - (time.time() - wall)  # noqa: TID251 - both clocks of this machine


def clear() -> None:
    """Delete all endpoints and messages."""
    from notifications.core.models import (  # noqa: PLC0415 - after Django is set up
        WebhookAttempt,
        WebhookEndpoint,
        WebhookMessage,
    )

    for model in (WebhookAttempt, WebhookMessage, WebhookEndpoint):
        model.objects.all().delete()


def fill(stage: Stage, count: int, *, endpoints: int) -> None:
    """Have `count` due messages, divided among endpoints; `endpoints` divides `count`."""
    clear()
    for _ in range(endpoints):
        _add(endpoint(stage.sink.url), count // endpoints)


def endpoint(url: str) -> int:
    """Make an endpoint of the producer for all events; returns its id."""
    from notifications.core.models import Producer, WebhookEndpoint  # noqa: PLC0415 - after set-up
    from notifications.core.rules.lane import Mode  # noqa: PLC0415 - with the models

    producer = Producer.objects.get(name="bench")
    unique = f"{url}/{uuid4().hex}"
    return WebhookEndpoint.objects.create(producer=producer, mode=Mode.LIVE, url=unique).pk


def _add(endpoint: int, count: int) -> None:
    """Add test events, which need no notification."""
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up
    from notifications.core.models import WebhookMessage  # noqa: PLC0415 - after Django is set up

    now = clock.now()
    WebhookMessage.objects.bulk_create(
        WebhookMessage(
            id=uuid4(),
            endpoint_id=endpoint,
            type="webhook.test",
            occurred_at=now,
            due_at=now,
            created_at=now,
        )
        for _ in range(count)
    )


def _check_sent(wanted: int) -> None:
    from notifications.core.models import WebhookMessage  # noqa: PLC0415 - after Django is set up

    sent = WebhookMessage.objects.filter(state="sent").count()
    if sent != wanted:
        msg = f"{sent} of {wanted} messages were sent"
        raise RuntimeError(msg)


@contextmanager
def _silent_server() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.create_server((LOOPBACK, 0), backlog=128) as server:
        yield f"http://{LOOPBACK}:{server.getsockname()[1]}"
