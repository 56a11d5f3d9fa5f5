"""Requests through the WSGI application with and without the short path, and what both leave.

A run begins with the same rows, and is seen whole: answers, log lines, charges, metrics, stored
rows. Ids are replaced by numbers in the order of their appearance; the clock stands still.
"""

from __future__ import annotations

import difflib
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import orjson
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, connections

from notifications.core import clock
from notifications.core.api import short_path
from notifications.core.api.request_slots import Slots
from notifications.core.api.short_path import ShortPath
from notifications.core.models import Contact, Recipient, Rejected
from notifications.core.rules import accepted_answer
from notifications.core.store.postgres import api_keys
from notifications.core.store.rate_limits import producer_limits
from notifications.core.store.rate_limits.producer_limits import Charge, Quota
from notifications.core.store.redis import state
from notifications.core.telemetry import instruments
from tests import captured_lines, replies

SECONDS: Final = 60
PATH: Final = "/v1/notifications"
_TABLES: Final = {
    "event": ["seq", "xid"],
    "delivery": [],
    "notification": ["secrets"],
    "idempotency_key": [],
    "ordered_delivery": ["id", "key_id"],
    "ordering_key": ["id", "look_at", "used_at"],
    Rejected._meta.db_table: ["id", "at"],
}
"""Table -> columns with random values, and numbers and times of the database."""
_IDS: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"
)
_SPAN: Final = re.compile(r"-[0-9a-f]{16}-0")
_LIMIT: Final = re.compile(r'"producer";r=(\d+);t=(\d+)')
_CSRF: Final = re.compile(r"csrftoken=\w+; expires=[^;]+")

Request = Mapping[str, Any]
"""A WSGI environ; `wsgi.input` is bytes."""


class TwoPaths:
    """The application with and without the short path."""

    def __init__(self, logs: Path) -> None:
        django: Any = WSGIHandler()
        self._logs = logs
        self._runs = 0
        self.short_answers = 0
        self._direct = Slots(django, slots=1, threads=8)
        self._short = Slots(django, slots=1, threads=8, short_path=ShortPath())
        self._thread = ThreadPoolExecutor(1)

    def close(self) -> None:
        """End the thread and close the connections."""
        self._thread.shutdown()
        self._direct.close()
        self._short.close()

    def compare(
        self, requests: Sequence[Request], *, before: Callable[[], object] = lambda: None
    ) -> list[int]:
        """Compare both paths for a sequence of requests; return the statuses.

        Args:
            requests: sent one after another.
            before: called before each of the two runs, after the rows are deleted.
        """
        with ExitStack() as frozen:
            now, monotonic = clock.now(), clock.monotonic()
            frozen.enter_context(patch.object(clock, "now", lambda: now))
            frozen.enter_context(patch.object(clock, "monotonic", lambda: monotonic))
            direct = self._run(self._direct, requests, before)
            with patch.object(
                short_path._Asked, "_answer", self._counted(short_path._Asked._answer)
            ):
                short = self._run(self._short, requests, before)
        for name, seen in direct.items():
            if short[name] != seen:
                pytest.fail(f"{name}: {_difference(seen, short[name])}")
        return [status for status, *_ in direct["answers"]]

    def _counted(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:  # noqa: ANN401 - the product's own
            made = answer(*arguments)
            self.short_answers += made is not None
            return made

        return counted

    def _run(
        self, application: Slots, requests: Sequence[Request], before: Callable[[], object]
    ) -> dict[str, Any]:
        _delete_rows()
        before()
        charges: list[Charge] = []
        take = producer_limits.take

        def taken(asked: Sequence[Charge]) -> list[Quota]:
            charges.extend(asked)
            return take(asked)

        counts = _counts()
        self._runs += 1
        log = self._logs / str(self._runs)
        with captured_lines.into(log) as lines, patch.object(producer_limits, "take", taken):
            answers = [
                self._thread.submit(send, application, each).result(SECONDS) for each in requests
            ]
            own = self._thread.submit(connections.all, initialized_only=True).result(SECONDS)
            assert not own, "the thread of a request opened a session beside the slots"
            told = lines()
        log.unlink()
        names = _Names()
        return {
            "answers": [
                (status, sorted(map(names.of, headers)), names.of(body))
                for status, headers, body in answers
            ],
            "lines": [names.of(_without_times(line)) for line in told.splitlines()],
            "charges": [each for each in charges if each.cost],
            "metrics": {name: count - counts.get(name, 0) for name, count in _counts().items()},
            **{table: sorted(map(names.of, _rows(table))) for table in _TABLES},
        }


class _Names:
    """Replaces ids by numbers, in the order of their appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def of(self, seen: object) -> str:
        text = _IDS.sub(self._number, seen if isinstance(seen, str) else repr(seen))
        return _CSRF.sub("csrftoken", _LIMIT.sub('"producer"', _SPAN.sub("-SPAN-0", text)))

    def _number(self, found: re.Match[str]) -> str:
        return self._numbers.setdefault(found[0], f"<{len(self._numbers)}>")


def _difference(seen: Iterable[object], short: Iterable[object]) -> str:
    lines = difflib.ndiff([*map(str, seen)], [*map(str, short)])
    return "\n".join(each for each in lines if not each.startswith(" "))


def send(application: Slots, request: Request) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return status, headers and body of the answer."""
    told = replies.Told()
    told.ask(application, {**request, "wsgi.input": io.BytesIO(request["wsgi.input"])})
    return told.response(SECONDS)


def request(secret: str, body: object, **environ: str | None) -> dict[str, Any]:
    """Return the environ of a usual request, as the server makes it."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    head = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": PATH,
        "SCRIPT_NAME": "",
        "QUERY_STRING": "",
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "192.0.2.1",
        "HTTP_HOST": "testserver",
        "HTTP_AUTHORIZATION": f"Bearer {secret}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(raw)),
        "wsgi.url_scheme": "http",
        "wsgi.input": raw,
    }
    return {name: value for name, value in {**head, **environ}.items() if value is not None}


def _delete_rows() -> None:
    with connection.cursor() as running:
        for table in _TABLES:
            running.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        Recipient.objects.filter(user_id__startswith="to_").delete()
        for each in (Recipient, Contact):  # a recipient who is registered again has the same id
            table = each._meta.db_table
            running.execute(
                f"SELECT setval(pg_get_serial_sequence(%s, 'id'), max(id)) FROM {table}",  # noqa: S608 - our own names
                [table],
            )
    state.client().flushdb()
    producer_limits.forget()
    api_keys.forget()


def _rows(table: str) -> list[str]:
    with connection.cursor() as running:
        running.execute(f"SELECT to_jsonb(t) - %s::text[] FROM {table} t", [_TABLES[table]])  # noqa: S608 - our own names
        return [json.dumps(_unpacked(json.loads(row)), sort_keys=True) for (row,) in running]


def _unpacked(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the packed response as text, so that the ids in it can be replaced."""
    if packed := row.get("packed_response"):
        answer = accepted_answer.unpack(bytes.fromhex(packed.removeprefix("\\x")))
        return row | {"packed_response": accepted_answer.as_json(answer)}
    return row


def _counts() -> dict[str, float]:
    return {
        f"{each.name}{sorted(each.labels.items())}": each.value
        for metric in instruments.REGISTRY.collect()
        for each in metric.samples
        if each.name.endswith(("_count", "_total"))
    }


def _without_times(line: str) -> str:
    fields = json.loads(line)
    fields.pop("timestamp")
    return json.dumps(fields, sort_keys=True)
