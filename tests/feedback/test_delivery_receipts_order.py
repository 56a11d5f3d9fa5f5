"""Receipts of every provider: early, late, twice, in any order, and for what is not theirs."""

from __future__ import annotations

import datetime as dt
import itertools
from uuid import UUID

import pytest
from django.db import connection

from notifications.core import clock, conf
from notifications.core.feedback import delivery_receipts
from notifications.core.models import Delivery, Event
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import partitions
from providers import registry
from providers.contract import Receipt, ReceiptKind
from tests.store.stored_rows import MakeDelivery

PROVIDERS = ("anymail", "aws_eum", "sandbox", "ses", "twilio", "vonage")
MESSAGE_ID = "message-1"
DAY = dt.timedelta(days=1)
DELIVERED, READ, BOUNCED = ReceiptKind.DELIVERED, ReceiptKind.READ, ReceiptKind.BOUNCED

echoed = pytest.mark.parametrize("is_echoed", [True, False], ids=["our id", "their id"])
of_every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def _sent(make_delivery: MakeDelivery, provider: str, **columns: object) -> UUID:
    row = {"provider": provider, "provider_message_id": MESSAGE_ID, "due_at": None, "attempts": 1}
    return make_delivery(**({"status": Status.SENT} | row | columns))


def _receipt(kind: ReceiptKind, delivery_id: UUID, *, is_echoed: bool = True) -> Receipt:
    return Receipt(
        kind=kind,
        delivery_id=delivery_id if is_echoed else None,
        provider_message_id=MESSAGE_ID,
    )


def _status(delivery_id: UUID) -> Status:
    return Status(Delivery.objects.get(pk=delivery_id).status)


def _told(delivery_id: UUID) -> list[int | None]:
    rows = Event.objects.filter(notification_id=ids.notification_of(delivery_id))
    reasons = ("receipt_delivered", "receipt_read", "receipt_bounced", "receipt_failed")
    return list(rows.filter(reason__in=reasons).order_by("seq").values_list("status", flat=True))


def test_every_provider_that_sends_receipts_is_here() -> None:
    assert {vendor.name for vendor in registry.VENDORS} > set(PROVIDERS)


@of_every_provider
@echoed
@pytest.mark.parametrize("order", sorted(set(itertools.permutations([DELIVERED, DELIVERED, READ]))))
def test_every_order_ends_in_the_same_status(
    make_delivery: MakeDelivery, provider: str, *, is_echoed: bool, order: tuple[ReceiptKind, ...]
) -> None:
    delivery_id = _sent(make_delivery, provider)
    changed = [
        delivery_receipts.record(provider, [_receipt(kind, delivery_id, is_echoed=is_echoed)])
        for kind in order
    ]
    assert _status(delivery_id) is Status.READ
    assert sum(changed) == (1 if order[0] is READ else 2)
    assert _told(delivery_id) == (
        [Status.READ] if order[0] is READ else [Status.DELIVERED, Status.READ]
    )


@of_every_provider
@echoed
def test_an_early_receipt_counts_before_the_workers_own_result(
    make_delivery: MakeDelivery, provider: str, *, is_echoed: bool
) -> None:
    delivery_id = _sent(make_delivery, provider, status=Status.SENDING)
    receipt = _receipt(DELIVERED, delivery_id, is_echoed=is_echoed)
    assert delivery_receipts.record(provider, [receipt]) == 1
    assert _status(delivery_id) is Status.DELIVERED


@of_every_provider
@echoed
def test_a_late_receipt_counts_after_the_delivery_was_given_up(
    make_delivery: MakeDelivery, provider: str, *, is_echoed: bool
) -> None:
    delivery_id = _sent(make_delivery, provider, status=Status.EXPIRED)
    receipt = _receipt(DELIVERED, delivery_id, is_echoed=is_echoed)
    assert delivery_receipts.record(provider, [receipt, receipt]) == 1
    assert _told(delivery_id) == [Status.DELIVERED]


@of_every_provider
def test_a_bounce_is_the_last_word(make_delivery: MakeDelivery, provider: str) -> None:
    delivery_id = _sent(make_delivery, provider)
    for kind in (DELIVERED, BOUNCED, DELIVERED, READ):
        delivery_receipts.record(provider, [_receipt(kind, delivery_id)])
    assert _status(delivery_id) is Status.BOUNCED
    assert _told(delivery_id) == [Status.DELIVERED, Status.BOUNCED]


