"""A successful request for each writing operation, and the rows for the requests.

`tests.api.test_access` fails while an operation that writes has no request here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID, uuid4

from notifications.core import clock
from notifications.core.models import Alert, Audience, DeadLetter, Recipient, Suppression
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules import access
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Priority
from notifications.core.rules.recipient_lists import ListKind
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope
from notifications.core.rules.suppression import Cause
from notifications.core.rules.switches import SwitchKind
from notifications.core.rules.templates import contents
from notifications.core.store.postgres import alerts, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from notifications.core.store.templates import versions
from notifications.features.audiences import expressions, uploads
from notifications.features.audiences.rows import topics
from notifications.features.brands.models import Brand
from notifications.features.bulk_jobs import changes
from notifications.features.cancel_jobs import jobs as cancel_jobs
from notifications.features.cancel_jobs.jobs import CancelFilter
from providers.contract import Channel
from tests.api.conftest import Caller
from tests.features.inbox import inboxes

SENT: Final = {
    "user_id": "maria",
    "type": "X",
    "priority": "P2",
    "content": {"body": "Hello"},
    "channels": ["email"],
}
_BRAND: Final = {"name": "Shop", "color": "#b91c1c"}
_TEXT: Final = {"channel": "push", "locale": "en", "title": "Hi", "body": "Good evening"}
_CONTACT: Final = {"channel": "email", "address": "other@example.com"}

BULK_JOB: Final = {
    "name": "Winter sale",
    "audience": {"everyone": True},
    "type": "X",
    "priority": "P3",
    "template_id": "hello",
}
_STEPS: Final = {"steps": [{"step": "wait", "days": 1}]}


_MEDIA_TYPES: Final = {
    "/v1/attachments": "application/pdf",
    "/v1/audience-uploads": "text/csv",
    "/v1/recipient-imports": "text/csv",
}


def _soon() -> str:
    return (clock.now() + dt.timedelta(days=2)).isoformat()


BODIES: Final[Mapping[str, object]] = {
    "POST /v1/notifications": SENT,
    "POST /v1/notifications to": {
        **{name: value for name, value in SENT.items() if name != "user_id"},
        "to": {"email": "other@example.com"},
    },
    "POST /v1/notifications/batch": {"notifications": [SENT]},
    "PATCH /v1/notifications/{notification_id}": lambda: {"scheduled_at": _soon()},
    "POST /v1/notifications/{notification_id}/cancel": {},
    "POST /v1/notifications/{notification_id}/withdraw": {},
    "POST /v1/notifications/cancel": {"type": "X"},
    "POST /v1/cancel-jobs/{job_id}/stop": {},
    "POST /v1/bulk-jobs": BULK_JOB,
    "POST /v1/bulk-jobs/dry-run": BULK_JOB,
    "POST /v1/bulk-jobs/{bulk_job_id}/pause": {"reason": "wrong text"},
    "POST /v1/bulk-jobs/{bulk_job_id}/resume": {},
    "POST /v1/bulk-jobs/{bulk_job_id}/cancel": {},
    "POST /v1/attachments": b"%PDF-1.7",
    "POST /v1/schedules": {"name": "n", "rrule": "FREQ=DAILY", "notification": SENT},
    "PATCH /v1/schedules/{schedule_id}": {"name": "other"},
    "DELETE /v1/schedules/{schedule_id}": None,
    "PUT /v1/recipients/{user_id}": {"locale": "de"},
    "PUT /v1/recipients/{user_id} contacts": {"contacts": [_CONTACT]},
    "PATCH /v1/recipients/{user_id}": {"locale": "de"},
    "PATCH /v1/recipients/{user_id} contacts": {"contacts": [_CONTACT]},
    "DELETE /v1/recipients/{user_id}": None,
    "POST /v1/recipients/{user_id}/contacts": _CONTACT,
    "DELETE /v1/recipients/{user_id}/contacts/{contact_id}": None,
    "POST /v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets/rotate": {},
    "POST /v1/recipients/{user_id}/client-tokens": {},
    "DELETE /v1/recipients/{user_id}/client-tokens": None,
    **{
        f"POST /v1/recipients/{{user_id}}/client-tokens {scope}": {"scopes": [scope]}
        for scope in TokenScope
        if scope is not TokenScope.RECEIPTS_WRITE
    },
    "PUT /v1/recipients/{user_id}/preferences": {"channels_off": ["sms"]},
    "PATCH /v1/recipients/{user_id}/preferences": {"channels_off": ["sms"]},
    **dict.fromkeys((
        *(
            f"POST /v1/inbox/{{user_id}}/{{message_id}}/{mark}"
            for mark in ("seen", "read", "unread", "archive", "unarchive", "unsnooze")
        ),
        "POST /v1/inbox/{user_id}/{message_id}/actions/{action_id}",
        "DELETE /v1/inbox/{user_id}/{message_id}",
    )),
    "POST /v1/inbox/{user_id}/{message_id}/snooze": lambda: {"until": _soon()},
    "POST /v1/inbox/{user_id}/seen": {"message_ids": [str(uuid4())]},
    "POST /v1/inbox/{user_id}/read": {"message_ids": [str(uuid4())]},
    "POST /v1/inbox/{user_id}/archive": {"message_ids": [str(uuid4())]},
    "POST /v1/inbox/{user_id}/seen-all": {},
    "POST /v1/inbox/{user_id}/read-all": {},
    "POST /v1/inbox/{user_id}/archive-all": {"category": "orders"},
    "PUT /v1/attributes/{name}": {"kind": "number"},
    "DELETE /v1/topics/{topic}": None,
    "PUT /v1/brand": _BRAND,
    "DELETE /v1/brand": None,
    "PUT /v1/topics/{topic}/subscribers": {"user_ids": ["maria"]},
    "POST /v1/topics/{topic}/subscribers/delete": {"user_ids": ["ben"]},
    "PUT /v1/topics/{topic}/subscribers/{user_id}": None,
    "DELETE /v1/topics/{topic}/subscribers/{user_id}": None,
    "POST /v1/audiences": {"name": "all", "audience": {"everyone": True}},
    "POST /v1/audiences/estimate": {"audience": {"everyone": True}},
    "PUT /v1/audiences/{audience_id}": {"name": "new", "audience": {"everyone": True}},
    "DELETE /v1/audiences/{audience_id}": None,
    "POST /v1/audience-uploads": b"user_id\nmaria\n",
    "DELETE /v1/audience-uploads/{upload_id}": None,
    "POST /v1/audience-snapshots": {"audience": {"everyone": True}},
    "DELETE /v1/audience-snapshots/{snapshot_id}": None,
    "POST /v1/recipient-imports contacts": b"user_id,email\nmaria,m@example.com\n",
    "POST /v1/recipient-imports preferences": b"user_id,topics_off\nmaria,news\n",
    "POST /v1/recipient-imports": b"user_id,locale,email,topics_off\nmaria,de,m@example.com,news\n",
    "POST /v1/suppressions": {"channel": "email", "address": "nobody@example.com"},
    "DELETE /v1/suppressions/{suppression_id}": None,
    "POST /v1/templates": {"template_id": "hello", "texts": [_TEXT]},
    "PUT /v1/templates/{template_id}/files": {"files": {"push.en.txt": "Hello\n\nBody.\n"}},
    "POST /v1/templates/{template_id}/publish": {"version": 3},
    "POST /v1/templates/{template_id}/rollback": {"version": 1},
    "POST /v1/templates/{template_id}/preview": {"channel": "push", "variables": {}},
    "POST /v1/dead-letters/replay": {"reason": "permanent"},
    "POST /v1/dead-letters/{letter_id}/discard": {},
    "POST /v1/alerts/{alert_id}/acknowledge": {},
    "POST /v1/switches": {"kind": "type", "value": "X", "reason": "the text is wrong"},
    "DELETE /v1/switches/{switch_id}": None,
    "POST /v1/alerts/{alert_id}/resolve": {},
    "POST /v1/webhook-endpoints": {"url": "https://hooks.example.com/in"},
    "PATCH /v1/webhook-endpoints/{endpoint_id}": {"events": ["notification.failed"]},
    "DELETE /v1/webhook-endpoints/{endpoint_id}": None,
    "POST /v1/webhook-endpoints/{endpoint_id}/secrets": {},
    "POST /v1/webhook-endpoints/{endpoint_id}/replay": {"since": "2026-11-01T00:00:00Z"},
    "POST /v1/webhook-endpoints/{endpoint_id}/test": {},
    "POST /v1/series": {"name": "other", "definition": _STEPS},
    "PUT /v1/series/{series_name}": {"definition": {**_STEPS, "description": "new"}},
    "POST /v1/series/{series_name}/publish": {},
    "POST /v1/series/{series_name}/pause": {},
    "POST /v1/series/{series_name}/resume": {},
    "POST /v1/series/{series_name}/archive": {},
    "POST /v1/series/{series_name}/enrolments": {"enrolments": [{"user_id": "maria"}]},
    "POST /v1/series/{series_name}/enrolments/{enrolment_id}/exit": {},
    "POST /v1/events": {"events": [{"name": "paid", "user_id": "maria"}]},
    "POST /v1/keys/rotate": {"overlap_hours": 1},
}
"""Operation -> its body, or a function that returns a body with a time."""

_OTHERS: Final[Mapping[str, Mapping[str, object]]] = {
    "DELETE /v1/topics/{topic}/subscribers/{user_id}": {"user_id": "ben"}
}
"""Operation -> parameters of its path in place of those of the world."""

WRITING: Final = [
    rule for rule in access.complete() if rule.writes and isinstance(rule.needs, Scope)
]


def furnish(caller: Caller, user_id: str = "maria") -> dict[str, object]:
    """Make one of each noun for the caller and a person; returns the parameters of the paths."""
    person, _ = Recipient.objects.get_or_create(mode=caller.mode, user_id=user_id)
    sent = {**SENT, "user_id": user_id}
    person.contacts.create(channel=Channel.EMAIL, address="maria@example.com", is_primary=True)
    Brand.objects.get_or_create(producer=caller.producer, defaults={"name": "First"})
    contact = person.contacts.create(channel=Channel.WEBHOOK, address="https://hooks.example/1")
    letter = DeadLetter.objects.create(
        delivery_id=uuid4(),
        mode=caller.mode,
        priority=Priority.P2,
        channel=Channel.EMAIL,
        producer_id=caller.producer.pk,
        recipient_id=person.pk,
        reason="permanent",
        snapshot={},
        created_at=clock.now(),
    )
    schedule = {"name": "first", "rrule": "FREQ=DAILY", "notification": sent}
    return {
        "user_id": person.user_id,
        "contact_id": contact.pk,
        "action_id": "accept",
        "message_id": inboxes.add_message(person.pk),
        "letter_id": letter.pk,
        "job_id": cancel_jobs.start(
            CancelFilter(mode=caller.mode, producer_id=caller.producer.pk, type="X"),
            requested_by="test",
            by="test",
        ).pk,
        "notification_id": _made(caller, "/v1/notifications", sent | {"scheduled_at": _soon()}),
        **_live(caller),
        "bulk_job_id": _made(caller, "/v1/bulk-jobs", BULK_JOB),
        "endpoint_id": _made(
            caller, "/v1/webhook-endpoints", {"url": "https://hooks.example.com/in"}
        ),
        **_audiences(caller),
        "schedule_id": _made(caller, "/v1/schedules", schedule),
        **_series(caller, user_id),
        **_live(caller),
    }


def call(
    caller: Caller,
    operation: str,
    world: Mapping[str, object],
    changed: Callable[[object], object] = lambda body: body,
) -> int:
    """Send an operation's request, with a changed body; returns the status of the answer."""
    method, path, *_part = operation.split()
    if path == "/v1/bulk-jobs/{bulk_job_id}/resume":
        changes.pause(UUID(str(world["bulk_job_id"])), by="test", reason="for the test")
    if path == "/v1/series/{series_name}/resume":
        caller.post(path.replace("resume", "pause").format(**world), {})
    media_type = _MEDIA_TYPES.get(path, "application/json")
    body = BODIES[operation]
    body = changed(body() if callable(body) else body)
    here = path.format(**{**world, **_OTHERS.get(operation, {})})
    return caller.send(method, here, body, media_type=media_type).status_code


