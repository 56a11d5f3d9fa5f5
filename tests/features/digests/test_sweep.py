"""One message in place of many that a cap has held back, and each of them told of once."""

from __future__ import annotations

import datetime as dt
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models import F

from notifications.core import clock, conf, gate
from notifications.core.delivery import deliver, routing
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Caller
from notifications.core.models import (
    Contact,
    Delivery,
    Event,
    Notification,
    NotificationType,
    Producer,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.rules import request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.rate_limits.frequency_caps import Cap
from notifications.core.rules.states import OPEN, Status
from notifications.core.store.cached import notification_types, provider_overrides
from notifications.core.store.postgres import partitions, transitions
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from notifications.core.store.templates import template_cache
from notifications.core.sweeps import release, rounds
from notifications.features.digests import sweep as digests
from providers.contract import Channel
from tests.store.ageing import age_caps

HOUR: Final = dt.timedelta(hours=1)
GRACE: Final = dt.timedelta(seconds=6)
"""The sweep leaves a row to its retry message for five."""


@pytest.fixture(autouse=True)
def _world(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # noqa: ARG001 - by name
    """Likes leave through the null provider, two an hour; each store begins anew."""
    state.client().flushdb()
    settings = replace(conf.current(), caps={Channel.PUSH: Cap(2, HOUR)}, dry_run=True)
    monkeypatch.setattr(conf, "current", lambda: settings)
    stores = (circuit_breakers, provider_overrides, routing, template_cache, notification_types)
    for store in stores:
        store.forget()
    NotificationType.objects.create(name="LIKE", priority=Priority.P2, digest_template="many_likes")
    _template("one_like", "{{ who }} likes it")
    _template("many_likes", "{{ count }}: {% for item in items %}{{ item.who }} {% endfor %}")
    yield
    for store in stores:
        store.forget()


def _template(name: str, body: str) -> None:
    version = 1 + Template.objects.filter(template_id=name).count()
    made = Template.objects.create(template_id=name, version=version)
    TemplateText.objects.create(template=made, channel=Channel.PUSH, body=body)
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())


def _person(name: str, *, devices: int = 1) -> None:
    person = Recipient.objects.create(mode=Mode.LIVE, user_id=name)
    for device in range(devices):
        Contact.objects.create(recipient=person, channel=Channel.PUSH, address=f"{name}-{device}")


def _like(caller: Caller, names: Sequence[str], **fields: object) -> list[UUID]:
    """Accept a like for each of these people; returns the notifications."""
    body = {"type": "LIKE", "template_id": "one_like", "channels": ["push"]}
    asked = []
    for name in names:
        variables = {"who": f"fan of {name}"}
        wanted = request.parse(body | {"user_id": name, "variables": variables} | fields)
        assert not isinstance(wanted, Problem), wanted
        asked.append(wanted)
    answers = accept.accept(caller, asked)
    assert all(isinstance(each, AcceptedRequest) for each in answers), answers
    return [
        UUID(each.response["notification_id"])
        for each in answers
        if isinstance(each, AcceptedRequest)
    ]


def _deliver() -> None:
    queued = Delivery.objects.filter(status=Status.QUEUED).order_by("id")
    deliver.deliver(list(queued.values_list("id", flat=True)))


def _release(limit: int = 500) -> rounds.Swept:
    """The sweep, without the grace for the messages of the rows."""
    return rounds.work(digests.due(limit), digests.merge_rows)


def _turn(span: dt.timedelta) -> None:
    """Let time pass: in Redis, and for whatever waits or ends in Postgres."""
    age_caps(span)
    Delivery.objects.filter(due_at__isnull=False).update(due_at=F("due_at") - span)
    Notification.objects.update(expires_at=F("expires_at") - span)


def _statuses(notifications: Sequence[UUID]) -> list[tuple[Status, str]]:
    found = Delivery.objects.order_by("id")
    rows = [row for row in found if row.notification_id in set(notifications)]
    return [(Status(row.status), row.reason) for row in rows]


def _digests() -> list[Notification]:
    return list(Notification.objects.filter(idempotency_key__startswith="$digest-").order_by("id"))


def _held_likes(caller: Caller, count: int, **fields: object) -> list[UUID]:
    """Fill Maria's window with two likes and have these held by it; returns them, due now."""
    _like(caller, ["maria"] * 2)
    _deliver()
    held = _like(caller, ["maria"] * count, **fields)
    _deliver()
    assert set(_statuses(held)) == {(Status.SCHEDULED, "cap")}
    _turn(HOUR + GRACE)
    return held


DIGESTED = (Status.SUPPRESSED, "digested")


def test_what_a_cap_held_becomes_one_message(caller: Caller) -> None:
    _person("maria", devices=3)
    held = _held_likes(caller, 12)
    _release()
    assert _statuses(held) == [DIGESTED] * 36
    [made] = _digests()
    assert made.variables["count"] == 12
    assert made.variables["items"] == [{"who": "fan of maria"}] * 5
    told = Event.objects.filter(notification_id=held[0], reason="digested")
    assert {event.detail for event in told} == {f"told in {made.id}"}
    _deliver()
    assert _statuses([made.id]) == [(Status.SENT, "")] * 3


def test_the_release_leaves_rows_of_caps_to_the_digests_and_takes_them_when_none_come(
    caller: Caller,
) -> None:
    _person("maria")
    held = _held_likes(caller, 3)
    assert release.run_once(now=clock.now(), limit=500).moved == 0
    _turn(rounds.MERGED_FOR)
    assert release.run_once(now=clock.now(), limit=500).moved == 3
    assert _statuses(held) == [(Status.QUEUED, "hold_over")] * 3
    assert digests.run_once(now=clock.now(), limit=500).moved == 0


def test_without_the_feature_the_release_takes_rows_of_caps_at_once(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    _person("maria")
    held = _held_likes(caller, 3)
    monkeypatch.setattr(gate, "is_taken", lambda _place: False)
    assert release.run_once(now=clock.now(), limit=500).moved == 3
    assert _statuses(held) == [(Status.QUEUED, "hold_over")] * 3


def test_a_single_one_is_released_as_it_is(caller: Caller) -> None:
    _person("maria")
    held = _held_likes(caller, 1)
    _release()
    _deliver()
    assert _statuses(held) == [(Status.SENT, "")]
    assert _digests() == []


def test_people_producers_and_types_are_not_mixed(caller: Caller) -> None:
    _person("maria")
    _person("ana")
    other = replace(caller, producer_id=Producer.objects.create(name="other").pk)
    NotificationType.objects.create(name="COMMENT", priority=Priority.P2)
    _like(caller, ["maria", "maria", "ana", "ana"])
    _deliver()
    _like(caller, ["maria", "maria", "ana", "ana"])
    _like(other, ["maria", "maria"])
    comments = _like(caller, ["maria", "maria"], type="COMMENT")
    _deliver()
    _turn(HOUR + GRACE)
    _release()
    made = Counter((each.user_id, each.producer_id) for each in _digests())
    assert made == Counter({
        ("maria", caller.producer_id): 1,
        ("ana", caller.producer_id): 1,
        ("maria", other.producer_id): 1,
    })
    assert _statuses(comments) == [(Status.QUEUED, "hold_over")] * 2


def test_a_digest_that_is_held_itself_adds_up(caller: Caller) -> None:
    _person("maria")
    _held_likes(caller, 4)
    _release()
    _like(caller, ["maria"] * 2, priority="P1")  # they take the room
    deliver.deliver(
        list(Delivery.objects.filter(priority=Priority.P1).values_list("id", flat=True))
    )
    _deliver()
    _like(caller, ["maria"] * 3)
    _deliver()
    _turn(HOUR + GRACE)
    _release()
    first, second = _digests()
    assert _statuses([first.id]) == [DIGESTED]
    assert second.variables["count"] == 7


def test_what_was_cancelled_or_has_expired_is_not_told(caller: Caller) -> None:
    _person("maria")
    held = _held_likes(caller, 4)
    Notification.objects.filter(id=held[0]).update(cancelled_at=clock.now())
    Notification.objects.filter(id=held[1]).update(expires_at=clock.now() - HOUR)
    _release()
    [made] = _digests()
    assert made.variables["count"] == 2
    _deliver()
    assert _statuses(held[:1]) == [(Status.CANCELLED, "cancelled")]
    assert _statuses(held[1:2]) == [(Status.EXPIRED, "ttl_passed")]


def test_a_digest_lives_as_long_as_the_youngest_of_what_it_tells(caller: Caller) -> None:
    _person("maria")
    _held_likes(caller, 2, ttl_seconds=2 * 3600)
    _release()
    [made] = _digests()
    left = made.expires_at - clock.now()
    assert dt.timedelta(minutes=59) < left < dt.timedelta(minutes=60)


@pytest.mark.parametrize("body", ["{{ count }} {{ missing }}", ""])
def test_where_the_template_does_not_fit_each_leaves_by_itself(caller: Caller, body: str) -> None:
    _person("maria")
    held = _held_likes(caller, 2)
    if body:
        _template("many_likes", body)
    else:
        NotificationType.objects.update(digest_template="never_published")
    template_cache.forget()
    notification_types.forget()
    _release()
    _deliver()
    assert _statuses(held) == [(Status.SENT, "")] * 2


def test_a_worker_killed_in_between_leaves_all_as_it_was(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    _person("maria")
    held = _held_likes(caller, 3)
    with monkeypatch.context() as patched:
        patched.setattr(transitions, "apply", killed)
        with pytest.raises(Killed), transaction.atomic():
            _release()
    assert _digests() == []
    assert set(_statuses(held)) == {(Status.SCHEDULED, "cap")}
    _release()
    assert len(_digests()) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", [500, 6])
def test_two_sweeps_at_once_make_one_digest(caller: Caller, limit: int) -> None:
    partitions.ensure(clock.now().date(), days=0)
    _person("maria")
    held = _held_likes(caller, 20)
    start = threading.Barrier(4)

    def sweep(_turn: int) -> int:
        start.wait(timeout=10)
        try:
            return _release(limit).failed
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(sweep, range(4))) == [0] * 4
    _release(limit)  # each of them may have left rows to another
    [made] = _digests()
    assert made.variables["count"] == 20
    assert _statuses(held) == [DIGESTED] * 20


def test_a_day_of_likes_is_told_of_once_each_and_never_more_than_the_cap_allows(
    caller: Caller,
) -> None:
    """Every half hour of a day: some people get nothing, some a like, one a dozen."""
    cap, half = 2, HOUR / 2
    for name in ("quiet", "usual", "famous"):
        _person(name)
    likes: Counter[str] = Counter()
    sent: dict[str, list[tuple[int, int]]] = {name: [] for name in ("quiet", "usual", "famous")}
    seen: set[UUID] = set()
    for step in range(48 + 6):
        crowd = ["famous"] * 12 + ["usual"] * (step % 3) + ["quiet"] * (step % 8 == 0)
        if step < 48:
            _like(caller, crowd)
            likes.update(crowd)
        _release()
        _deliver()
        for row in Delivery.objects.filter(status=Status.SENT).exclude(id__in=seen):
            seen.add(row.id)
            told = Notification.objects.get(id=row.notification_id)
            sent[told.user_id].append((step, told.variables.get("count", 1)))
        _turn(half + GRACE)
    assert not Delivery.objects.filter(status__in=OPEN).exists()
    for name, messages in sent.items():
        assert sum(count for _, count in messages) == likes[name]
        steps = Counter(step for step, _ in messages)
        assert max(steps[step] + steps[step + 1] for step in range(54)) <= cap
    assert len(sent["quiet"]) == likes["quiet"]
    assert len(sent["famous"]) <= 54
    reasons = Delivery.objects.values_list("status", "reason").distinct()
    assert set(reasons) == {(Status.SENT, ""), DIGESTED}
