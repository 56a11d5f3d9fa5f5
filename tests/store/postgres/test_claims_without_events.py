"""A claim stores no event, and is a line of the timeline and of the changes all the same."""

from __future__ import annotations

import datetime as dt
from uuid import UUID, uuid4

import pytest

from notifications.core import clock
from notifications.core.models import Delivery, Event
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import ACCEPT, DELIVER, HOLD, RESCUE, Transition
from notifications.core.store.postgres import change_feed, claims, timelines, transitions
from notifications.core.store.postgres.transitions import (
    STILL_DUE,
    FromProvider,
    Guard,
    Move,
    UnderClaim,
)
from tests.store.stored_rows import MakeDelivery

pytestmark = pytest.mark.django_db(transaction=True)
_SENT = [Status.QUEUED, Status.SENDING, Status.SENT]


def _claim(row: UUID) -> UUID:
    return claims.claim([row], now=clock.now()).token


def _timeline(row: UUID) -> list[Status]:
    found = timelines.of(ids.notification_of(row))
    assert found is not None
    return [Status(each.status) for each in found.events if each.status]


def _changes(*, limit: int = 100) -> list[list[Status]]:
    """Return the pages of the changes."""
    pages: list[list[Status]] = []
    position = None
    while True:
        page, position = change_feed.page(position, producer_id=1, mode=Mode.LIVE, limit=limit)
        if not page:
            return pages
        pages.append([each.status for each in page])


def test_a_claim_is_in_the_timeline_while_it_lasts_and_after_its_end(
    make_delivery: MakeDelivery,
) -> None:
    row = make_delivery()
    before = clock.now()
    token = _claim(row)
    assert _timeline(row) == _SENT[:2]
    assert Event.objects.filter(delivery_id=row).count() == 1
    transitions.apply(ACCEPT, [Move(row)], UnderClaim(token))
    assert _timeline(row) == _SENT
    claimed_at = Event.objects.get(status=Status.SENT).claimed_at
    assert claimed_at is not None
    assert abs(claimed_at - before) < dt.timedelta(seconds=5)


@pytest.mark.parametrize(
    ("transition", "guard"),
    [(DELIVER, FromProvider("sandbox")), (RESCUE, STILL_DUE)],
    ids=["receipt", "rescue"],
)
def test_a_claim_that_another_process_ends_keeps_its_time(
    make_delivery: MakeDelivery, transition: Transition, guard: Guard
) -> None:
    rows = [make_delivery() for _ in range(3)]
    tokens = {each: _claim(each) for each in rows}
    past = clock.now() - dt.timedelta(minutes=1)
    Delivery.objects.filter(id__in=rows).update(provider="sandbox", due_at=past)
    transitions.apply(transition, [Move(each) for each in rows], guard)
    ended = Event.objects.filter(status=transition.to, claimed_at__isnull=False)
    assert dict(ended.values_list("delivery_id", "claimed_at")) == {
        each: ids.time_of_claim(token) for each, token in tokens.items()
    }


def test_a_claim_of_the_release_before_has_an_event_and_no_second_line(
    make_delivery: MakeDelivery,
) -> None:
    row, token = make_delivery(), uuid4()
    due = clock.now() + dt.timedelta(minutes=1)
    Delivery.objects.filter(id=row).update(status=Status.SENDING, claim_token=token, due_at=due)
    Event.objects.create(
        notification_id=ids.notification_of(row),
        seq=2**40,
        delivery_id=row,
        status=Status.SENDING,
        at=clock.now(),
    )
    assert _timeline(row) == _SENT[:2]
    transitions.apply(HOLD, [Move(row, due_in=dt.timedelta(hours=1))], UnderClaim(token))
    assert Event.objects.filter(claimed_at__isnull=False).count() == 0


@pytest.mark.parametrize(
    ("limit", "pages"),
    [
        (100, [_SENT * 2]),
        (3, [[Status.QUEUED, Status.QUEUED], _SENT[1:], _SENT[1:]]),
        (1, [[Status.QUEUED], [Status.QUEUED], _SENT[1:], _SENT[1:]]),
    ],
)
def test_changes_list_a_claim_with_the_change_that_ended_it(
    make_delivery: MakeDelivery, limit: int, pages: list[list[Status]]
) -> None:
    rows = [make_delivery() for _ in range(2)]
    for row in rows:
        transitions.apply(ACCEPT, [Move(row)], UnderClaim(_claim(row)))
    if limit == 100:
        assert [sorted(page) for page in _changes(limit=limit)] == [sorted(pages[0])]
    else:
        assert _changes(limit=limit) == pages


def test_changes_since_an_instant_leave_an_earlier_claim_out(make_delivery: MakeDelivery) -> None:
    row = make_delivery()
    token = _claim(row)
    since = clock.now() + dt.timedelta(milliseconds=5)
    while clock.now() < since:
        pass
    transitions.apply(ACCEPT, [Move(row)], UnderClaim(token))
    page, _ = change_feed.page(None, producer_id=1, mode=Mode.LIVE, limit=9, since=since)
    assert [each.status for each in page] == [Status.SENT]
