"""The move table is whole, and a notification's status follows from its deliveries'."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.states import OPEN, Status, overall
from notifications.core.rules.transitions import (
    ACCEPT_LATE,
    CANCEL,
    DELIVER,
    DROP_LATE,
    READ,
    REJECT_LATE,
    RETRY_LATE,
    RETRY_LATE_REFUNDED,
    SOURCES,
    TRANSITIONS,
    Transition,
)


def test_every_status_can_be_reached() -> None:
    assert set(SOURCES) == set(Status)


def test_what_is_final_for_ever_is_what_nothing_follows() -> None:
    assert set(Status) - set().union(*SOURCES.values()) == {Status.READ}


@pytest.mark.parametrize("status", OPEN)
def test_every_open_status_can_end(status: Status) -> None:
    assert status in SOURCES[Status.EXPIRED]
    assert status in SOURCES[Status.CANCELLED]
    assert status in SOURCES[Status.FAILED]


@pytest.mark.parametrize("status", [Status.SENT, Status.DELIVERED, Status.READ])
def test_what_a_provider_took_never_leaves_again(status: Status) -> None:
    assert status not in SOURCES[Status.QUEUED]
    assert status not in SOURCES[Status.SENDING]
    assert status not in SOURCES[Status.RETRYING]


_TOOK = frozenset({Status.SENT, Status.UNCONFIRMED})
_SAYS_AS_MUCH = {
    ACCEPT_LATE: _TOOK | {Status.DELIVERED, Status.READ, Status.BOUNCED},
    DELIVER: frozenset({Status.DELIVERED, Status.READ, Status.BOUNCED}),
    READ: frozenset({Status.READ, Status.BOUNCED}),
}
"""Statuses that already tell what the evidence says; a bounce is the last word."""


@pytest.mark.parametrize("status", Status, ids=lambda each: each.label)
@pytest.mark.parametrize("evidence", _SAYS_AS_MUCH, ids=lambda each: each.name)
def test_no_status_of_a_called_delivery_contradicts_what_the_provider_says(
    evidence: Transition, status: Status
) -> None:
    moves = status in evidence.sources | evidence.if_called
    assert moves != (status in _SAYS_AS_MUCH[evidence])


@given(st.permutations([ACCEPT_LATE, DELIVER, READ, CANCEL]), st.sampled_from(Status))
def test_a_message_that_was_read_is_read_in_whatever_order_the_evidence_comes(
    steps: list[Transition], status: Status
) -> None:
    start = status
    for each in steps:
        if status in each.sources | each.if_called:
            status = each.to
    assert status is (Status.BOUNCED if start is Status.BOUNCED else Status.READ)


@pytest.mark.parametrize(
    "refusal",
    [REJECT_LATE, DROP_LATE, RETRY_LATE, RETRY_LATE_REFUNDED],
    ids=lambda each: each.name,
)
def test_a_refusal_after_the_lease_answers_an_unanswered_call_and_nothing_else(
    refusal: Transition,
) -> None:
    assert (set(refusal.sources), refusal.if_called) == ({Status.UNKNOWN}, frozenset())


def test_only_the_worker_that_holds_a_delivery_cancels_it() -> None:
    cancels = {each.name: set(each.sources) for each in TRANSITIONS if each.to is Status.CANCELLED}
    waiting = {Status.SCHEDULED, Status.QUEUED, Status.RETRYING}
    assert cancels == {"cancel": waiting, "cancel_claimed": {Status.SENDING}}


_RECEIPTS = [Status.DELIVERED, Status.READ]


@given(st.permutations([*_RECEIPTS, *_RECEIPTS]), st.sampled_from([Status.SENDING, Status.SENT]))
def test_receipts_end_alike_in_any_order(receipts: list[Status], start: Status) -> None:
    status = start
    for target in receipts:
        if status in SOURCES[target]:
            status = target
    assert status is Status.READ


@given(st.lists(st.sampled_from(Status), min_size=1))
def test_a_notification_is_as_far_as_its_furthest_delivery(statuses: list[Status]) -> None:
    assert overall(statuses) in statuses
    if Status.READ in statuses:
        assert overall(statuses) is Status.READ
    if set(statuses) & OPEN:
        assert overall(statuses) not in {Status.FAILED, Status.SUPPRESSED, Status.CANCELLED}


def test_only_rows_that_wait_for_a_receipt_reach_their_own_status() -> None:
    selves = {target for target, sources in SOURCES.items() if target in sources}
    assert selves == {Status.SENT, Status.UNKNOWN}


def test_every_pair_is_decided() -> None:
    pairs = set(itertools.product(Status, Status))
    legal = {(source, target) for target, sources in SOURCES.items() for source in sources}
    assert legal < pairs
