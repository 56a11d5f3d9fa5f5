"""Client receipts: apply the reports of a recipient's app to the recipient's deliveries.

The reports take the same transition table as receipts of providers, so a report may come early,
late, twice, out of order or never, and at the same time as a receipt of the provider. Concurrent
calls share a transaction (see `receipt_groups`).

A report counts only for a delivery of the token's recipient and mode that a provider was called
for. The lookup and the guard of the transition both check this. A report about anything else is
ignored, and the caller does not learn whether the delivery exists.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import structlog
from django.db import Error

from notifications.core import feature
from notifications.core.delivery.mail_tracking import TrackedDelivery
from notifications.core.feedback import fallback_receipts
from notifications.core.feedback.receipt_groups import receipt_group
from notifications.core.models import Notification
from notifications.core.rules import ids
from notifications.core.rules.client_receipts import MEANS, ClientReceiptKind, TokenHolder
from notifications.core.rules.lane import Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.times import stages
from notifications.core.rules.transitions import DELIVER, READ, Transition
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import db, id_ranges, secret_variables
from notifications.core.store.postgres.short_links import FollowedLink
from notifications.core.store.postgres.transitions import Move, OfRecipients
from providers.contract import Channel

_APP_CHANNELS: Final = [int(Channel.PUSH), int(Channel.IN_APP)]
"""Channels whose messages an app gets."""
_ACCEPTED: Final = [
    int(each)
    for each in (Status.SENT, Status.UNCONFIRMED, Status.UNKNOWN, Status.DELIVERED, Status.READ)
]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientReceipt:
    """A report about a delivery, or about the delivery of a notification to the app."""

    kind: ClientReceiptKind
    subject: UUID
    """Id of a delivery or of a notification; the two never have the same id."""
    occurred_at: dt.datetime | None = None


class _Call(NamedTuple):
    """The reports of one HTTP call."""

    holder: TokenHolder
    receipts: Sequence[ClientReceipt]
    from_app: bool = True


def record(holder: TokenHolder, receipts: Sequence[ClientReceipt], *, from_app: bool = True) -> int:
    """Apply the reports; return the number of changed deliveries. Safe to run twice.

    With `from_app` the contacts note that an app at their address sends receipts, and the features
    learn which messages were opened (`feature.Feature.opened`).
    """
    if not receipts:
        return 0
    changed = _group.run(_Call(holder, receipts, from_app))
    if from_app:
        opened = [each.subject for each in receipts if MEANS[each.kind][0] is READ]
        for tell in feature.functions("opened"):
            tell(holder.recipient_id, opened)
    return changed


def _record(calls: Sequence[_Call]) -> list[int]:
    reported = [(call.holder, receipt) for call in calls for receipt in call.receipts]
    targets = {row["place"]: row for row in _targets(reported)}
    owners = {row["id"]: reported[place][0] for place, row in targets.items()}
    moves: dict[Transition, dict[UUID, Move]] = defaultdict(dict)
    for kind, (means, reason) in MEANS.items():
        for place, row in targets.items():
            receipt = reported[place][1]
            if receipt.kind is kind:
                moves[means][row["id"]] = Move(
                    id=row["id"],
                    reason=reason,
                    occurred_at=stages.storable(receipt.occurred_at),
                )
    moved: set[UUID] = set()
    for means in (DELIVER, READ):
        moved.update(fallback_receipts.apply(means, moves[means], OfRecipients(owners)))
    clicked = {
        key: move.occurred_at
        for key, move in moves[READ].items()
        if move.reason is Reason.CLIENT_CLICKED and key not in moved
    }
    record_clicks(clicked)  # a message that was opened first keeps its status
    apps = [call.from_app for call in calls for _ in call.receipts]
    _remember_contacts(
        {row["contact_id"] for place, row in targets.items() if apps[place]} - {None}
    )
    secret_variables.wipe({ids.notification_of(each) for each in moved})
    return _counts(calls, targets, moved)


def _counts(
    calls: Sequence[_Call], targets: Mapping[int, Mapping[str, Any]], moved: set[UUID]
) -> list[int]:
    """Return the number of changed deliveries by call; a change counts for its first call only."""
    counts, place = [], 0
    for call in calls:
        end = place + len(call.receipts)
        mine = moved & {targets[each]["id"] for each in range(place, end) if each in targets}
        moved = moved - mine
        counts.append(len(mine))
        place = end
    return counts


def _targets(reported: Sequence[tuple[TokenHolder, ClientReceipt]]) -> list[dict[str, Any]]:
    """Return the place of a report in the list, the id of its delivery and the contact."""
    subjects = [receipt.subject for _, receipt in reported]
    parameters = {
        **id_ranges.around(subjects),
        "places": list(range(len(reported))),
        "lows": subjects,
        "highs": [each if ids.number_of(each) else ids.last_delivery_of(each) for each in subjects],
        "recipients": [holder.recipient_id for holder, _ in reported],
        "modes": [int(holder.mode) for holder, _ in reported],
        "app_channels": _APP_CHANNELS,
        "accepted": _ACCEPTED,
    }
    return db.rows("client_receipt_targets", parameters)


def _remember_contacts(contact_ids: set[int]) -> None:
    """Note on the contacts that their app sends receipts, at most once a day for each contact."""
    if contact_ids:
        parameters = {"ids": sorted(contact_ids)}
        db.in_transaction(lambda: db.run("client_receipt_contacts", parameters))


def record_clicks(clicked: Mapping[UUID, dt.datetime | None]) -> None:
    """Add the event of a click to each read delivery without one. Safe to run twice and at once.

    Args:
        clicked: delivery to the time of the click, if the report has one.
    """
    if not clicked:
        return
    span = id_ranges.around(clicked)

    def work() -> None:
        asked = {"ids": list(clicked), "read": Status.READ, **span}
        ids = [row["id"] for row in db.rows("clicks_lock", asked)]
        if ids:
            times = [clicked[each] for each in ids]
            reason = Reason.CLIENT_CLICKED.value
            db.run("clicks_add", {"ids": ids, "occurred_at": times, "reason": reason, **span})

    db.in_transaction(work)


def record_visit(tracked: TrackedDelivery, kind: ClientReceiptKind) -> None:
    """Record a visit. Safe to run twice.

        pixel of an e-mail          read   client_opened
        tracked link of an e-mail   read   client_clicked
        short link of an SMS        read   client_clicked, if the type has `tracks_clicks`

    A visit proves less than a report of an app: a mail program may load pictures in advance, and a
    mail gateway may follow links. So a visit does not note on the contact that an app sends
    receipts. A database that is away costs the record, never the picture or the redirect.
    """
    receipt = ClientReceipt(kind=kind, subject=tracked.delivery_id)
    with _tolerating_an_absent_database(kind):
        record(tracked.holder, [receipt], from_app=False)


def record_link_click(link: FollowedLink) -> None:
    """Record a click on a short link, if the notification's type tracks clicks."""
    with _tolerating_an_absent_database(ClientReceiptKind.CLICKED):
        tracked = _delivery_of(link)
        if tracked is not None:
            record_visit(tracked, ClientReceiptKind.CLICKED)


def _delivery_of(link: FollowedLink) -> TrackedDelivery | None:
    """Return the delivery of a short link; None if its type does not track clicks."""
    rules = notification_types.every()
    if not any(rule.tracks_clicks for rule in rules.values()):
        return None
    rows = Notification.objects.filter(pk=ids.notification_of(link.delivery_id))
    found = rows.values_list("type", "recipient_id", "mode").first()
    if found is None or found[0] not in rules or not rules[found[0]].tracks_clicks:
        return None
    _, recipient_id, mode = found
    return TrackedDelivery(TokenHolder(recipient_id, Mode(mode)), link.delivery_id)


@contextmanager
def _tolerating_an_absent_database(kind: ClientReceiptKind) -> Iterator[None]:
    """Log an error of the database, and go on."""
    try:
        yield
    except Error as error:
        _log.warning("visit_not_recorded", kind=kind.value, error=type(error).__name__)


_group: Final = receipt_group(_record)
