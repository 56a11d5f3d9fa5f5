"""Reach: each notification counts once, by the best of its deliveries."""

from __future__ import annotations

import datetime as dt
import random  # noqa: TID251 - the seed repeats a history
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from django.db import connection

from notifications.core import broker, clock
from notifications.core.delivery import routing
from notifications.core.feedback import delivery_receipts
from notifications.core.figures import reach as figures
from notifications.core.models import Delivery, Notification, ProviderRoute
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reach import Reach, ReachCounts, ReachResult, event_share, share
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN as OPEN_STATUSES
from notifications.core.rules.states import Status
from notifications.core.store.postgres import partitions
from providers.contract import Channel, Receipt, ReceiptKind
from tests.journey import (
    CHAIN,
    Accept,
    AddVendor,
    add_vendor,
    caller,
    chain_of,
    chain_statuses,
    deliver_chain,
    outbox,
    reach,
    take,
)
from tests.store.random_history import History

__all__ = ["add_vendor", "caller", "outbox", "reach", "take"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("whole_tables")]
_DAY: Final = dt.timedelta(days=1)
_SILENT: Final = "silent"
"""A provider without receipts; the sandbox gives receipts."""
REACHED, OPEN, UNCONFIRMED, FAILED, REJECTED = ReachResult
Made = dict[str, Any]


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "takes_messages", lambda: False)


@pytest.fixture(autouse=True)
def _silent(add_vendor: AddVendor) -> Iterator[None]:
    add_vendor(_SILENT, gives_receipts=False)
    routing.forget()
    yield
    routing.forget()


def one(status: Status, reason: str = "", **columns: object) -> Made:
    """Return the columns of a delivery."""
    return {"status": status, "reason": reason, "provider": "sandbox", **columns}


def notify(
    *deliveries: Made,
    priority: Priority = Priority.P1,
    mode: Mode = Mode.LIVE,
    ago: dt.timedelta = dt.timedelta(minutes=1),
    **columns: object,
) -> Notification:
    """Store a notification that was accepted some time ago, with its deliveries."""
    at = clock.now() - ago
    partitions.ensure(at.date(), days=0)
    made = Notification.objects.create(
        id=ids.notification_id(
            at_ms=round(at.timestamp() * 1000), entropy=random.getrandbits(ids.RANDOM_BITS)
        ),
        producer_id=1,
        mode=mode,
        priority=priority,
        type="OTP",
        recipient_id=1,
        user_id="maria",
        spread="first",
        expires_at=at + dt.timedelta(hours=1),
        created_at=at,
        **columns,
    )
    Delivery.objects.bulk_create(
        Delivery(**{
            "id": ids.delivery_id(made.id, number),
            "mode": mode,
            "priority": priority,
            "channel": Channel.PUSH,
            "recipient_id": 1,
            "contact_id": 1,
            **each,
        })
        for number, each in enumerate(deliveries, start=1)
    )
    return made


def count(**options: int) -> Reach:
    return figures.count(now=clock.now(), **options)


def total() -> dict[ReachResult, int]:
    return dict(count().total)


def test_a_chain_whose_push_failed_and_whose_sms_was_delivered_is_one_reached_notification(
    reach: Callable[..., object], take: Accept
) -> None:
    reach(push="token.400", sms="+15552020300")
    answer = take(**CHAIN)
    assert total() == {OPEN: 1}
    deliver_chain(answer)
    assert chain_statuses(answer)[0] == ("push", "failed", "escalated")
    assert total() == {OPEN: 1}
    deliver_chain(answer)
    sms = chain_of(answer)[1]
    assert sms.status == Status.SENT
    assert set(total()) <= {OPEN, UNCONFIRMED}, "the SMS provider gives receipts, and none has come"
    receipt = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=sms.id)
    assert delivery_receipts.record("sandbox", [receipt]) == 1
    found = count()
    assert dict(found.of[Priority.P0]) == {REACHED: 1}
    assert share(found.total) == 1.0


def test_a_chain_that_no_provider_took_does_not_count_as_reached(
    reach: Callable[..., object], take: Accept
) -> None:
    reach(push="token.400", sms="+15554000000")
    answer = take(**CHAIN)
    deliver_chain(answer)
    deliver_chain(answer)
    assert chain_statuses(answer)[1] == ("sms", "failed", "permanent")
    found = count()
    assert dict(found.total) == {REJECTED: 1}
    assert share(found.total) == 0.0


