"""Costs of a batch item, a single request, a delivery and an idle minute, as counts.

    batch item       one of 500 notifications of `POST /v1/notifications/batch`
    single request   one `POST /v1/notifications`, alone
    delivery         one of 500 P2 e-mails: relay, claim, gates, call, settle, roll-ups
    idle minute      each sweep at its interval, without work

The code runs in the calling thread, through the WSGI application and the bodies of the tasks. A
single request takes the short path (`api.short_path`), a batch goes through Django.
`counts.json` has the committed counts; `tests/features/test_cost_counts.py` holds them.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from uuid import uuid4

from django.core.handlers.wsgi import WSGIHandler
from django.db import DEFAULT_DB_ALIAS, connections
from django.test import Client

from notifications.core import clock, sweeps
from notifications.core.api.request_slots import Slots
from notifications.core.api.short_path import ShortPath
from notifications.core.delivery import deliver, in_flight, routing
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.rate_limits.concurrency import CEILING, Limit
from notifications.core.store.postgres import id_ranges, publish
from notifications.core.sweeps import relay
from providers.contract import Channel
from tests.benchmarks.counters import NAMES, Counters, counted, without_page_images
from tests.benchmarks.stage import PEOPLE, TEMPLATE, TYPE
from tests.replies import Told

COMMITTED: Final = Path(__file__).with_name("counts.json")
ITEMS: Final = 500
_SINGLES: Final = 50
_IDLE_RUNS: Final = 3
_MINUTE: Final = dt.timedelta(minutes=1)
_LANE: Final = Lane.of(Mode.LIVE, Priority.P2, Channel.EMAIL)
_PYTHON: Final = platform.python_version().rpartition(".")[0]
_TOLERANCES: Final[Mapping[str, float]] = {
    **dict.fromkeys(NAMES, 0.01),
    "statements": 0.05,
    "state_commands": 0.05,
    "wal_bytes": 0.15,  # a split of an index page more or less
    "python_calls": 0.08,  # a busy machine has more and smaller groups of answers
}
"""Share of a count by which two runs may differ: a cache ends in an idle sweep, an index page is
split, and answers arrive in groups of different sizes."""
_ONE_MORE: Final = 1.01 / ITEMS
"""Difference that no count must keep: a background thread sends one command more or less."""
_ONE_SETTLE: Final = 6 / ITEMS
"""Statements of a group of answers: on a busy machine the answers make one group more or less."""

Costs = dict[str, dict[str, float]]
"""Subject, name of the count, count."""


class NotMeasured(Exception):
    """The measured code did something else than the benchmark expects; the message says what."""


def measure(key: str) -> Costs:
    """Measure all subjects twice, and return the second counts: caches are filled then.

    The clock of the caches stands still from the first to the second count of a batch, a delivery
    and a single request. Otherwise the counts would depend on the thread that reads a table again.

    Args:
        key: an API key of the producer of `seed.rows`; e-mails go to a provider that accepts.

    Raises:
        NotMeasured: a request was refused, or a delivery was not called for.
    """
    client = Client(headers={"Authorization": f"Bearer {key}"}, SERVER_NAME="127.0.0.1")
    poster = _Poster(key)
    with without_page_images():
        with _caches_that_last(clock.monotonic()):
            _work(client, poster)
            costs = _work(client, poster)
        _idle_minute()
        return {**costs, "idle minute": _idle_minute()}


def _work(client: Client, poster: _Poster) -> Costs:
    """Return the counts of a batch, a delivery and a single request, and deliver the requests."""
    costs = {
        "batch item": _batch(client).per(ITEMS),
        "delivery": _deliveries().per(ITEMS),
        "single request": _singles(poster).per(_SINGLES),
    }
    _deliveries(expected=_SINGLES)
    return costs


@contextmanager
def _caches_that_last(now: float) -> Iterator[None]:
    """Stop the clock of the caches: on a busy machine a second has fewer requests."""
    with patch.object(clock, "monotonic", lambda: now):
        yield


def committed() -> Costs:
    """Return the committed counts."""
    found: Costs = json.loads(COMMITTED.read_text())["costs"]
    return found


def commit(costs: Costs) -> None:
    """Write the counts into the file of the committed counts."""
    content = {"python": _PYTHON, "costs": costs}
    COMMITTED.write_text(json.dumps(content, indent=2) + "\n")


def differences(costs: Costs) -> list[str]:
    """Return a sentence for each count outside the tolerance of its committed count."""
    same_python = json.loads(COMMITTED.read_text())["python"] == _PYTHON
    tolerances = _TOLERANCES if same_python else {**_TOLERANCES, "python_calls": 0.15}
    return [
        f"{subject}: {name} is {costs[subject][name]:g}, the committed count is {known:g}"
        for subject, values in committed().items()
        for name, known in values.items()
        if abs(costs[subject][name] - known)
        > tolerances[name] * known + (_ONE_SETTLE if name == "statements" else _ONE_MORE)
    ]


def as_text(costs: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a line for each subject, with the counts."""
    return [
        f"{subject}: " + ", ".join(f"{name} {value:g}" for name, value in values.items())
        for subject, values in costs.items()
    ]


