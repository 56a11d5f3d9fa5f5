"""Inbox reports: the deliveries of items that the recipient has seen or read.

    seen    the in_app delivery is `delivered`
    read    the in_app delivery and the push deliveries of the notification are `read`, devices
            that still show the push are told to remove it, and a push that waits is cancelled

The transaction that marks an item writes a report (`features.inbox.rows.reports`); the sweep
`inbox_reports` applies the reports within about a second. The transition table decides as for every
receipt, so a report may come early, late, twice, or together with a receipt of a phone. A killed
sweep repeats its reports at the end of the lease.

A push is removed within a day of the notification: an older push has left the screen, and each
removal is a silent push, of which vendors allow a phone only a few.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.feedback import fallback_receipts
from notifications.core.models import Recipient
from notifications.core.rules import ids, withdrawals
from notifications.core.rules.client_receipts import TokenHolder
from notifications.core.rules.lane import Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import DELIVER, READ
from notifications.core.store.postgres import db, id_ranges, secret_variables
from notifications.core.store.postgres import withdrawals as stored_withdrawals
from notifications.core.store.postgres.transitions import Move, OfRecipients
from notifications.features.inbox.rows import reports
from notifications.features.inbox.rows.reports import InboxReport
from providers.contract import Channel

REMOVES_WITHIN: Final = dt.timedelta(days=1)
"""Age of a notification after which a shown push is left alone."""


def apply_due(*, limit: int) -> int:
    """Apply up to `limit` due reports; returns their number. Safe to run twice and concurrently."""
    claimed = reports.claim(limit=limit)
    if claimed:
        _apply([each for each in claimed if each.notification_id is not None])
        reports.end(claimed)
    return len(claimed)


def _apply(claimed: Sequence[InboxReport]) -> None:
    holders = _holders(claimed)
    known = {each.item_id: each for each in claimed if each.recipient_id in holders}
    owners = {each.item_id: holders[each.recipient_id] for each in known.values()}
    opened = {item_id: each for item_id, each in known.items() if each.read_at}
    seen = {
        item_id: Move(id=item_id, reason=Reason.INBOX_SEEN, occurred_at=each.seen_at)
        for item_id, each in known.items()
        if each.seen_at and not each.read_at
    }
    read = {item_id: _read(item_id, each) for item_id, each in opened.items()}
    pushes = _pushes(opened)
    for row in [each for each in pushes if each["was_called"]]:
        read[row["id"]] = _read(row["id"], opened[row["item_id"]])
        owners[row["id"]] = owners[row["item_id"]]
    moved: set[UUID] = set()

    def work() -> None:
        moved.clear()
        moved.update(fallback_receipts.apply(DELIVER, seen, OfRecipients(owners)))
        moved.update(fallback_receipts.apply(READ, read, OfRecipients(owners)))
        _remove_pushes([row for row in pushes if row["id"] in moved])
        fallback_receipts.stop_waiting(row["id"] for row in pushes if not row["was_called"])

    if known:
        db.in_transaction(work)
        secret_variables.wipe({ids.notification_of(each) for each in moved})


def _holders(claimed: Iterable[InboxReport]) -> dict[int, TokenHolder]:
    """Return recipients without erased recipients."""
    found = Recipient.objects.filter(pk__in={each.recipient_id for each in claimed})
    return {pk: TokenHolder(pk, Mode(mode)) for pk, mode in found.values_list("pk", "mode")}


def _read(delivery_id: UUID, found: InboxReport) -> Move:
    return Move(id=delivery_id, reason=Reason.INBOX_READ, occurred_at=found.read_at)


def _pushes(read: Mapping[UUID, InboxReport]) -> list[dict[str, Any]]:
    """Return the push deliveries of the notifications of read items: called, and waiting."""
    if not read:
        return []
    notifications = [ids.notification_of(each) for each in read]
    parameters = {
        **id_ranges.around(notifications),
        "items": list(read),
        "lows": notifications,
        "highs": [ids.last_delivery_of(each) for each in notifications],
        "recipients": [each.recipient_id for each in read.values()],
        "push": Channel.PUSH,
        "waiting": fallback_receipts.WAITING,
    }
    return db.rows("inbox_pushes", parameters)


def _remove_pushes(pushes: Sequence[Mapping[str, Any]]) -> None:
    """Start the removal of shown pushes that have just become `read`."""
    if not conf.current().inbox_removes_read_pushes:
        return
    now = clock.now()
    shown = [
        row["id"]
        for row in pushes
        if now - ids.time_of(row["id"]) < REMOVES_WITHIN and _withdraws(row["provider"])
    ]
    if shown:
        ends_at = withdrawals.ends_at(now=now, expires_at=now)
        stored_withdrawals.add(shown, ends_at=ends_at, now=now)


def _withdraws(provider: str) -> bool:
    found = routing.provider_named(provider)
    return found is not None and found.capabilities.withdraws
