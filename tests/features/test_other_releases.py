"""Rows that an older or a newer release wrote: read for what they say, never a batch that stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, BatchResult, Caller, Refused
from notifications.core.models import IdempotencyKey, Notification, Preference
from notifications.core.rules import request
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey
from notifications.core.rules.sensitive import Sensitive
from notifications.core.rules.states import Status
from notifications.core.rules.times import quiet_hours
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.redis import state
from notifications.core.store.templates import template_cache
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]
NEWER: dict[str, Any] = {
    "title": "Hi",
    "body": "read me",
    "html": "",
    "buttons": [{"text": "Open"}],
    "subtitle": None,
}
_BODY = Fingerprint(Sensitive(b"a body"))
_VOICE = 99
"""A channel that this release does not know."""


def _rewritten(answer: AcceptedRequest | Refused, **columns: object) -> UUID:
    """Change the row of an accepted request; returns its delivery's id."""
    [delivery] = deliveries_of(answer)
    assert isinstance(answer, AcceptedRequest)
    written = {name: orjson.dumps(value).decode() for name, value in columns.items()}
    with connection.cursor() as running:
        for name, value in written.items():
            running.execute(
                f"UPDATE notification SET {name} = %s WHERE id = %s",  # noqa: S608 - this test's names
                [value, answer.response["notification_id"]],
            )
    return delivery.id


@pytest.mark.parametrize(
    "content", [NEWER, {"body": "read me"}, {"body": "read me", "title": None, "html": 7}]
)
def test_content_of_another_release_leaves_with_what_is_known_of_it(
    reach: Reach, take: Accept, outbox: Outbox, content: dict[str, Any]
) -> None:
    reach(email="maria@sandbox.example")
    raw = {"template_id": None, "variables": {}, "content": {"body": "x", "title": "t"}}
    usual = deliveries_of(take(**raw))[0].id
    odd = _rewritten(take(**raw), content=content)
    deliver.deliver([usual, odd])
    assert [message["body"] for message in outbox(odd)] == ["read me"]
    assert len(outbox(usual)) == 1


def test_variables_that_are_no_object_fail_alone(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(email="maria@sandbox.example")
    usual = deliveries_of(take())[0].id
    odd = _rewritten(take(), variables=["Ana", "4711"])
    deliver.deliver([usual, odd])
    assert len(outbox(usual)) == 1
    assert outbox(odd) == []


def test_a_channel_of_a_newer_release_does_not_hide_the_others(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@sandbox.example")
    Preference.objects.create(recipient=person, channel_order=[_VOICE, Channel.EMAIL])
    with connection.cursor() as running:
        running.execute(
            "INSERT INTO notifications_contact SELECT * FROM jsonb_populate_record("
            'NULL::notifications_contact, (SELECT to_jsonb(c) || \'{"channel": 99, "id": 999999}\''
            " FROM notifications_contact c WHERE recipient_id = %s))",
            [person.pk],
        )
        running.execute(
            "INSERT INTO notifications_templatetext SELECT * FROM jsonb_populate_record("
            "NULL::notifications_templatetext,"
            ' (SELECT to_jsonb(t) || \'{"channel": 99, "id": 999999}\''
            " FROM notifications_templatetext t WHERE channel = %s LIMIT 1))",
            [Channel.EMAIL],
        )
    template_cache.forget()
    [delivery] = deliveries_of(take(channels=[]))
    assert (delivery.channel, delivery.status) == (Channel.EMAIL, Status.QUEUED)


def test_quiet_hours_with_a_field_of_a_newer_release_stay_quiet() -> None:
    night = {"start": "22:00", "end": "07:00", "days": [], "channels": [], "why": "baby"}
    kept = orjson.dumps([night, {"start": "soon"}, "night"]).decode()
    [window] = quiet_hours.parse_stored(kept)
    assert (window.start.hour, window.end.hour) == (22, 7)


@pytest.mark.parametrize(
    "kept",
    [
        {"refused": {"kind": "moon-phase", "detail": "no", "errors": [["/a", "b", "c"]], "x": 1}},
        {"refused": {"kind": "invalid"}},
        {},
    ],
)
def test_an_answer_that_another_release_kept_is_given_again(
    reach: Reach, caller: Caller, kept: dict[str, Any]
) -> None:
    reach(email="maria@sandbox.example")
    wanted = request.parse({"user_id": "maria", "type": "LIKE", "content": {"body": "hi"}})
    assert not isinstance(wanted, Problem)
    accept.accept_once(caller, "whole", _BODY, [wanted])
    IdempotencyKey.objects.filter(key="whole").update(response=[kept])
    again = accept.accept_once(caller, "whole", _BODY, [wanted])
    assert isinstance(again, BatchResult)
    [refused] = again.results
    assert isinstance(refused, Refused)
    assert refused.problem.kind is Kind.INVALID
    assert Notification.objects.count() == 1


@pytest.mark.usefixtures("caller")
def test_a_breaker_that_another_release_wrote_is_read() -> None:
    mailer = HealthKey("mailer", Channel.EMAIL)
    newer: dict[str, Any] = {"why": "401", "open_since": 1, "weather": [1, 2], "streak": {}}
    state.client().set(circuit_breakers.key(mailer), orjson.dumps(newer | {"probe_at": 2}))
    assert breaker_status.of([mailer])[mailer].why == "401"
    wider = {"window": [[int(clock.now().timestamp() / 30), 8, 3, 1, 0, 0, 0, 0, 5, 5]]}
    state.client().set(circuit_breakers.key(mailer), orjson.dumps(wider))
    assert breaker_status.of([mailer])[mailer].calls == 8
    circuit_breakers.record_calls({mailer: CallStats(rejected=1, calls=1)})
    assert breaker_status.of([mailer])[mailer].calls == 9
