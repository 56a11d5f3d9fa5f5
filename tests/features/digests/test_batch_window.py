"""Batch windows: the messages of a type to a recipient leave together, each told of once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db.models import F

from notifications.core import clock, conf
from notifications.core.delivery import deliver, routing
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Caller
from notifications.core.models import (
    Contact,
    Delivery,
    Notification,
    NotificationType,
    Preference,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.rules import request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types, provider_overrides
from notifications.core.store.redis import state
from notifications.core.store.templates import template_cache
from notifications.core.sweeps import release, rounds
from notifications.features.digests import merge, sweep
from providers.contract import Channel

pytestmark = pytest.mark.usefixtures("maria")

MINUTE: Final = dt.timedelta(minutes=1)
WINDOW: Final = 10 * MINUTE
GRACE: Final = dt.timedelta(seconds=6)
HELD: Final = (Status.SCHEDULED, "batch_window")
SENT: Final = (Status.SENT, "")
DIGESTED: Final = (Status.SUPPRESSED, "digested")
LIKE: Final = {"type": "LIKE", "template_id": "one_like", "user_id": "maria", "channels": ["push"]}


@pytest.fixture(autouse=True)
def _world(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # noqa: ARG001 - by name
    """Likes of ten minutes leave together, through the null provider; each store begins anew."""
    state.client().flushdb()
    settings = replace(conf.current(), caps={}, dry_run=True)
    monkeypatch.setattr(conf, "current", lambda: settings)
    stores = (routing, template_cache, notification_types, provider_overrides)
    for store in stores:
        store.forget()
    NotificationType.objects.create(
        name="LIKE",
        priority=Priority.P2,
        digest_template="many_likes",
        batch_window_seconds=WINDOW.total_seconds(),
    )
    channels = {
        "one_like": (Channel.PUSH, Channel.EMAIL),
        "many_likes": (Channel.PUSH, Channel.EMAIL),
        "mailed_likes": (Channel.EMAIL,),
    }
    for name, of_template in channels.items():
        made = Template.objects.create(template_id=name)
        body = "{{ who }}" if name == "one_like" else "{{ count }}"
        for channel in of_template:
            TemplateText.objects.create(template=made, channel=channel, title="Likes", body=body)
        Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    yield
    for store in stores:
        store.forget()


@pytest.fixture
def maria() -> Recipient:
    person = Recipient.objects.create(mode=Mode.LIVE, user_id="maria", timezone="Asia/Kathmandu")
    Contact.objects.create(recipient=person, channel=Channel.PUSH, address="maria-phone")
    Contact.objects.create(recipient=person, channel=Channel.EMAIL, address="m@example.com")
    return person


def _like(caller: Caller, count: int = 1, **fields: object) -> list[UUID]:
    """Accept likes and let a worker take them; returns the notifications."""
    asked = request.parse(LIKE | {"variables": {"who": "Ana"}} | fields)
    assert not isinstance(asked, Problem), asked
    answers = accept.accept(caller, [asked] * count)
    _deliver()
    return [
        UUID(each.response["notification_id"])
        for each in answers
        if isinstance(each, AcceptedRequest)
    ]


def _deliver() -> None:
    queued = Delivery.objects.filter(status=Status.QUEUED).order_by("id")
    deliver.deliver(list(queued.values_list("id", flat=True)))


def _sweep() -> None:
    """Merge without the grace for the messages of the rows, and deliver."""
    rounds.work(sweep.due(500), sweep.merge_rows)
    _deliver()


def _turn(span: dt.timedelta) -> None:
    """Let time pass for each row."""
    Delivery.objects.filter(due_at__isnull=False).update(due_at=F("due_at") - span)
    Notification.objects.update(
        created_at=F("created_at") - span,
        scheduled_at=F("scheduled_at") - span,
        expires_at=F("expires_at") - span,
    )


def _statuses(notifications: Sequence[UUID]) -> list[tuple[Status, str]]:
    rows = Delivery.objects.order_by("id")
    return [
        (Status(row.status), row.reason) for row in rows if row.notification_id in notifications
    ]


def _digests() -> list[Notification]:
    return list(Notification.objects.filter(idempotency_key__startswith="$digest-").order_by("id"))


def _ends(notification: UUID) -> dt.timedelta:
    """Return the time until a held message is due."""
    [row] = [each for each in Delivery.objects.all() if each.notification_id == notification]
    assert row.due_at is not None
    return row.due_at - clock.now()


def test_the_first_message_opens_a_window_and_its_end_sends_one_digest(caller: Caller) -> None:
    first = _like(caller, 2)
    _turn(WINDOW - MINUTE)
    last = _like(caller)
    _sweep()
    assert _statuses(first + last) == [HELD] * 3
    _turn(MINUTE + GRACE)
    _sweep()
    assert _statuses(first + last) == [DIGESTED] * 3
    [made] = _digests()
    assert (made.variables["count"], made.priority) == (3, Priority.P2)
    assert _statuses([made.id]) == [SENT]
    later = _like(caller)
    assert _statuses(later) == [HELD]
    assert _ends(later[0]) > WINDOW - MINUTE


def test_a_single_message_leaves_unchanged_at_the_end_of_the_window(caller: Caller) -> None:
    sent = _like(caller)
    _turn(WINDOW + GRACE)
    _sweep()
    assert _statuses(sent) == [SENT]
    assert _digests() == []


def test_channels_and_priorities_are_not_mixed(caller: Caller) -> None:
    marketing = _like(caller, 2, priority="P3")
    pushes = _like(caller, 2)
    mails = _like(caller, 2, channels=["email"])
    _turn(WINDOW + GRACE)
    _sweep()
    assert _statuses(marketing + pushes + mails) == [DIGESTED] * 6
    assert sorted(each.priority for each in _digests()) == [Priority.P2, Priority.P2, Priority.P3]


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": "P1"},
        {"ordering_key": "likes"},
        {"ttl_seconds": 300},
        {"ttl_seconds": int(WINDOW.total_seconds()) + 60},
        {"type": "COMMENT"},
    ],
)
def test_other_messages_leave_at_once(caller: Caller, fields: dict[str, object]) -> None:
    NotificationType.objects.create(name="COMMENT", priority=Priority.P2, batch_window_seconds=60)
    notification_types.forget()
    assert _statuses(_like(caller, count=1, **fields)) == [SENT]


def test_a_window_that_would_end_in_quiet_hours_ends_after_them(
    caller: Caller, maria: Recipient
) -> None:
    wall = clock.now().astimezone(dt.timezone(dt.timedelta(hours=5, minutes=45)))
    quiet = {
        "start": f"{wall - MINUTE:%H:%M}",
        "end": f"{wall + dt.timedelta(hours=3):%H:%M}",
    }
    Preference.objects.create(recipient=maria, quiet_hours=[quiet])
    held = _like(caller, 2)
    assert _statuses(held) == [HELD] * 2
    assert all(_ends(each) > dt.timedelta(hours=2, minutes=55) for each in held)
    _turn(WINDOW + GRACE)
    _sweep()
    assert _statuses(held) == [HELD] * 2


def test_more_messages_than_a_transaction_merges_leave_in_digests(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "_AT_ONCE", 4)
    held = _like(caller, 10)
    _turn(WINDOW + GRACE)
    for _ in range(3):
        _sweep()
    assert _statuses(held) == [DIGESTED] * 10
    assert sum(each.variables["count"] for each in _digests()) == 10


def test_a_digest_waits_for_the_end_of_a_do_not_disturb(caller: Caller, maria: Recipient) -> None:
    until = clock.now() + dt.timedelta(days=1)
    Preference.objects.create(recipient=maria, do_not_disturb_until=until)
    held = _like(caller, 2)
    assert all(_ends(each) <= WINDOW for each in held)
    _turn(WINDOW + GRACE)
    _sweep()
    assert _statuses(held) == [DIGESTED] * 2
    [made] = _digests()
    assert _statuses([made.id]) == [(Status.SCHEDULED, "do_not_disturb")]


def test_the_release_sweep_sends_each_message_while_the_digest_sweep_is_off(caller: Caller) -> None:
    held = _like(caller, 2)
    _turn(WINDOW + GRACE)
    assert release.run_once(now=clock.now(), limit=500).moved == 0
    _turn(rounds.MERGED_FOR)
    assert release.run_once(now=clock.now(), limit=500).moved == 2
    _deliver()
    assert _statuses(held) == [SENT] * 2


def test_many_due_messages_of_windows_do_not_delay_other_holds(caller: Caller) -> None:
    held = _like(caller, 10)
    _turn(WINDOW + GRACE)
    other = _like(caller, type="COMMENT", priority="P2")
    Delivery.objects.exclude(reason="batch_window").update(
        status=Status.SCHEDULED, reason="quiet_hours", due_at=TransactionNow() - GRACE
    )
    release.run_once(now=clock.now(), limit=1)  # examines eight rows
    _deliver()
    assert _statuses(other) == [SENT]
    assert _statuses(held) == [HELD] * 10


def test_without_a_text_of_the_digest_for_the_channel_each_message_leaves(caller: Caller) -> None:
    NotificationType.objects.update(digest_template="mailed_likes")
    notification_types.forget()
    held = _like(caller, 2)
    _turn(WINDOW + GRACE)
    _sweep()
    assert _statuses(held) == [SENT] * 2
