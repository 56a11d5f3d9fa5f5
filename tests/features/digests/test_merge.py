"""Digests by choice: each e-mail reaches the recipient once, by itself or in one digest."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import transaction
from django.db.models import F

from notifications.core import clock, conf
from notifications.core.delivery import deliver, routing
from notifications.core.feedback import preference_changes
from notifications.core.feedback.preference_changes import PreferenceChange
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Caller
from notifications.core.models import (
    Contact,
    Delivery,
    Event,
    Notification,
    NotificationType,
    Preference,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.rules import ids, request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.rules.times import digest_times
from notifications.core.rules.times.deferral import ProducerDay
from notifications.core.rules.times.digest_times import DigestChoice
from notifications.core.store.cached import notification_types, producer_windows, provider_overrides
from notifications.core.store.postgres import id_ranges, partitions, transitions
from notifications.core.store.redis import state
from notifications.core.store.templates import template_cache
from notifications.core.sweeps import hold_checks, release, rounds
from notifications.features.digests import sweep
from providers.contract import Channel

DAY: Final = dt.timedelta(days=1)
SECOND: Final = dt.timedelta(seconds=1)
GRACE: Final = dt.timedelta(seconds=6)
HELD: Final = (Status.SCHEDULED, "digest")
SENT: Final = (Status.SENT, "")
DIGESTED: Final = (Status.SUPPRESSED, "digested")
ZONE: Final = "Asia/Kathmandu"


@pytest.fixture(autouse=True)
def _world(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # noqa: ARG001 - by name
    """Likes leave through the null provider; each store begins anew."""
    state.client().flushdb()
    settings = replace(conf.current(), caps={}, dry_run=True)
    monkeypatch.setattr(conf, "current", lambda: settings)
    monkeypatch.setattr(rounds, "SECONDS", 60.0)
    stores = (provider_overrides, routing, template_cache, notification_types, id_ranges)
    for store in stores:
        store.forget()
    likes = {"priority": Priority.P2, "category": "social"}
    NotificationType.objects.create(name="LIKE", digest_template="many_likes", **likes)
    NotificationType.objects.create(name="FOLLOW", **likes)
    _template("one_like", "{{ who }} likes it")
    _template("many_likes", "{{ count }}: {% for item in items %}{{ item.who }} {% endfor %}")
    yield
    for store in stores:
        store.forget()


def _template(name: str, body: str, *, version: int = 1) -> None:
    made = Template.objects.create(template_id=name, version=version)
    for channel in (Channel.EMAIL, Channel.PUSH):
        TemplateText.objects.create(template=made, channel=channel, title="Likes", body=body)
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())


@pytest.fixture
def maria() -> Recipient:
    person = Recipient.objects.create(mode=Mode.LIVE, user_id="maria", timezone=ZONE)
    for channel, address in ((Channel.EMAIL, "maria@sandbox.example"), (Channel.PUSH, "phone")):
        Contact.objects.create(recipient=person, channel=channel, address=address)
    return person


def _choose(person: Recipient, **choices: str) -> None:
    change = PreferenceChange(digests={k: DigestChoice(v) for k, v in choices.items()})
    preference_changes.change(person, change, by="test", by_recipient=True)


def _send(caller: Caller, count: int = 1, **fields: object) -> list[UUID]:
    """Accept and deliver some likes; returns the notifications."""
    body = {"user_id": "maria", "type": "LIKE", "template_id": "one_like", "channels": ["email"]}
    asked = []
    for number in range(count):
        wanted = request.parse(body | {"variables": {"who": f"fan {number}"}} | fields)
        assert not isinstance(wanted, Problem), wanted
        asked.append(wanted)
    answers = accept.accept(caller, asked)
    made = [UUID(x.response["notification_id"]) for x in answers if isinstance(x, AcceptedRequest)]
    assert len(made) == count, answers
    _deliver()
    return made


def _deliver() -> None:
    queued = Delivery.objects.filter(status=Status.QUEUED).order_by("id")
    deliver.deliver(list(queued.values_list("id", flat=True)))


def _sweep() -> rounds.Swept:
    hold_checks.end_holds(ends_at=rounds.deadline())
    return rounds.work(sweep.due(500), sweep.merge_rows)


def _turn(span: dt.timedelta) -> None:
    """Let time pass: each stored time lies further back."""
    Delivery.objects.filter(due_at__isnull=False).update(due_at=F("due_at") - span)
    Notification.objects.update(
        created_at=F("created_at") - span, expires_at=F("expires_at") - span
    )


def _statuses(notifications: Sequence[UUID]) -> list[tuple[Status, str]]:
    rows = [x for x in Delivery.objects.order_by("id") if x.notification_id in set(notifications)]
    return [(Status(row.status), row.reason) for row in rows]


def _digests() -> list[Notification]:
    return list(Notification.objects.filter(idempotency_key__startswith="$digest-").order_by("id"))


def _due(notifications: Sequence[UUID]) -> set[dt.datetime | None]:
    rows = Delivery.objects.all()
    return {row.due_at for row in rows if row.notification_id in set(notifications)}


def _near(found: set[dt.datetime | None], wanted: set[dt.datetime]) -> bool:
    """Return True if the times are equal; the end of a hold is exact to a second."""
    return {at and (at + SECOND / 2).replace(microsecond=0) for at in found} == wanted


def _expected(notification: UUID, choice: str, zone: str = ZONE) -> dt.datetime:
    begins = Notification.objects.get(id=notification).created_at
    return digest_times.leaves_at(DigestChoice(choice), timezone=zone, after=begins)


@pytest.mark.parametrize(("choice", "days"), [("daily", 2), ("weekly", 8)])
def test_a_chosen_digest_replaces_the_messages_even_after_their_time_to_live(
    caller: Caller, maria: Recipient, choice: str, days: int
) -> None:
    _choose(maria, social=choice)
    held = _send(caller, 7)
    assert _statuses(held) == [HELD] * 7
    assert _near(_due(held), {_expected(held[0], choice)})
    assert Event.objects.filter(notification_id=held[0], reason="digest").get().detail
    assert _sweep().moved == 0
    _turn(days * DAY)
    _sweep()
    assert _statuses(held) == [DIGESTED] * 7
    [made] = _digests()
    assert (made.variables["count"], len(made.variables["items"])) == (7, 5)
    _deliver()
    assert _statuses([made.id]) == [SENT]
    assert _sweep().moved == 0


def test_a_digest_of_marketing_waits_for_the_producers_day(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Recipient.objects.update(timezone="", phone_timezone="")
    _choose(maria, social="daily")
    likes, marketing = _send(caller, 2), _send(caller, 2, priority="P3")
    assert _statuses([*likes, *marketing]) == [HELD] * 4
    _turn(2 * DAY)
    _sweep()
    assert {each.priority for each in _digests()} == {Priority.P2, Priority.P3}
    in_two_hours = clock.now() + dt.timedelta(hours=2)
    night = ProducerDay(begins=in_two_hours.time(), ends=(in_two_hours + DAY / 24).time())
    monkeypatch.setattr(producer_windows, "of", lambda _producer: night)
    _deliver()
    told = {each.priority: _statuses([each.id]) for each in _digests()}
    assert told == {
        Priority.P2: [SENT],
        Priority.P3: [(Status.SCHEDULED, "producers_night")],
    }


def test_a_single_message_leaves_as_itself_after_a_week(caller: Caller, maria: Recipient) -> None:
    _choose(maria, LIKE="weekly")
    held = _send(caller)
    _turn(8 * DAY)
    _sweep()
    _deliver()
    assert (_statuses(held), _digests()) == ([SENT], [])


def test_the_release_sweep_loses_nothing_while_the_digest_sweep_is_off(
    caller: Caller, maria: Recipient
) -> None:
    _choose(maria, social="weekly")
    held = _send(caller, 2)
    _turn(8 * DAY)
    assert release.run_once(now=clock.now(), limit=500).moved == 2
    _deliver()
    assert _statuses(held) == [SENT] * 2


def test_messages_of_several_days_make_one_digest(caller: Caller, maria: Recipient) -> None:
    _choose(maria, social="weekly")
    first = _send(caller, 2)
    _turn(DAY / 24)
    second = _send(caller, 2)
    _turn(8 * DAY)
    _sweep()
    [made] = _digests()
    assert made.variables["count"] == 4
    assert _statuses([*first, *second]) == [DIGESTED] * 4


def test_messages_in_several_partitions_make_one_digest(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    _choose(maria, social="weekly")
    held = _send(caller, 2)
    for days in (3, 6):
        past = clock.now() - days * DAY
        partitions.ensure(past.date(), days=0)
        numbers = itertools.count(1)
        with monkeypatch.context() as patched:
            patched.setattr(
                clock,
                "new_notification_id",
                lambda at=past, numbers=numbers: ids.notification_id(
                    at_ms=int(at.timestamp() * 1000), entropy=next(numbers)
                ),
            )
            held += _send(caller, 2)
    _turn(8 * DAY)
    id_ranges.forget()
    _sweep()
    [made] = _digests()
    assert made.variables["count"] == 6
    assert _statuses(held) == [DIGESTED] * 6


@pytest.mark.parametrize(
    "fields",
    [
        {"channels": ["push"]},
        {"priority": "P1"},
        {"type": "FOLLOW"},
        {"ordering_key": "cart"},
        {"ttl_seconds": 60},
        {"channels": ["email", "push"], "fallback_chain": True},
    ],
    ids="-".join,
)
def test_other_messages_leave_at_once(
    caller: Caller, maria: Recipient, fields: dict[str, Any]
) -> None:
    _choose(maria, social="weekly")
    assert ("digest" in {reason for _, reason in _statuses(_send(caller, **fields))}) is False


def test_a_mandatory_type_leaves_at_once(caller: Caller, maria: Recipient) -> None:
    _choose(maria, social="daily")
    NotificationType.objects.update(is_mandatory=True)
    notification_types.forget()
    assert _statuses(_send(caller)) == [SENT]


def test_a_longer_time_to_live_of_the_producer_is_kept(caller: Caller, maria: Recipient) -> None:
    _choose(maria, social="daily")
    held = _send(caller, ttl_seconds=40 * 24 * 3600)
    expires_at = Notification.objects.get(id=held[0]).expires_at
    assert _statuses(held) == [HELD]
    Delivery.objects.update(due_at=TransactionNow() - GRACE)
    Notification.objects.update(created_at=F("created_at") - 2 * DAY)
    _sweep()
    assert Notification.objects.get(id=held[0]).expires_at == expires_at


def test_at_once_merges_what_waits_without_delay(caller: Caller, maria: Recipient) -> None:
    _choose(maria, social="weekly")
    held = _send(caller, 3)
    _choose(maria, social="at_once")
    _sweep()
    assert _statuses(held) == [DIGESTED] * 3
    _deliver()
    assert _statuses([each.id for each in _digests()]) == [SENT]
    assert _statuses(_send(caller)) == [SENT]


def test_another_choice_or_timezone_moves_what_waits(caller: Caller, maria: Recipient) -> None:
    _choose(maria, social="daily")
    held = _send(caller, 2)
    _choose(maria, social="weekly")
    _sweep()
    assert _statuses(held) == [HELD] * 2
    # On the day before, both choices have one time, and the sweep leaves the rows where they are.
    assert _near(_due(held), {_expected(each, "weekly") for each in held})
    zone = PreferenceChange(profile={"timezone": "America/Lima"})
    preference_changes.change(maria, zone, by="test", by_recipient=True)
    _sweep()
    assert _due(held) == {_expected(each, "weekly", "America/Lima") for each in held}
    assert _digests() == []


def test_a_change_of_another_preference_leaves_the_holds(caller: Caller, maria: Recipient) -> None:
    _choose(maria, social="daily")
    held = _send(caller)
    before = _due(held)
    language = PreferenceChange(profile={"locale": "de"})
    preference_changes.change(maria, language, by="test", by_recipient=True)
    assert _due(held) == before


def test_a_crash_of_the_sweep_changes_nothing(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    _choose(maria, social="daily")
    held = _send(caller, 3)
    _turn(2 * DAY)
    with monkeypatch.context() as patched:
        patched.setattr(transitions, "apply", _crash)
        with pytest.raises(KeyboardInterrupt):
            _sweep_in_transaction()
    assert (_statuses(held), _digests()) == ([HELD] * 3, [])
    _sweep()
    assert _statuses(held) == [DIGESTED] * 3
    assert len(_digests()) == 1


def _sweep_in_transaction() -> None:
    with transaction.atomic():
        _sweep()


def _crash(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_digest_that_does_not_fit_releases_each_message(caller: Caller, maria: Recipient) -> None:
    _template("many_likes", "{{ who }}", version=2)
    template_cache.forget()
    _choose(maria, social="weekly")
    held = _send(caller, 2)
    _turn(8 * DAY)
    _sweep()
    _deliver()
    assert (_statuses(held), _digests()) == ([SENT] * 2, [])


def test_the_digest_stays_off_where_the_topic_was_switched_off(
    caller: Caller, maria: Recipient
) -> None:
    _choose(maria, social="daily")
    _send(caller, 2)
    Preference.objects.update(categories_off=["social"])
    _turn(2 * DAY)
    _sweep()
    _deliver()
    [made] = _digests()
    assert _statuses([made.id]) == [(Status.SUPPRESSED, "opted_out")]


def test_a_scheduled_message_waits_from_its_send_time(caller: Caller, maria: Recipient) -> None:
    _choose(maria, social="daily")
    send_at = clock.now() + 3 * DAY
    [row] = _send(caller, scheduled_at=send_at.isoformat())
    delivery = next(x for x in Delivery.objects.all() if x.notification_id == row)
    Delivery.objects.filter(id=delivery.id).update(due_at=TransactionNow() - GRACE)
    release.run_once(now=clock.now(), limit=500)
    _deliver()
    assert _statuses([row]) == [HELD]
    wanted = digest_times.leaves_at(DigestChoice.DAILY, timezone=ZONE, after=send_at)
    assert _near(_due([row]), {wanted})