def test_acceptance_by_a_provider_without_receipts_is_the_best_that_can_be_known(
    reach: Callable[..., object], take: Accept
) -> None:
    ProviderRoute.objects.create(channel=Channel.PUSH, provider=_SILENT)
    routing.forget()
    reach(push="token")
    deliver_chain(take(**CHAIN))
    assert total() == {REACHED: 1}


_WITHOUT_RECEIPTS: Final = {"provider": _SILENT}


@pytest.mark.parametrize(
    ("deliveries", "result"),
    [
        pytest.param([one(Status.FAILED, "retries_exhausted")] * 2, FAILED, id="all channels fail"),
        pytest.param([one(Status.FAILED, "escalated"), one(Status.READ)], REACHED, id="read"),
        pytest.param([one(Status.BOUNCED), one(Status.DELIVERED)], REACHED, id="other mailbox"),
        pytest.param([one(Status.BOUNCED), one(Status.FAILED, "permanent")], REJECTED, id="dead"),
        pytest.param(
            [one(Status.FAILED, "permanent"), one(Status.EXPIRED, "ttl_passed")],
            FAILED,
            id="refused and too late",
        ),
        pytest.param(
            [one(Status.FAILED, "escalated"), one(Status.FAILED, "permanent")],
            REJECTED,
            id="the last channel decides",
        ),
        pytest.param(
            [one(Status.FAILED, "escalated"), one(Status.SUPPRESSED, "opted_out")],
            FAILED,
            id="no further channel",
        ),
        pytest.param([one(Status.UNKNOWN, "closed_unanswered")], FAILED, id="no answer in a day"),
        pytest.param([one(Status.SUPPRESSED, "stale")], FAILED, id="dropped by a late lane"),
        pytest.param([one(Status.SENT)], UNCONFIRMED, id="no receipt"),
        pytest.param(
            [one(Status.UNCONFIRMED), one(Status.FAILED, "ttl_exceeded")],
            UNCONFIRMED,
            id="perhaps the push arrived",
        ),
        pytest.param([one(Status.SENT, **_WITHOUT_RECEIPTS)], REACHED, id="no receipt can come"),
        pytest.param(
            [one(Status.SENT, due_at=dt.datetime.max.replace(tzinfo=dt.UTC), **_WITHOUT_RECEIPTS)],
            OPEN,
            id="in the confirm window",
        ),
        pytest.param([one(Status.SENT, provider="dry_run")], UNCONFIRMED, id="a dry run"),
        pytest.param([one(Status.FAILED, "permanent"), one(Status.RETRYING)], OPEN, id="retries"),
        pytest.param([one(Status.DELIVERED), one(Status.RETRYING)], REACHED, id="two devices"),
    ],
)
def test_the_best_delivery_decides(deliveries: list[Made], result: ReachResult) -> None:
    notify(*deliveries)
    assert total() == {result: 1}


@pytest.mark.parametrize(
    "deliveries",
    [
        [],
        [one(Status.CANCELLED, "cancelled")],
        *([one(Status.SUPPRESSED, each)] for each in ("opted_out", "capped", "no_contact")),
        [one(Status.EXPIRED, "ttl_passed_in_quiet_hours")],
        [one(Status.EXPIRED, "ttl_passed_while_paused"), one(Status.SUPPRESSED, "opted_out")],
    ],
)
def test_a_notification_that_nobody_tried_to_send_does_not_count(deliveries: list[Made]) -> None:
    notify(*deliveries)
    assert total() == {}
    assert share(count().total) is None


def test_test_mode_cancelled_and_old_notifications_do_not_count() -> None:
    lost = one(Status.FAILED, "retries_exhausted")
    notify(lost, mode=Mode.TEST)
    notify(lost, cancelled_at=clock.now())
    notify(lost, ago=4 * _DAY)
    assert total() == {}
    notify(lost, ago=2 * _DAY)
    found = count()
    assert dict(found.total) == {FAILED: 1}
    assert found.recent == ReachCounts(), "accepted before yesterday"


def test_priorities_are_apart_and_a_batch_counts_each_notification() -> None:
    for _ in range(30):
        notify(one(Status.DELIVERED), one(Status.DELIVERED), priority=Priority.P3)
    notify(one(Status.FAILED, "ttl_exceeded"), priority=Priority.P0)
    found = count()
    assert dict(found.of[Priority.P3]) == {REACHED: 30}
    assert dict(found.of[Priority.P0]) == {FAILED: 1}
    assert share(found.total) == 30 / 31
    assert event_share(found.total).bad == 1
    assert found.percent == 100


