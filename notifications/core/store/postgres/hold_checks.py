"""Hold checks: recipients with changed settings, and the held deliveries of the recipients."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from notifications.core.rules.rate_limits.frequency_caps import Caps
from notifications.core.rules.reasons import RECIPIENTS_HOLDS
from notifications.core.rules.request import MAX_TTL
from notifications.core.rules.states import Status
from notifications.core.rules.times import local_time, quiet_hours
from notifications.core.rules.times.digest_times import Digests
from notifications.core.rules.times.quiet_hours import Windows
from notifications.core.store.postgres import db, id_ranges, reads

Row = Mapping[str, Any]
"""A row of `held_of_recipients.sql`."""
_FIRST_ID: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class HoldCheckDue:
    """A due check, with the recipient's current settings."""

    recipient_id: int
    changed_at: dt.datetime
    """The time of the change, which names the check."""
    checked_to: UUID
    """The check goes on behind this delivery."""
    timezone: str
    """IANA name; empty if unknown."""
    windows: Windows
    do_not_disturb_until: dt.datetime | None
    caps: Caps
    """The recipient's own caps."""
    digests: Digests


def due(*, limit: int) -> list[HoldCheckDue]:
    """Return up to `limit` due checks, the longest due first."""
    return [
        HoldCheckDue(
            recipient_id=row["recipient_id"],
            changed_at=row["changed_at"],
            checked_to=row["checked_to"] or _FIRST_ID,
            timezone=local_time.zone_name(row["timezone"]),
            windows=quiet_hours.parse_stored(row["quiet_hours"]),
            do_not_disturb_until=row["do_not_disturb_until"],
            caps=reads.read_caps(row["caps"]),
            digests=reads.read_digests(row["digests"]),
        )
        for row in db.rows("hold_checks_due", {"limit": limit})
    ]


def rows_on_hold(checks: Sequence[HoldCheckDue], *, page: int) -> Sequence[Row]:
    """Return a page of the held deliveries of each recipient, by recipient and id."""
    parameters = {
        **id_ranges.last_days(MAX_TTL.days),
        "recipients": [each.recipient_id for each in checks],
        "after": [each.checked_to for each in checks],
        "scheduled": Status.SCHEDULED,
        "page": page,
    }
    return db.rows("held_of_recipients", parameters)


def end_holds(delivery_ids: Sequence[UUID], *, grace: dt.timedelta) -> int:
    """Make held deliveries due now; returns their number. Safe to run twice."""
    if not delivery_ids:
        return 0
    parameters = {
        **id_ranges.around(delivery_ids),
        "ids": list(delivery_ids),
        "reasons": list(RECIPIENTS_HOLDS),
        "scheduled": Status.SCHEDULED,
        "grace": grace,
    }
    return len(db.fetch_in_own_transaction("end_holds", parameters))


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check."""

    check: HoldCheckDue
    next_at: dt.datetime | None
    """The time of the next one; None: the check is over."""
    checked_to: UUID = _FIRST_ID


def store(results: Sequence[CheckResult]) -> None:
    """Store results. After a change of settings in the meantime a recipient is checked anew."""
    if not results:
        return
    parameters = {
        "recipients": [each.check.recipient_id for each in results],
        "changed_at": [each.check.changed_at for each in results],
        "next_at": [each.next_at for each in results],
        "checked_to": [each.checked_to for each in results],
    }
    db.in_transaction(lambda: db.run("hold_checks_end", parameters))
