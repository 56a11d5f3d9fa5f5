"""A person with canaries goes through each feature that stores something of a person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.delivery import deliver, preference_links
from notifications.core.feedback import inbound_sms
from notifications.core.models import (
    Contact,
    Delivery,
    NotificationType,
    Recipient,
    Suppression,
    WebhookEndpoint,
)
from notifications.core.rules.states import Status
from notifications.core.rules.templates import contents
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import versions
from notifications.core.sweeps import SWEEPS
from providers.contract import Channel, InboundText
from tests.api import operations
from tests.api.conftest import Caller
from tests.features.canaries import EMAIL, PHONE, TEXT, USER
from tests.past_rows import fill

_CONTACTS: Final = (
    ("email", EMAIL),
    ("sms", PHONE),
    ("push", f"{TEXT}-token.410"),
    ("webhook", f"https://{TEXT}.example/500"),
    ("chat", f"{TEXT}-chat.400"),
)
"""Addresses of the sandbox: the push address is dead, each call to the chat fails for good, each
call of the webhook for a time."""
_RECIPIENT: Final = f"/v1/recipients/{USER}"
_ERASURE: Final = "DELETE /v1/recipients/{user_id}"
_LAST: Final = ("DELETE ", "cancel", "withdraw", "archive", "discard", "keys", "delete", "exit")
"""Parts of operations that end what other operations change."""
_OF_WHAT_IS_GONE: Final = {
    "DELETE /v1/topics/{topic}/subscribers/{user_id}",
    "POST /v1/dead-letters/{letter_id}/discard",
    "POST /v1/topics/{topic}/subscribers/delete",
}
"""Operations whose object another operation has ended before; `plan` has topics of its own."""
_LEFT_OUT: Final = ("service_levels", "partitions", "daily_reports")
"""Sweeps that read no row of a person."""


def each_operation(caller: Caller) -> None:
    """Make the request of each operation that writes, with the person in place of Maria."""
    world = operations.furnish(caller, USER)
    own = {"channel": "email", "address": EMAIL, "primary": True}
    ok(caller.post(f"{_RECIPIENT}/contacts", own))
    labels = [rule.operation for rule in operations.WRITING if rule.operation != _ERASURE]
    for label in sorted(labels, key=lambda label: any(part in label for part in _LAST)):
        status = operations.call(caller, label, world, _with_canaries)
        assert status < 400 or label in _OF_WHAT_IS_GONE, (label, status)


def _with_canaries(body: object) -> object:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    for plain, canary in (
        ("maria", USER),
        ("other@example.com", EMAIL),
        ('"Hello"', f'"{TEXT}"'),
    ):
        raw = raw.replace(plain.encode(), canary.encode())
    return raw


def register(caller: Caller) -> Recipient:
    """Register the person with an address of each channel and an attribute."""
    ok(caller.send("PUT", "/v1/attributes/nickname", {"kind": "text"}))
    contacts = [{"channel": channel, "address": address} for channel, address in _CONTACTS]
    ok(
        caller.send(
            "PUT",
            _RECIPIENT,
            {"timezone": "UTC", "attributes": {"nickname": TEXT}, "contacts": contacts},
        )
    )
    ok(caller.send("PUT", f"{_RECIPIENT}/preferences", {"categories_off": ["x"]}))
    return Recipient.objects.get(mode=caller.mode, user_id=USER)


def ok(answer: Any) -> Any:  # noqa: ANN401 - the answer of Django's client, and JSON
    """Return the JSON of an answer without a fault."""
    assert answer.status_code < 400, answer.content
    return answer.json() if answer.content else None


def _request(**fields: object) -> dict[str, object]:
    return {
        "user_id": USER,
        "type": "CANARY",
        "template_id": "canary",
        "variables": {"name": TEXT, "code": TEXT},
        "metadata": {"customer": TEXT},
        **fields,
    }


def templates() -> None:
    """Publish a template of each channel with a link, and one that has a sensitive variable too."""
    NotificationType.objects.create(
        name="CANARY", priority=2, category="orders", tracks_opens=True, tracks_clicks=True
    )
    notification_types.forget()
    link = "https://shop.example/{{ name }}"
    for template, secret in (("plain", ""), ("canary", "{{ code }}")):
        words = [
            contents.words(
                channel,
                "en",
                title="Hi {{ name }}",
                body=f"{{{{ name }}}} {'' if channel is Channel.IN_APP else secret} {link}",
            )
            for channel in Channel
            if channel is not Channel.EMAIL
        ]
        html = f'<p>{{{{ name }}}} {secret}</p><a href="{link}">See it</a>'
        words.append(contents.words(Channel.EMAIL, "en", title="Hi {{ name }}", html=html))
        words = [
            replace(each, shorten_links=not secret) if each.channel is Channel.SMS else each
            for each in words
        ]
        made = contents.content(words, {"sensitive_variables": ["code"] if secret else []})
        versions.publish(versions.draft(template, made, by="tests"), by="tests")


def send(caller: Caller, status_url: str) -> None:
    """Send by each channel, in a batch, later, in order, by address and with free keys.

    `status_url` is an endpoint of the producer's status webhooks.
    """
    for url in (status_url, ""):
        WebhookEndpoint.objects.create(producer=caller.producer, mode=caller.mode, url=url)
    soon = (clock.now() + dt.timedelta(days=2)).isoformat()
    bodies = [
        *(
            _request(channels=[channel.label], template_id=template)
            for channel in Channel
            for template in ("plain", "canary")
        ),
        _request(channels=["email"], idempotency_key=TEXT, collapse_key=TEXT),
        _request(channels=["email"], ordering_key=TEXT),
        _request(channels=["in_app"], inbox_data={"text": TEXT}),
        _request(channels=["email"], webhook_url=f"{status_url}/{TEXT}"),
        _request(channels=["sms"], scheduled_at=soon),
        _request(channels=["sms"], priority="P0"),
        _request(channels=["push", "sms", "email"], fallback_chain=True),
        {
            "to": {"email": EMAIL},
            "type": "CANARY",
            "content": {"title": TEXT, "body": TEXT},
        },
        _request(user_id="nobody", idempotency_key=f"{TEXT}-nobody"),
    ]
    codes = [caller.post("/v1/notifications", body).status_code for body in bodies]
    assert codes == [202] * (len(bodies) - 1) + [422]
    batch = {"notifications": [*bodies[:2], _request(type="no type")]}
    ok(caller.post("/v1/notifications/batch", batch, idempotency_key=f"{TEXT}-batch"))
    caller.post("/v1/notifications", _request(priority=TEXT, template_id=TEXT))
    caller.post("/v1/notifications", {"user_id": USER})


def plan(caller: Caller) -> None:
    """Make what sends later or to many: schedule, bulk job, topic, series, lists, cancel jobs."""
    named = {"user_ids": [USER]}
    body = _request(template_id="plain", variables={"name": TEXT})
    schedule = {"name": "daily", "rrule": "FREQ=DAILY", "notification": body}
    ok(caller.post("/v1/schedules", schedule, idempotency_key=f"{TEXT}-schedule"))
    ok(caller.send("PUT", f"/v1/topics/club/subscribers/{USER}"))
    for at, audience in enumerate((named, {"or": [named, {"topic": "club"}]})):
        body = {**operations.BULK_JOB, "name": f"job {at}", "audience": audience}
        ok(caller.post("/v1/bulk-jobs", body))
        ok(caller.post("/v1/audiences", {"name": f"named {at}", "audience": audience}))
        ok(caller.post("/v1/audience-snapshots", {"audience": audience}))
        ok(caller.post("/v1/audiences/estimate", {"audience": audience}))
    lines = f"user_id,name\n{USER},{TEXT}\n{USER}-{TEXT},{TEXT}\n{TEXT},a,b,c,d\n".encode()
    ok(caller.send("POST", "/v1/audience-uploads", lines, media_type="text/csv"))
    wrong = f"{TEXT},name\n{USER},{TEXT}\n".encode()
    caller.send("POST", "/v1/audience-uploads", wrong, media_type="text/csv")
    steps = {"steps": [{"step": "send", "name": "one", "type": "CANARY", "template_id": "plain"}]}
    ok(caller.post("/v1/series", {"name": "tour", "definition": steps}))
    ok(caller.post("/v1/series/tour/publish", {}))
    people = {"enrolments": [{"user_id": USER, "variables": {"name": TEXT}}]}
    ok(caller.post("/v1/series/tour/enrolments", people))
    event = {"name": "paid", "user_id": USER, "properties": {"to": TEXT}, "idempotency_key": TEXT}
    ok(caller.post("/v1/events", {"events": [event]}))
    for value in (USER, EMAIL):
        ok(caller.post("/v1/notifications/cancel", {"metadata": {"customer": value}}))


def answer_back(caller: Caller) -> None:
    """Opt out and in by SMS, by the preference page and by the list; ask for tokens; search."""
    for number, text in enumerate(("STOP", "START", "STOP")):
        reply = InboundText(
            from_address=PHONE,
            to_address="1",
            text=f"{text} {TEXT}" if number == 1 else text,
            provider_message_id=f"canary {number}",
        )
        inbound_sms.process("sandbox", [reply])
    ok(
        caller.post(
            "/v1/suppressions", {"channel": "email", "address": EMAIL, "note": f"{TEXT} asked"}
        )
    )
    person = Recipient.objects.get(mode=caller.mode, user_id=USER)
    page = preference_links.PATH + preference_links.token_of(person.pk, now=clock.now())
    form = urlencode({"drawn": "", "on": "", "locale": "de", "timezone": "Europe/Berlin"})
    Client().post(page, form, content_type="application/x-www-form-urlencoded")
    ok(caller.post(f"{_RECIPIENT}/client-tokens", {"scopes": ["inbox:read"]}))
    ok(caller.get(f"/v1/inbox/{USER}"))
    for path in ("/v1/notifications", "/v1/recipients"):
        ok(caller.get(path, user_id=USER))


def operate(operator: User) -> None:
    """Look, search, change and export in the admin."""
    door = Client()
    door.force_login(operator)
    person = Recipient.objects.get(user_id=USER)
    for model, asked in (
        ("recipient", USER),
        ("recipient", EMAIL),
        ("contact", EMAIL),
        ("notification", USER),
        ("suppression", EMAIL),
    ):
        listing = reverse(f"admin:notifications_{model}_changelist")
        assert door.get(listing, {"q": asked}).status_code in {200, 302}
        form = {"action": "export_csv", "_selected_action": [1], "select_across": 1}
        door.post(listing, form)
    path = reverse("admin:notifications_recipient_change", args=[person.pk])
    empty = {f"preference-{name}": 0 for name in ("TOTAL_FORMS", "INITIAL_FORMS")}
    form = {"mode": 1, "user_id": USER, "locale": "fr", "timezone": "", **empty}
    assert door.post(path, form).status_code == 302
    door.get(f"{path.removesuffix('change/')}inbox/", follow=True)
    for contact in Contact.objects.filter(recipient=person):
        door.get(
            reverse("admin:notifications_contact_change", args=[contact.pk]).replace(
                "change/", "address/"
            ),
            follow=True,
        )
    form = {
        "channel": Channel.EMAIL.value,
        "address": f"second-{EMAIL}",
        "reason": "manual",
        "note": TEXT,
    }
    door.post(reverse("admin:notifications_suppression_add"), form)
    entry = Suppression.objects.order_by("-pk")[0]
    door.get(reverse("admin:notifications_suppression_change", args=[entry.pk]))


def run(*, rounds: int = 3) -> None:
    """Run each sweep in turn, and deliver what is due."""
    names = [name for name in SWEEPS if name not in _LEFT_OUT]
    for _ in range(rounds):
        for name in names:
            SWEEPS[name].run_once(now=clock.now(), limit=SWEEPS[name].limit)
        due = Delivery.objects.filter(status__in=[Status.QUEUED, Status.RETRYING])
        deliver.deliver(list(due.values_list("id", flat=True)))


def archived_day(person: Recipient, day: dt.date) -> None:
    """Write rows of the person on a day past retention."""
    fill(day, notifications=4, people=1)
    values: Mapping[str, Any] = {"person": person.pk, "user": USER, "text": TEXT}
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE notification SET recipient_id = %(person)s, user_id = %(user)s,"
            " content = jsonb_build_object('body', %(text)s::text), idempotency_key = %(text)s,"
            " webhook_url = %(text)s, metadata = jsonb_build_object('to', %(text)s::text)"
            " WHERE recipient_id = 1000",
            values,
        )
        cursor.execute(
            "UPDATE delivery SET recipient_id = %(person)s WHERE recipient_id = 1000", values
        )
