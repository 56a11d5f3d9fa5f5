"""Contacts reported as dead by a provider, or with an address replaced by a provider.

A dead contact is invalid at once, for queued and later sends, with provider, reason and time. A
live number or mailbox also enters the suppression list. A contact is valid again by an operator, by
the vendor's removal of the vendor's entry, and by the app of a device registered again. Webhook
endpoints learn of the contact (`contact.invalidated`), in the same transaction.

A report can come late or again. A report has no effect if a bounce or complaint of the address was
undone after the report's event. A bounce has no effect either if the contact was changed after the
event, or registered after the vendor's own time of the end: the operator, the producer or the app
decided later. The next call to a dead address leads to a new report.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from django.db import Error

from notifications.core.models import Contact, Delivery
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import CALLED_DEAD, LISTED, Cause
from notifications.core.rules.webhook_events import StatusEvent
from notifications.core.store.postgres import attempts, audit, db

_LONGEST_REASON: Final = 200
"""Characters of the column."""
_MOVE: Final = "move_contact"
"""Operation in the audit log."""

_log = structlog.get_logger(__name__)


class DeadReport(NamedTuple):
    """A provider's report of a dead address."""

    reason: str
    at: dt.datetime | None = None
    """Time of the report's event, or of the claim or the start of the call; None: now."""

    gone_since: dt.datetime | None = None
    """The vendor's own time of the end of the address; None: the vendor names no time."""


def invalidate(
    reports: Mapping[int, DeadReport], *, provider: str, cause: Cause = Cause.BOUNCE
) -> None:
    """Mark contacts invalid, by contact id; an invalid contact keeps the first reason."""
    if reports:
        db.run(
            "invalidate_contacts",
            {
                "ids": list(reports),
                "reasons": [each.reason[:_LONGEST_REASON] for each in reports.values()],
                "at": [each.at for each in reports.values()],
                "gone_since": [each.gone_since for each in reports.values()],
                "called_dead": sorted(CALLED_DEAD),
                "provider": provider,
                "cause": cause.value,
                "live": Mode.LIVE,
                "listed": sorted(LISTED),
                "event": StatusEvent.CONTACT_INVALIDATED.value,
            },
        )


def invalidate_of_deliveries(
    reports: Mapping[UUID, DeadReport], *, provider: str, cause: Cause = Cause.BOUNCE
) -> None:
    """Mark the contacts of deliveries invalid; ignores deliveries of other providers.

    A report of a call is at most as old as the start of the call, by any clock of the provider.
    """
    if not reports:
        return
    theirs = Delivery.objects.filter(id__in=reports, provider=provider)
    began = attempts.last_began(reports)
    newest: dict[int, DeadReport] = {}
    for key, contact in theirs.values_list("id", "contact_id"):
        if contact is None:
            continue
        times = [each for each in (reports[key].at, began.get(key)) if each is not None]
        report = DeadReport(reports[key].reason, max(times, default=None))
        known = newest.get(contact)
        if known is None or _is_newer(report, known):
            newest[contact] = report
    invalidate(newest, provider=provider, cause=cause)


def _is_newer(report: DeadReport, known: DeadReport) -> bool:
    return known.at is not None and (report.at is None or report.at > known.at)


class NewAddress(NamedTuple):
    """The new address of a contact, if the contact still has the old address."""

    old: str
    new: str


def record_moves(moves: Mapping[int, NewAddress], *, provider: str) -> None:
    """Store new addresses, by contact id, in a transaction of its own. Raises nothing.

    An example is a group of Telegram that became a supergroup. The provider is the author of the
    change, also in the audit log. A change of an operator or a producer since the call wins. Safe
    to run twice, late or never: while the contact has the old address, the provider names the new
    address at each call.
    """
    if not moves:
        return
    try:
        moved = db.in_transaction(lambda: _move(moves, provider=provider))
    except Error as error:  # the calls are settled, and the next call tells the address again
        _log.warning("contacts_not_moved", provider=provider, error=type(error).__name__)
        return
    for contact_id in moves:
        kept = contact_id not in moved
        _log.info("contact_moved", provider=provider, contact_id=contact_id, kept_address=kept)


def _move(moves: Mapping[int, NewAddress], *, provider: str) -> set[int]:
    """Store new addresses with entries of the audit log; returns the ids of moved contacts."""
    parameters = {
        "ids": list(moves),
        "old": [each.old for each in moves.values()],
        "new": [each.new for each in moves.values()],
        "provider": provider,
    }
    moved = {row["id"] for row in db.rows("move_contacts", parameters)}
    for contact in Contact.objects.filter(pk__in=moved).order_by("pk"):
        old, new = moves[contact.pk]
        before, after = {"address": old}, {"address": new}
        audit.record(provider, _MOVE, contact, before=before, after=after)
    return moved
