"""What makes this process useless for a while is a 503 with Retry-After, never a 500."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import OperationalError, connection
from django.test import Client

from notifications.core import clock
from notifications.core.models import Notification, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import host_clock
from tests.api.conftest import Caller
from tests.standbys import standby_gone


def _request() -> dict[str, object]:
    """Create a recipient; return a request to that recipient."""
    person = Recipient.objects.create(mode=Mode.LIVE, user_id="maria")
    return {
        "user_id": person.user_id,
        "type": "LIKE",
        "priority": "P2",
        "content": {"body": "hi"},
        "channels": ["email"],
    }


@pytest.mark.django_db(transaction=True)
def test_a_database_that_takes_no_writes_is_away_and_nobodys_mistake(caller: Caller) -> None:
    body = _request()
    paths = {"/v1/notifications": body, "/v1/notifications/batch": {"notifications": [body]}}
    for path, asked in paths.items():
        with connection.cursor() as running:
            running.execute("SET default_transaction_read_only = on")
        answer = caller.post(path, asked)
        assert (answer.status_code, answer.json()["status"]) == (503, 503)
        assert int(answer["Retry-After"]) > 0
        # The session has ended: the next one may find a server that does.
        assert caller.post(path, asked).status_code == 202


@pytest.mark.django_db(transaction=True)
def test_a_page_without_a_database_is_unavailable_for_browsers_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "cursor", fail)
    browser = Client(raise_request_exception=False)
    browser.cookies["sessionid"] = "somebody"
    for accept, kind in (("text/html", "text/html"), ("*/*", "application/problem+json")):
        answer = browser.get("/admin/", headers={"Accept": accept})
        assert answer.status_code == 503
        assert answer["Content-Type"].startswith(kind)
        assert int(answer["Retry-After"]) > 0


def test_a_host_whose_clock_is_wrong_refuses_and_says_so(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = clock.host
    try:
        clock.watch(limit=dt.timedelta(seconds=2))
        host_clock.compare()
        monkeypatch.setattr(clock, "host", lambda: true() + dt.timedelta(hours=2))
        refused = caller.get("/v1/notifications")
        ready = Client().get("/readyz")
        assert Client().get("/healthz").status_code == 200
        assert Client().get("/startupz").status_code == 200
        monkeypatch.setattr(clock, "host", true)
        assert caller.get("/v1/notifications").status_code == 200
    finally:
        clock.forget()
    assert refused.status_code == 503
    assert int(refused["Retry-After"]) > 0
    assert "7200.0 s ahead" in refused.json()["detail"]
    assert ready.status_code == 503
    assert host_clock.host_name() in ready.json()["clock"]


@pytest.mark.parametrize("path", ["/v1/notifications", "/readyz"])
def test_a_jump_of_the_clocks_of_host_and_database_refuses_nothing(
    caller: Caller, path: str
) -> None:
    try:
        clock.watch(limit=dt.timedelta(seconds=2))
        clock.compare(clock.host() - dt.timedelta(seconds=39), at=clock.steady())
        assert not clock.is_trusted()
        assert caller.get(path).status_code == 200
        assert clock.is_trusted()
    finally:
        clock.forget()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/v1/notifications", "/v1/notifications/batch"])
def test_a_commit_that_no_standby_confirmed_is_no_202(caller: Caller, path: str) -> None:
    one = _request()
    body = {"notifications": [one]} if path.endswith("batch") else one
    for _ in range(2):  # a new key, and a repeat that would only read the first answer
        with standby_gone():
            answer = caller.post(path, body, Idempotency_Key="order-1")
        assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
        assert "on a standby" in answer.json()["detail"]
        assert int(answer["Retry-After"]) > 0
    repeat = caller.post(path, body, Idempotency_Key="order-1")
    assert (repeat.status_code // 100, repeat["Idempotent-Replayed"]) == (2, "true")
    assert Notification.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_session_that_ends_during_the_commit_does_not_say_that_nothing_was_stored(
    caller: Caller,
) -> None:
    body = _request()
    with standby_gone("terminate"):
        answer = caller.post("/v1/notifications", body, Idempotency_Key="order-1")
    connection.close()
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert Notification.objects.count() == 1
    page = Client().get("/problems/unavailable", headers={"Accept": "text/html"})
    for text in (answer.content.decode(), page.content.decode()):
        assert "othing was stored" not in text
