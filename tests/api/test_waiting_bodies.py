"""Requests that wait for PostgreSQL take a bounded number of bytes."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Final, cast

import pytest
from django.core.handlers.wsgi import WSGIHandler

from notifications.core import clock
from notifications.core.api.request_slots import Slots
from notifications.core.api.short_path import Django, ShortPath
from notifications.core.api.waiting_bodies import SMALL, WaitingBodies
from notifications.core.intake import new_rows
from notifications.core.models import Notification
from notifications.core.store.postgres import api_keys
from notifications.core.telemetry import instruments
from tests.api.conftest import Caller
from tests.api.two_paths import SECONDS, request, send
from tests.replies import Told

_SMALL: Final = {"user_id": "ada", "type": "READY", "priority": "P2", "content": {"body": "Ready"}}
_LARGE: Final = {**_SMALL, "content": {"body": "Ready" * SMALL}}


@pytest.mark.django_db(transaction=True)
def test_a_large_body_above_the_limit_is_refused_at_once_and_a_small_one_waits(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.send("PUT", "/v1/recipients/ada", {"contacts": []})
    now = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: now)  # the key stays known
    api_keys.recognise(caller.secret)
    path = ShortPath(WaitingBodies(2 * len(json.dumps(_LARGE))))
    application = Slots(cast("Django", WSGIHandler()), slots=2, threads=64, short_path=path)
    large, small = (request(caller.secret, each) for each in (_LARGE, _SMALL))
    assert send(application, small)[0] == 202
    begins, goes_on, usual = Event(), Event(), new_rows._insert

    def insert(*arguments: Any, **options: Any) -> None:  # noqa: ANN401 - the product's own
        begins.set()
        assert goes_on.wait(SECONDS)
        usual(*arguments, **options)

    monkeypatch.setattr(new_rows, "_insert", insert)
    before = instruments.BODIES_REFUSED._value.get()
    with ThreadPoolExecutor(1) as leader:
        first = leader.submit(send, application, large)
        assert begins.wait(SECONDS)
        second, third, fourth = (_ask(application, each) for each in (large, large, small))
        assert not second.has_response
        assert not fourth.has_response
        status, headers, body = third.response(seconds=0)
        goes_on.set()
        assert first.result(SECONDS)[0] == 202
        assert second.response(SECONDS)[0] == fourth.response(SECONDS)[0] == 202
    assert (status, json.loads(body)["code"]) == (503, "unavailable")
    names = dict(headers)
    assert (names["Retry-After"], names["Content-Type"]) == ("1", "application/problem+json")
    assert names["Content-Length"] == str(len(body))
    assert json.loads(body)["instance"] == names["X-Request-Id"]
    assert "RateLimit" not in names
    assert instruments.BODIES_REFUSED._value.get() == before + 1
    assert send(application, large)[0] == 202  # nothing waits any more
    application.close()
    assert Notification.objects.count() == 5


def _ask(application: Slots, environ: dict[str, Any]) -> Told:
    told = Told()
    told.ask(application, {**environ, "wsgi.input": io.BytesIO(environ["wsgi.input"])})
    return told
