"""A producer's service: it posts bodies that were made beforehand, on connections that stay open.

Encoding is not part of what is measured; waiting for each answer is, because a producer that does
not wait does not know what was accepted.
"""

from __future__ import annotations

import datetime as dt
import http.client
import itertools
import json
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, local
from typing import Any, Final

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifyproj.devstack.ports import LOOPBACK
from tests.benchmarks.stage import PEOPLE, TEMPLATE, TYPE, Stage

BATCH: Final = 1_000
"""The most that one call may hold."""
CALLERS: Final = 2
"""Connections that post batches at once: while one waits for the commit the other is parsed."""
_POLL_SECONDS: Final = 0.05
_DRAIN_SECONDS: Final = 90.0
_ANY_UNSENT: Final = """
    SELECT 1 FROM unnest(%s::smallint[]) AS s(status)
    CROSS JOIN LATERAL (
        SELECT FROM delivery d
        WHERE d.status = s.status AND d.due_at IS NOT NULL AND d.id >= %s AND d.id < %s
        ORDER BY d.mode DESC, d.priority DESC, d.channel DESC, d.due_at DESC
        LIMIT 1
    ) d
    LIMIT 1
"""
"""From the due index's end, where the living are: a poll must cost nothing, and at its beginning
lie the entries of all that has left."""
_UNSENT: Final = [Status.SCHEDULED, Status.QUEUED, Status.SENDING, Status.RETRYING, Status.UNKNOWN]
_pause: Final = Event()
_runs: Final = itertools.count(secrets.randbits(48))


def next_run() -> int:
    """Return a number for the keys of a run that no run had before."""
    return next(_runs)


class Refused(Exception):
    """The service refused a request; the message has the answer."""


class Undelivered(Exception):
    """A delivery was not sent, or not exactly once; the message has the counts."""


def item(number: int, *, priority: str, run: int, channel: str = "email") -> dict[str, Any]:
    """A notification with a key and variables that no other has."""
    return {
        "user_id": f"user-{number % PEOPLE}",
        "type": TYPE,
        "priority": priority,
        "template_id": TEMPLATE,
        "variables": {"name": f"Ada {number}", "order_id": f"ORD-{number}", "items": ["a", "b"]},
        "channels": [channel],
        "idempotency_key": f"{run}-{number}",
    }


def singles(count: int, *, priority: str, channel: str = "email") -> list[bytes]:
    """Bodies of single notifications that were never posted before."""
    run = next_run()
    items = (item(n, priority=priority, run=run, channel=channel) for n in range(count))
    return [json.dumps(each).encode() for each in items]


def batches(count: int, *, priority: str, channel: str = "email") -> list[bytes]:
    """Bodies of full batches that were never posted before; `count` is a multiple of BATCH."""
    run = next_run()
    return [
        json.dumps({
            "notifications": [
                item(number, priority=priority, run=run, channel=channel)
                for number in range(start, start + BATCH)
            ]
        }).encode()
        for start in range(0, count, BATCH)
    ]


def post_batches(stage: Stage, bodies: Sequence[bytes], *, callers: int = CALLERS) -> None:
    """Post batches over `callers` connections; returns when all of them are accepted.

    Raises:
        Refused: an item was not accepted.
    """

    def check(answer: bytes) -> None:
        accepted = answer.count(b'"result":"accepted"')
        if accepted != BATCH:
            raise Refused(f"{accepted} of {BATCH} were accepted: {answer[:300]!r}")

    post(stage, "/v1/notifications/batch", bodies, callers=callers, check=check)


def post(
    stage: Stage,
    path: str,
    bodies: Sequence[bytes],
    *,
    callers: int,
    check: Callable[[bytes], object],
) -> list[float]:
    """Post bodies, `callers` at a time; returns the seconds of each request.

    Raises:
        Refused: an answer was no 202, or `check` does not like it.
    """
    mine = local()
    headers = _headers(stage)

    def one(body: bytes) -> float:
        if not hasattr(mine, "link"):
            mine.link = connection(stage)
        began = time.perf_counter()
        mine.link.request("POST", path, body, headers)
        reply = mine.link.getresponse()
        answer = reply.read()
        spent = time.perf_counter() - began
        if reply.status != http.client.ACCEPTED:
            raise Refused(f"{reply.status}: {answer[:300]!r}")
        check(answer)
        return spent

    with ThreadPoolExecutor(callers) as pool:
        return list(pool.map(one, bodies))


