"""The world of the document's examples.

It has the demo's people, types and templates, and one object for each id that an example names.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from io import StringIO
from typing import Any, Final
from uuid import uuid4

from django.core.management import call_command

from notifications.core import clock
from notifications.core.api import examples as shape
from notifications.core.api.operations import of_all_operations
from notifications.core.management import demo_data
from notifications.core.models import (
    Alert,
    DeadLetter,
    ErasureJob,
    NotificationType,
    Recipient,
    ReplayJob,
    Suppression,
    Switch,
    Template,
    TemplateText,
)
from notifications.core.operations import replay, switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.recipient_lists import ListKind
from notifications.core.rules.suppression import Cause
from notifications.core.rules.switches import SwitchKind
from notifications.core.rules.templates import contents
from notifications.core.store.postgres import alerts, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from notifications.core.store.templates import versions
from notifications.features.audiences import uploads
from notifications.features.cancel_jobs import jobs as cancel_jobs
from notifications.features.cancel_jobs.jobs import CancelFilter
from providers.contract import Channel
from tests.api.conftest import Caller
from tests.features.inbox import inboxes

World = Mapping[object, object]
"""An id as an example writes it -> the id of the object that was made for it."""
DRAFTED: Final = "rental_reminder"
_CURSOR: Final = 4711


def furnish(caller: Caller) -> World:
    """Create the rows that the examples name; return the ids that replace those of the examples."""
    for name, (priority, category) in demo_data.TYPES.items():
        NotificationType.objects.create(name=name, priority=priority, category=category)
    _templates()
    _draft()
    contacts = _people(caller)
    return {
        **dict(zip((51, 52), contacts, strict=False)),
        **_hooks(caller),
        **_messages(caller),
        **_sent(caller),
        **_suppressed(caller),
        **_letters(caller),
        **_jobs(),
        91: _alert(),
        **_switches(),
        **_cancel_jobs(caller),
        **_bulk_jobs(caller),
        **_audiences(caller),
        shape.CLIENT_TOKEN: _client_token(caller),
        _CURSOR: _CURSOR,
    }


def _audiences(caller: Caller) -> dict[object, object]:
    for name, kind in (("plan", "text"), ("interests", "list")):
        caller.send("PUT", f"/v1/attributes/{name}", {"kind": kind})
    for topic in ("artist-17", "news"):
        caller.send("PUT", f"/v1/topics/{topic}/subscribers/{shape.USER}")
    everyone = {"everyone": True}
    saved = [
        _made(caller, "/v1/audiences", {"name": name, "audience": everyone})["id"]
        for name in ("Customers", "Others")
    ]
    lists = [
        uploads.begin(mode=caller.mode, kind=kind, name=kind.value, by="test").pk
        for kind in (ListKind.UPLOAD, ListKind.SNAPSHOT) * 2
    ]
    return {
        171: saved[0],
        172: lists[0],
        173: lists[1],
        174: saved[1],
        175: lists[2],
        176: lists[3],
    }


_IMPORTED: Final[list[Template]] = []
_IMPORTED_TEXTS: Final[list[TemplateText]] = []


def _templates() -> None:
    """Store the demo's templates: by an import, then by the rows of that import.

    The import compiles each text in each language, which takes longer than a test.
    """
    if not _IMPORTED:
        call_command("import_templates", "--publish", stdout=StringIO())
        _IMPORTED.extend(Template.objects.all())
        _IMPORTED_TEXTS.extend(TemplateText.objects.all())
        return
    for each in _IMPORTED:
        each.published_at = clock.now()
    Template.objects.bulk_create(_IMPORTED)
    TemplateText.objects.bulk_create(_IMPORTED_TEXTS)


def _draft() -> None:
    for body in ("Bring it back", "Please bring it back", "Please bring it back today"):
        words = contents.words(Channel.PUSH, "en", title="Rental", body=body)
        drafted = versions.draft(DRAFTED, contents.content([words]), by="test")
        if not body.endswith("today"):
            versions.publish(drafted, by="test")


def _people(caller: Caller) -> list[object]:
    for person in demo_data.PEOPLE:
        told = caller.send(
            "PUT",
            f"/v1/recipients/{person.user_id}",
            {
                "locale": person.locale,
                "timezone": person.timezone,
                "contacts": [
                    {"channel": channel.label, "kind": kind, "address": address}
                    for channel, kind, address in person.contacts
                ],
            },
        )
        assert told.status_code == 201, told.content
    answer = caller.get(f"/v1/recipients/{shape.USER}").json()
    return [contact["id"] for contact in answer["contacts"]]


def _hooks(caller: Caller) -> dict[object, object]:
    path = f"/v1/recipients/{shape.USER}/contacts"
    made = [
        _made(caller, path, {"channel": "webhook", "address": f"https://hooks.example/{number}"})
        for number in (53, 54)
    ]
    _made(caller, f"{path}/{made[1]['id']}/signing-secrets/rotate", {})
    endpoint = _made(caller, "/v1/webhook-endpoints", {"url": "https://hooks.example.com/in"})
    return {53: made[0]["id"], 54: made[1]["id"], 65: endpoint["id"]}


def _messages(caller: Caller) -> dict[object, object]:
    person = Recipient.objects.get(mode=caller.mode, user_id=shape.USER)
    made = inboxes.add_messages(person.pk, 2)
    soon = (clock.now() + dt.timedelta(days=1)).isoformat()
    return {
        shape.MESSAGE: str(made[0]),
        shape.ANOTHER_MESSAGE: str(made[1]),
        shape.SOON: soon,
    }


def _sent(caller: Caller) -> dict[object, object]:
    body = {"user_id": shape.USER, "type": "ORDER_SHIPPED", "content": {"body": "Hello"}}
    sent = _made(caller, "/v1/notifications", body)
    later = _made(caller, "/v1/notifications", body | {"send_at_local": "09:00"})
    schedule = {"name": "first", "rrule": "FREQ=DAILY", "notification": body}
    return {
        shape.NOTIFICATION: sent["notification_id"],
        shape.SCHEDULED: later["notification_id"],
        shape.DELIVERY: sent["deliveries"][0]["delivery_id"],
        17: _made(caller, "/v1/schedules", schedule)["id"],
        57: _series(caller),
    }


def _series(caller: Caller) -> int:
    """Make a published series with a draft; returns the id of an enrolment."""
    steps = {"steps": [{"step": "wait", "days": 1}]}
    _made(caller, "/v1/series", {"name": shape.SERIES, "definition": steps})
    caller.post(f"/v1/series/{shape.SERIES}/publish", {})
    caller.send("PUT", f"/v1/series/{shape.SERIES}", {"definition": steps})
    people = {"enrolments": [{"user_id": shape.USER}]}
    answer = caller.post(f"/v1/series/{shape.SERIES}/enrolments", people)
    made: int = answer.json()["results"][0]["enrolment_id"]
    return made


def _made(caller: Caller, path: str, body: object) -> dict[str, Any]:
    answer = caller.post(path, body)
    assert answer.status_code in {201, 202}, answer.content
    told: dict[str, Any] = answer.json()
    return told


def _suppressed(caller: Caller) -> dict[object, object]:
    actor = f"producer {caller.producer.name} ({caller.key.prefix})"
    for address in ("gone@example.com", "back@example.com"):
        entry = SuppressionEntry(channel=Channel.EMAIL, address=address, cause=Cause.MANUAL)
        suppressions.add([entry], by=actor)
    undone = Suppression.objects.filter(address="back@example.com")
    suppressions.undo(undone, by=actor, note="")
    return {61: Suppression.objects.get(address="gone@example.com").pk, 62: undone.get().pk}


def _letters(caller: Caller) -> dict[object, object]:
    made = [
        DeadLetter.objects.create(
            delivery_id=uuid4(),
            mode=Mode.LIVE,
            priority=Priority.P2,
            channel=Channel.EMAIL,
            producer_id=caller.producer.pk,
            recipient_id=1,
            reason="permanent",
            snapshot={},
            created_at=clock.now(),
        )
        for _ in range(2)
    ]
    replay.discard([made[1].pk], by="test")
    return {71: made[0].pk, 72: made[1].pk}


def _jobs() -> dict[object, object]:
    by, ends = "test", {31: None, 32: clock.now()}
    erasures: dict[object, object] = {
        name: ErasureJob.objects.create(
            mode=Mode.LIVE, recipient_id=name, requested_by=by, finished_at=end
        ).pk
        for name, end in ends.items()
    }
    replays: dict[object, object] = {
        name + 50: ReplayJob.objects.create(mode=Mode.LIVE, requested_by=by, finished_at=end).pk
        for name, end in ends.items()
    }
    return erasures | replays


def _client_token(caller: Caller) -> object:
    return _made(caller, f"/v1/recipients/{shape.USER}/client-tokens", {})["token"]


def _cancel_jobs(caller: Caller) -> dict[object, object]:
    wanted = CancelFilter(mode=caller.mode, producer_id=caller.producer.pk, type="FLASH_SALE")
    running, stopped = (cancel_jobs.start(wanted, requested_by="test", by="test") for _ in range(2))
    cancel_jobs.stop(stopped)
    return {87: running.pk, 88: stopped.pk}


def _bulk_jobs(caller: Caller) -> dict[object, object]:
    body = of_all_operations()["create_bulk_job"]["minimal"].body
    return {shape.BULK_JOB: _made(caller, "/v1/bulk-jobs", body)["id"]}


def _switches() -> dict[object, object]:
    target = SwitchTarget(kind=SwitchKind.TYPE, value="FLASH_SALE")
    made = [
        switches.set_switch(target, reason="for the test", expires_at=None, by="test").pk
        for _ in range(2)
    ]
    switches.resume(Switch.objects.filter(pk=made[1]), by="test")
    return {85: made[0], 86: made[1]}


def _alert() -> object:
    alerts.raise_once(AlertKind.BEAT_DEAD, "", "for the test")
    return Alert.objects.get().pk
