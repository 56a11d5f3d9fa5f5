"""An erased person is in no table, no key of Redis, no log line and no file, but where it is said.

The person has values that nobody else has, and goes through each feature that stores something of a
person. After the erasure each column of each table, each key and value of both Redis databases, the
log output and each value of the files of the archive are read.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson
import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.models import ArchiveDay, ErasureJob, Schedule
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import erasure, secret_variables
from notifications.core.sweeps import housekeeping
from notifications.core.webhooks import body, endpoints
from notifications.features.archive import keys
from notifyproj.devstack.demo.environment import until
from providers.conformance import Act
from providers.contract import Channel
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from tests.api import conftest as callers
from tests.api.conftest import Caller
from tests.features import canaries, canary_story
from tests.features.canaries import USER
from tests.old_days import drop_day
from tests.providers.answering import AnsweringFake

pytestmark = pytest.mark.django_db(transaction=True)
Outbox = Callable[[UUID], list[Any]]
_ROOT: Final = Path(__file__).parents[2]
_LATER: Final = dt.timedelta(minutes=2)
_HOLDING: Final = {
    *("audience", "bulk_job", "custom_event", "django_admin_log", "idempotency_key", "inbox_item"),
    *("notification", "notifications_auditentry", "notifications_canceljob", "short_link"),
    *("notifications_contact", "notifications_deadletter", "notifications_recipient"),
    *("notifications_rejected", "notifications_schedule", "notifications_suppression"),
    *("ordering_key", "recipient_list", "recipient_list_member", "series_enrolment"),
    *("webhook_attempt", "webhook_message"),
}
"""Tables in which the story leaves a canary."""


@pytest.fixture
def folder(
    outbox: Outbox,  # noqa: ARG001 - its settings come first
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """The folder of the archive."""
    path = tmp_path / "archive"
    routes = {**conf.current().routes, Channel.IN_APP: "inbox"}
    changed = replace(conf.current(), archive_url=path.as_uri(), routes=routes)
    monkeypatch.setattr(conf, "current", lambda: changed)
    secret_variables.forget()
    keys.forget()
    routing.forget()
    yield path
    secret_variables.forget()
    keys.forget()


@pytest.fixture
def day() -> Iterator[dt.date]:
    """A day past retention."""
    made = clock.now().date() - conf.current().retention - dt.timedelta(days=2)
    yield made
    drop_day(made)


@pytest.fixture
def sender(outbox: Outbox) -> Iterator[Caller]:  # noqa: ARG001 - its settings come first
    """A producer with all scopes, in empty stores."""
    callers.forget()
    yield callers.new_caller()
    callers.forget()


@pytest.fixture
def status_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an endpoint that repeats the user id in each answer."""
    monkeypatch.setenv("NOTIFY_WEBHOOK_ALLOW_PRIVATE", "yes")
    monkeypatch.setenv("NOTIFY_WEBHOOK_SECRETS", "whsec_dGVzdHMtc2lnbi10aGVpci13ZWJob29rcw==")
    body.policy.cache_clear()
    endpoints.forget()
    fake = AnsweringFake(_user_of, key=lambda _got: "")
    with closing(fake):
        yield fake.url
    monkeypatch.undo()
    body.policy.cache_clear()
    endpoints.forget()


def _user_of(_act: Act, got: ServerRequest) -> ServerAnswer:
    user_id = orjson.loads(got.body)["data"].get("user_id", "")
    return ServerAnswer(status=200, body=f"took the status of {user_id}".encode())


def test_an_erased_person_is_nowhere_but_where_the_documents_say(
    sender: Caller,
    status_url: str,
    folder: Path,
    day: dt.date,
    log_output: Callable[[], str],
) -> None:
    canary_story.templates()
    canary_story.each_operation(sender)
    person = canary_story.register(sender)
    canary_story.send(sender, status_url)
    canary_story.run()
    canary_story.plan(sender)
    canary_story.answer_back(sender)
    canary_story.operate(User.objects.create_superuser("operator", password="a-long-password"))
    canary_story.archived_day(person, day)
    canary_story.run()
    assert ArchiveDay.objects.get(day=day).dropped_at
    assert _tables(canaries.in_postgres()) >= _HOLDING
    canary_story.ok(sender.send("DELETE", f"/v1/recipients/{USER}"))
    for _ in range(2):
        housekeeping.erase_recipients(now=clock.now() + _LATER, limit=100)
    assert ErasureJob.objects.latest("pk").receipt is not None
    canary_story.run(rounds=1)
    assert _tables(canaries.in_postgres()) == _documented()
    assert canaries.in_redis() == set()
    assert canaries.in_archive(folder) == set()
    assert [line for line in log_output().splitlines() if canaries.is_in(line)] == []


def _tables(columns: Iterable[str]) -> set[str]:
    return {column.partition(".")[0] for column in columns}


def _documented() -> set[str]:
    """Return the tables that keep something of the person, as docs/retention.md says."""
    text = (_ROOT / "docs/retention.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| kept", text, flags=re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_a_schedule_for_a_person_who_is_being_erased_is_refused(sender: Caller) -> None:
    canary_story.register(sender)
    request = {"user_id": USER, "type": "X", "priority": "P2", "content": {"body": "Hello"}}
    body = {"name": "daily", "rrule": "FREQ=DAILY", "notification": request}
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert erasure.begin(mode=Mode.LIVE, user_id=USER, requested_by="tests", by="tests")
            posting = pool.submit(_post_in_thread, sender, body)
            until(_waits_for_a_lock, what="the call waits for the erasure")
        refused = posting.result(60)
    assert refused["code"] == "unknown-recipient"
    assert not Schedule.objects.exists()


def _post_in_thread(sender: Caller, body: object) -> dict[str, Any]:
    try:
        told: dict[str, Any] = sender.post("/v1/schedules", body).json()
    finally:
        connection.close()
    return told


def _waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction sees one snapshot
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return bool(cursor.fetchone() != (0,))