def _series(caller: Caller, user_id: str) -> dict[str, object]:
    """Make a published series with a draft and an enrolment."""
    path = "/v1/series/first"
    caller.post("/v1/series", {"name": "first", "definition": _STEPS})
    caller.post(f"{path}/publish", {})
    caller.send("PUT", path, {"definition": _STEPS})
    answer = caller.post(f"{path}/enrolments", {"enrolments": [{"user_id": user_id}]})
    return {"series_name": "first", "enrolment_id": answer.json()["results"][0]["enrolment_id"]}


def _made(caller: Caller, path: str, body: object) -> object:
    answer = caller.post(path, body)
    assert answer.status_code in {201, 202}, answer.content
    told = answer.json()
    return told.get("notification_id") or told["id"]


def _audiences(caller: Caller) -> dict[str, object]:
    """A topic with a subscriber, an attribute, a saved audience, an upload and a snapshot."""
    ben, _ = Recipient.objects.get_or_create(mode=caller.mode, user_id="ben")
    topic = topics.ensure(mode=caller.mode, name="news", by="test")
    topics.subscribe(topic, [ben.user_id])
    row = Audience(mode=caller.mode, name="everyone", created_by="test")
    lists = {
        kind: uploads.begin(mode=caller.mode, kind=kind, name="first", by="test")
        for kind in ListKind
    }
    return {
        "topic": topic.name,
        "name": "age",
        "audience_id": expressions.save(row, {"everyone": True}, by="test").pk,
        "upload_id": lists[ListKind.UPLOAD].pk,
        "snapshot_id": lists[ListKind.SNAPSHOT].pk,
    }


def _live(caller: Caller) -> dict[str, object]:
    """What belongs to live mode or to both, made once."""
    entry = SuppressionEntry(channel=Channel.EMAIL, address="gone@example.com", cause=Cause.MANUAL)
    suppressions.add([entry], by=f"producer orders ({caller.key.prefix})")
    alerts.raise_once(AlertKind.BEAT_DEAD, "", "for the test")
    if versions.newest("hello") is None:
        for body in ("Hello", "Good morning"):
            versions.publish(versions.draft("hello", _content(body), by="test"), by="test")
        versions.draft("hello", _content("Good day"), by="test")
    return {
        "template_id": "hello",
        "suppression_id": Suppression.objects.get().pk,
        "alert_id": Alert.objects.get().pk,
        "switch_id": switches.set_switch(
            SwitchTarget(kind=SwitchKind.TYPE, value="Y"),
            reason="for the test",
            expires_at=None,
            by="test",
        ).pk,
    }


def _content(body: str) -> contents.TemplateContent:
    return contents.content([contents.words(Channel.PUSH, "en", title="Hi", body=body)])