@of_every_provider
@echoed
def test_a_receipt_for_a_purged_message_changes_nothing_and_makes_no_partition(
    purged: UUID, provider: str, *, is_echoed: bool
) -> None:
    receipt = _receipt(DELIVERED, purged, is_echoed=is_echoed)
    assert delivery_receipts.record(provider, [receipt]) == 0
    assert ids.day_of(purged) not in partitions.existing()


@of_every_provider
@echoed
@pytest.mark.parametrize("kind", ReceiptKind)
def test_a_receipt_changes_neither_another_providers_rows_nor_those_of_test_keys(
    make_delivery: MakeDelivery, provider: str, *, is_echoed: bool, kind: ReceiptKind
) -> None:
    other = next(name for name in PROVIDERS if name != provider)
    # The rows of test keys are the sandbox's; a real provider has live rows only.
    mode = Mode.TEST if other == "sandbox" else Mode.LIVE
    delivery_id = _sent(make_delivery, other, mode=mode)
    receipt = _receipt(kind, delivery_id, is_echoed=is_echoed)
    assert delivery_receipts.record(provider, [receipt]) == 0
    assert _status(delivery_id) is Status.SENT


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "sandbox"])
def test_live_and_test_rows_with_one_message_id_change_by_their_own_provider_only(
    make_delivery: MakeDelivery, provider: str
) -> None:
    live = _sent(make_delivery, provider)
    test = _sent(make_delivery, "sandbox", mode=Mode.TEST)
    for row in (live, test):
        assert delivery_receipts.record(provider, [_receipt(DELIVERED, row)]) == (row == live)
    assert (_status(live), _status(test)) == (Status.DELIVERED, Status.SENT)
    for row in (live, test):
        assert delivery_receipts.record("sandbox", [_receipt(DELIVERED, row)]) == (row == test)
    for name in (provider, "sandbox"):
        receipt = _receipt(READ, live, is_echoed=False)
        assert delivery_receipts.record(name, [receipt]) == 1, "each finds the row of its own"
    assert (_status(live), _status(test)) == (Status.READ, Status.READ)


@pytest.mark.parametrize("from_now", [-DAY, 400 * DAY, -10_000 * DAY])
def test_the_time_of_the_provider_is_kept_as_it_was_given(
    make_delivery: MakeDelivery, from_now: dt.timedelta
) -> None:
    occurred_at = clock.now() + from_now
    delivery_id = _sent(make_delivery, "twilio")
    receipt = Receipt(kind=DELIVERED, delivery_id=delivery_id, occurred_at=occurred_at)
    assert delivery_receipts.record("twilio", [receipt]) == 1
    [event] = Event.objects.filter(reason="receipt_delivered")
    assert event.occurred_at == occurred_at
    assert abs(event.at - clock.now()) < DAY


def test_a_time_that_names_no_instant_is_left_out(make_delivery: MakeDelivery) -> None:
    delivery_id = _sent(make_delivery, "twilio")
    edge = dt.datetime.max.replace(tzinfo=dt.timezone(-DAY / 2))
    receipt = Receipt(kind=DELIVERED, delivery_id=delivery_id, occurred_at=edge)
    assert delivery_receipts.record("twilio", [receipt]) == 1
    assert Event.objects.get(reason="receipt_delivered").occurred_at is None


def test_a_release_without_the_column_still_writes_events(make_delivery: MakeDelivery) -> None:
    """The statement of the release before, while both releases run."""
    delivery_id = _sent(make_delivery, "twilio")
    with connection.cursor() as running:
        running.execute(
            "INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)"
            " VALUES (%s, %s, %s, 'receipt_delivered', '', now())",
            [ids.notification_of(delivery_id), delivery_id, Status.DELIVERED],
        )
    assert Event.objects.get(reason="receipt_delivered").occurred_at is None


@pytest.fixture
def purged(db: None) -> UUID:  # noqa: ARG001 - pytest-django asks for it by name
    """A delivery of a day past the retention."""
    day = clock.now().date() - (conf.current().retention + 5 * DAY)
    return ids.delivery_id(ids.floor_of(day), 1)