def _batch(client: Client) -> Counters:
    body = json.dumps({"notifications": _items(ITEMS)})
    with counted() as counts:
        reply = client.post("/v1/notifications/batch", body, content_type="application/json")
    _check(f"{reply.status_code}", reply.content)
    return counts


def _singles(poster: _Poster) -> Counters:
    bodies = [json.dumps(each).encode() for each in _items(_SINGLES)]
    with counted() as counts:
        replies = [poster.post(each) for each in bodies]
    for reply in replies:
        _check(*reply)
    return counts


class _Poster:
    """Posts notifications to the WSGI application, with the connection of the calling thread."""

    def __init__(self, key: str) -> None:
        self._connection = connections[DEFAULT_DB_ALIAS]
        handler: Any = WSGIHandler()
        with patch.object(connections, "create_connection", lambda _alias: self._connection):
            self._application = Slots(handler, slots=1, threads=8, short_path=ShortPath())
        self._head = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/v1/notifications",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "CONTENT_TYPE": "application/json",
            "HTTP_AUTHORIZATION": f"Bearer {key}",
            "wsgi.url_scheme": "http",
        }

    def post(self, body: bytes) -> tuple[str, bytes]:
        """Return the status and the body of the answer."""
        told = Told()
        environ = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
        told.ask(self._application, self._head | environ)
        connections[DEFAULT_DB_ALIAS] = self._connection  # the slot has been given back
        status, _headers, answer = told.response(seconds=0)
        return str(status), answer


def _items(count: int) -> list[dict[str, Any]]:
    run = uuid4().hex
    return [
        {
            "user_id": f"user-{number % PEOPLE}",
            "type": TYPE,
            "priority": "P2",
            "template_id": TEMPLATE,
            "variables": {"name": f"Ada {number}", "order_id": f"ORD-{number}", "items": ["a"]},
            "channels": ["email"],
            "idempotency_key": f"{run}-{number}",
        }
        for number in range(count)
    ]


def _check(status: str, content: bytes) -> None:
    if not status.startswith("202") or b'"result":"rejected"' in content:
        raise NotMeasured(f"{status}: {content[:300]!r}")


def _deliveries(*, expected: int = ITEMS) -> Counters:
    """Publish, deliver and roll up the P2 e-mails that wait."""
    recent, *_ = id_ranges.current()
    _permit_whole_messages()
    with counted() as counts:
        due, messages = relay.lane_messages(_LANE, [recent], expected)
        publish.publish_lane_messages(_LANE, messages)
        for _, rows in messages:
            deliver.deliver_due(_LANE, recent, rows=rows)
        sweeps.run("rollups", every=dt.timedelta(0))
    if due != expected:
        raise NotMeasured(f"{due} of {expected} deliveries were due")
    return counts


def _permit_whole_messages() -> None:
    """Let each message be one wave: the adaptive limit depends on the speed of the machine."""
    in_flight.forget()
    provider = routing.provider_named("sandbox")
    if provider is None:
        raise NotMeasured("the provider of e-mails is not the sandbox")
    limit = Limit(ceiling=CEILING, start=CEILING)
    with patch.object(in_flight, "Limit", lambda **_: limit):
        in_flight.release(provider, 0, ())


def _idle_minute() -> dict[str, float]:
    """Return the counts of beat's looks, and of each sweep times the runs of a minute.

    A sweep with a condition runs at its longest interval. The counts of a sweep are the least of
    three runs.

    A run that happens to have work, such as a statistic that is due once in some minutes, costs
    more.
    """
    total = _count_looks()
    for name, sweep in sweeps.SWEEPS.items():
        runs = [_count_sweep(name) for _ in range(_IDLE_RUNS)]
        every = sweeps.slowest(sweep.every) if sweep.work else sweep.every
        for each in NAMES:
            total.add(each, min(run.values[each] for run in runs) * (_MINUTE / every))
    return total.per(1)


def _count_looks() -> Counters:
    """Return the counts of the looks of a minute: each second for the sweeps that are due then."""
    waiting = {name: sweep for name, sweep in sweeps.SWEEPS.items() if sweep.work}
    intervals = {name: int(sweep.every.total_seconds()) for name, sweep in waiting.items()}
    id_ranges.current()  # as with the sweeps: the look at older days, each 15 s, is not counted
    with counted() as counts:
        for second in range(1, 61):
            sweeps.with_work([name for name, every in intervals.items() if second % every == 0])
    return counts


def _count_sweep(name: str) -> Counters:
    with counted() as counts:
        sweeps.run(name, every=dt.timedelta(0))
    return counts
