"""Each change over the API leaves a line in the audit log, which nobody can take out again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace

import orjson
import pytest
from django.apps import apps
from django.db import DatabaseError, IntegrityError, connection, transaction

from notifications.core import clock, conf
from notifications.core.models import AuditEntry, Contact, Recipient, RecipientList, Topic
from notifications.core.rules.access import AccessRule
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListState
from notifications.core.store.postgres import audit
from notifications.core.sweeps import housekeeping
from tests.api import operations
from tests.api.conftest import Caller, MakeCaller

SENDING = (
    "POST /v1/notifications",
    "PATCH /v1/notifications",
    "POST /v1/templates/{template_id}/preview",
    "POST /v1/bulk-jobs/dry-run",
    "POST /v1/recipients/{user_id}/client-tokens",
    "POST /v1/audiences/estimate",
    "POST /v1/attachments",
    "POST /v1/events",
    "POST /v1/series/{series_name}/enrolments",
    "POST /v1/inbox/",
    "DELETE /v1/inbox/",
)
"""Operations that the timeline of a notification, an inbox item or an enrolment records, those
that store a file for a notification, and operations that change nothing."""
CHANGING = [
    each
    for each in operations.WRITING
    if not each.operation.startswith(SENDING) or each.operation.endswith("/exit")
]
UNDECLARED = (
    "POST /v1/bulk-jobs",
    "PUT /v1/topics/{topic}/subscribers",
    "POST /v1/topics/{topic}/subscribers/delete",
    "PUT /v1/topics/{topic}/subscribers/{user_id}",
    "DELETE /v1/topics/{topic}/subscribers/{user_id}",
)
"""Operations that write their lines themselves, and not by the declaration of a resource."""
EMPTY = "TRUNCATE notifications_auditentry"


@pytest.mark.parametrize("rule", CHANGING, ids=lambda rule: rule.operation)
@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.label)
def test_each_operation_that_changes_something_is_in_the_log(
    make_caller: MakeCaller, rule: AccessRule, mode: Mode
) -> None:
    if mode not in rule.modes:
        return
    caller = make_caller(mode=mode)
    world = operations.furnish(caller)
    before = AuditEntry.objects.count()
    operations.call(caller, rule.operation, world)
    entries = list(AuditEntry.objects.order_by("pk")[before:])
    assert entries, rule.operation
    for entry in entries:
        assert entry.by == f"producer orders ({caller.key.prefix})"
        assert len(entry.request_id) == 32
        assert entry.before != entry.after


_REFUSE = """ALTER TABLE notifications_auditentry
ADD CONSTRAINT refused CHECK (by NOT LIKE 'producer orders%') NOT VALID"""


@pytest.fixture
def refuse_entries() -> Iterator[Callable[[], None]]:
    """Return a function that lets the log refuse the entries of the caller's changes."""
    with connection.cursor() as running:
        yield lambda: running.execute(_REFUSE)
        running.execute("ALTER TABLE notifications_auditentry DROP CONSTRAINT IF EXISTS refused")


def _rows() -> dict[str, list[str]]:
    """Return the rows of all tables of models, as text."""
    with connection.cursor() as running:
        tables = sorted(each._meta.db_table for each in apps.get_models() if each._meta.managed)
        found = {}
        for table in tables:
            running.execute(f"SELECT t::text FROM {table} t ORDER BY 1")  # noqa: S608 - our own names
            found[table] = [text for (text,) in running.fetchall()]
    return found


@pytest.mark.parametrize("operation", UNDECLARED)
@pytest.mark.django_db(transaction=True)
def test_a_change_without_its_line_is_not_stored(
    caller: Caller, operation: str, refuse_entries: Callable[[], None]
) -> None:
    world = operations.furnish(caller)
    refuse_entries()
    before = _rows()
    with pytest.raises(IntegrityError, match="refused"):
        operations.call(caller, operation, world)
    assert _rows() == before


@pytest.mark.django_db(transaction=True)
def test_an_upload_without_its_line_cannot_be_used(
    caller: Caller, refuse_entries: Callable[[], None]
) -> None:
    refuse_entries()
    with pytest.raises(IntegrityError, match="refused"):
        caller.send("POST", "/v1/audience-uploads", b"user_id\nmaria\n", media_type="text/csv")
    assert RecipientList.objects.get().state == ListState.LOADING


def test_a_new_topic_without_a_subscriber_has_a_line(caller: Caller) -> None:
    caller.send("PUT", "/v1/topics/fresh/subscribers", {"user_ids": ["nobody"]})
    assert audit.of_object(Topic.objects.get(name="fresh")).get().after["name"] == "fresh"


def test_a_refused_change_leaves_no_line(caller: Caller) -> None:
    world = operations.furnish(caller)
    before = AuditEntry.objects.count()
    path = f"/v1/recipients/{world['user_id']}"
    assert caller.send("PUT", path, {"locale": "nothing"}).status_code == 422
    assert caller.send("DELETE", f"{path}/contacts/999999").status_code == 404
    assert caller.send("PUT", path, {}).status_code == 200
    assert AuditEntry.objects.count() == before


def test_a_line_shows_no_address_and_no_message(caller: Caller, maria: Recipient) -> None:
    del maria
    address = {"channel": "email", "address": "maria.private@example.com", "primary": True}
    caller.post("/v1/recipients/maria/contacts", address)
    caller.post("/v1/suppressions", {"channel": "sms", "address": "+4915112345678", "note": "Eve"})
    caller.post(
        "/v1/schedules",
        {
            "name": "n",
            "rrule": "FREQ=DAILY",
            "notification": {
                **operations.SENT,
                "content": {"body": "a body to be hidden"},
                "user_id": "maria",
            },
        },
    )
    rows = [[each.before, each.after, each.object_name] for each in AuditEntry.objects.all()]
    shown = orjson.dumps(rows).decode()
    assert len(rows) > 3
    for hidden in ("private", "12345", "Eve", "to be hidden"):
        assert hidden not in shown
    contact = Contact.objects.get(address="maria.private@example.com")
    line = audit.of_object(contact).get()
    assert (line.operation, line.after["address"]) == ("add_contact", "ma…@…om")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE notifications_auditentry SET by = 'nobody'",
        "DELETE FROM notifications_auditentry",
        EMPTY,
    ],
)
def test_the_database_refuses_to_change_the_log(caller: Caller, statement: str) -> None:
    operations.call(caller, "PUT /v1/recipients/{user_id}", operations.furnish(caller))
    refused = pytest.raises(DatabaseError, match="append-only")
    with connection.cursor() as running, refused, transaction.atomic():
        running.execute(statement)
    assert AuditEntry.objects.exists()


def test_retention_takes_old_lines_and_no_young_ones(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations.call(caller, "PUT /v1/recipients/{user_id}", operations.furnish(caller))
    young = AuditEntry.objects.count()
    old = AuditEntry(by="x", operation="x", object_type="x", object_id="1")
    AuditEntry.objects.bulk_create([old])
    with connection.cursor() as running:  # a past row cannot be made by an update
        running.execute(
            "INSERT INTO notifications_auditentry"
            " (at, by, operation, object_type, object_id, object_name, before, after, request_id)"
            " VALUES (%s, 'x', 'x', 'x', '1', '', '{}', '{}', '')",
            [clock.now() - dt.timedelta(days=100)],
        )
    configured = replace(conf.current(), audit_kept=dt.timedelta(days=90))
    monkeypatch.setattr(conf, "current", lambda: configured)
    assert housekeeping.run_once(now=clock.now(), limit=100).moved == 1
    assert AuditEntry.objects.count() == young + 1