def post_singles(stage: Stage, bodies: Sequence[bytes], *, callers: int) -> list[float]:
    """Post single notifications, `callers` at a time; returns the seconds of each request.

    Raises:
        Refused: one was not accepted.
    """
    return post(stage, "/v1/notifications", bodies, callers=callers, check=lambda _answer: None)


def post_one(stage: Stage, link: http.client.HTTPConnection, body: bytes) -> str:
    """Post a single notification on a connection of the caller's; returns its delivery's id.

    Raises:
        Refused: it was not accepted.
    """
    link.request("POST", "/v1/notifications", body, _headers(stage))
    reply = link.getresponse()
    answer = reply.read()
    if reply.status != http.client.ACCEPTED:
        raise Refused(f"{reply.status}: {answer[:300]!r}")
    delivery_id: str = json.loads(answer)["deliveries"][0]["delivery_id"]
    return delivery_id


def connection(stage: Stage) -> http.client.HTTPConnection:
    """A connection to the API."""
    return http.client.HTTPConnection(LOOPBACK, stage.ports.web, timeout=30)


def wait_until_sent(stage: Stage, count: int, *, within: float = _DRAIN_SECONDS) -> None:
    """Return as soon as all deliveries are sent, within so many seconds; each must have one call.

    Raises:
        Undelivered: not in time, or not exactly once.
    """
    deadline = time.monotonic() + within
    with stage.database() as link:
        link.execute("SET enable_seqscan = off; SET enable_sort = off")
        date = clock.now().date()
        today, tomorrow = map(ids.floor_of, (date, date + dt.timedelta(days=1)))
        while link.execute(_ANY_UNSENT, [_UNSENT, today, tomorrow]).fetchone():
            _pause.wait(_POLL_SECONDS)
            if time.monotonic() > deadline:
                break
        [(sent, calls)] = link.execute(
            "SELECT (SELECT count(*) FROM delivery WHERE status = %s AND id >= %s),"
            " (SELECT count(*) FROM attempt)",
            [Status.SENT, today],
        ).fetchall()
    if (sent, calls) != (count, count):
        raise Undelivered(f"{sent} of {count} are sent, with {calls} calls")


def unsent(stage: Stage, *, priority: Priority) -> int:
    """Return the number of waiting deliveries of a priority."""
    with stage.database() as link:
        query = "SELECT count(*) FROM delivery WHERE priority = %s AND status = ANY(%s)"
        [(count,)] = link.execute(query, [priority, _UNSENT]).fetchall()
    return count


def answered_at(stage: Stage, delivery_ids: Sequence[str]) -> list[float]:
    """Wait until deliveries are sent; returns the Unix seconds of each answer of the provider.

    Raises:
        Undelivered: a delivery was not sent in time.
    """
    return [started + seconds for started, seconds in _calls(stage, delivery_ids)]


def called_at(stage: Stage, delivery_ids: Sequence[str]) -> list[float]:
    """Wait until deliveries are sent; returns the Unix seconds of the start of each call.

    Raises:
        Undelivered: a delivery was not sent in time.
    """
    return [started for started, _ in _calls(stage, delivery_ids)]


def _calls(stage: Stage, delivery_ids: Sequence[str]) -> list[tuple[float, float]]:
    """Return start (Unix seconds) and duration (seconds) of each call."""
    query = (
        "SELECT d.id::text, extract(epoch FROM d.call_started_at), a.latency_ms / 1000.0"
        " FROM delivery d JOIN attempt a ON a.delivery_id = d.id"
        " WHERE d.id = ANY(%s::uuid[]) AND d.status = %s"
    )
    deadline = time.monotonic() + _DRAIN_SECONDS
    with stage.database() as link:
        while True:
            rows = link.execute(query, [delivery_ids, Status.SENT]).fetchall()
            calls = {str(found): (float(start), float(took)) for found, start, took in rows}
            if len(calls) == len(delivery_ids):
                return [calls[each] for each in delivery_ids]
            if time.monotonic() > deadline:
                raise Undelivered(f"{len(calls)} of {len(delivery_ids)} are sent")
            _pause.wait(_POLL_SECONDS)


def _headers(stage: Stage) -> dict[str, str]:
    return {"Authorization": f"Bearer {stage.key}", "Content-Type": "application/json"}