def _many(first: int, end: int) -> None:
    """Store delivered notifications of today."""
    low = str(ids.floor_of(clock.now().date()))[:13]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO notification (id, producer_id, priority, type, recipient_id, user_id,"
            " spread, expires_at, created_at, variables)"
            " SELECT (%s || '-7000-8000-' || lpad(to_hex(n), 9, '0') || '000')::uuid, 1, 2, 'LIKE',"
            " n, n::text, 'first', now(), now(), jsonb_build_object('name', repeat('x', 200))"
            " FROM generate_series(%s, %s) n",
            [low, first, end - 1],
        )
        cursor.execute(
            "INSERT INTO delivery (id, mode, priority, channel, status, recipient_id, contact_id)"
            " SELECT (left(id::text, 33) || '001')::uuid, 1, priority, 1, %s, recipient_id, 1"
            " FROM notification",
            [Status.DELIVERED],
        )


def test_a_large_table_is_sampled_at_random() -> None:
    _many(0, 20_000)
    whole = count()
    assert (whole.total[REACHED], whole.percent) == (20_000, 100)
    sampled = count(pages=100)
    assert sampled.percent < 50
    assert 0 < sampled.total[REACHED] < 10_000
    assert sampled == count(pages=100), "two counts of the same rows read the same pages"


# --- The same count, naively, over random histories.


def _naive(now: dt.datetime) -> Counter[tuple[Priority, ReachResult]]:
    found: Counter[tuple[Priority, ReachResult]] = Counter()
    for each in Notification.objects.filter(mode=Mode.LIVE, cancelled_at=None):
        result = _result([
            row for row in Delivery.objects.all() if ids.notification_of(row.id) == each.id
        ])
        if result and now - 3 * _DAY <= ids.time_of(each.id) < now:
            found[Priority(each.priority), result] += 1
    return found


def _result(rows: list[Delivery]) -> ReachResult | None:
    said = {_of_delivery(row) for row in rows} - {None}
    for result in (REACHED, OPEN, UNCONFIRMED, FAILED, REJECTED):
        if result in said:
            return result
    return FAILED if "escalated" in said else None


def _of_delivery(row: Delivery) -> ReachResult | str | None:
    """Return the result of a delivery alone; "escalated": the next channel decides."""
    status = Status(row.status)
    if status in {Status.DELIVERED, Status.READ}:
        return REACHED
    if status is Status.SENT and row.due_at is None and row.provider == _SILENT:
        return REACHED
    if status in OPEN_STATUSES or row.due_at is not None:
        return OPEN
    return _BY_REASON.get((status, row.reason), _BY_STATUS[status])


_BY_STATUS: Final = {
    Status.SENT: UNCONFIRMED,
    Status.UNCONFIRMED: UNCONFIRMED,
    Status.BOUNCED: REJECTED,
    Status.FAILED: FAILED,
    Status.EXPIRED: FAILED,
    Status.UNKNOWN: FAILED,
    Status.SUPPRESSED: None,
    Status.CANCELLED: None,
}
_BY_REASON: Final[dict[tuple[Status, str], ReachResult | str | None]] = {
    (Status.FAILED, "permanent"): REJECTED,
    (Status.FAILED, "receipt_failed"): REJECTED,
    (Status.FAILED, "escalated"): "escalated",
    (Status.EXPIRED, "ttl_passed_in_quiet_hours"): None,
    (Status.EXPIRED, "ttl_passed_while_paused"): None,
    (Status.SUPPRESSED, "stale"): FAILED,
}
_REASONS: Final[dict[Status, list[str]]] = {
    Status.FAILED: ["permanent", "receipt_failed", "escalated", "retries_exhausted"],
    Status.EXPIRED: ["ttl_passed", "ttl_passed_in_quiet_hours", "ttl_passed_while_paused"],
    Status.SUPPRESSED: [Reason.STALE, Reason.OPTED_OUT],
}


@pytest.mark.parametrize("seed", range(5))
def test_the_figure_is_the_naive_count_of_a_random_history(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - guards no secret
    now = clock.now()
    history = History(dice)
    for _ in range(150):
        history.step()
    for row in Delivery.objects.all():
        row.provider = dice.choice([row.provider, _SILENT, "sandbox"])
        row.reason = dice.choice(_REASONS.get(Status(row.status), [""]))
        row.due_at = now if row.status == Status.SENT and dice.random() < 0.3 else row.due_at
        row.save()
    for each in Notification.objects.all():
        each.cancelled_at = now if dice.random() < 0.1 else None
        each.save()
    found = figures.count(now=now)
    counted = {(of, result): n for of, counts in found.of.items() for result, n in counts.items()}
    assert counted == dict(_naive(now))
    assert len(counted) > 3, "the history has several priorities and results"
