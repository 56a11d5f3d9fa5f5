"""Claims: take deliveries under a lease, and renew the lease before a provider call.

The statements leave out rows locked by other transactions (`locked_rows`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core import clock
from notifications.core.models import Delivery
from notifications.core.rules import suspects
from notifications.core.rules.lane import PACE, Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges, locked_rows
from providers.contract import Channel

_LEASES: Final = {
    "leases": [PACE[priority].lease for priority in Priority],
    "sending": Status.SENDING,
}


class Claimed(NamedTuple):
    """A delivery leased by the process."""

    id: UUID
    mode: Mode
    priority: Priority
    channel: Channel
    recipient_id: int
    contact_id: int
    attempts: int
    attempts_before: int
    resent: bool
    generation: int
    slot_provider: str
    slot_at: dt.datetime | None
    """Time of the send slot in the provider's bucket, if one was reserved."""
    falls_back: bool
    """True for a member of a fallback chain."""
    claims: int
    """Consecutive claims without a result, with this claim."""
    claimed_at: dt.datetime
    """Time of the claim on Postgres's clock, equal for all deliveries of a claim."""
    retry_due_at: dt.datetime | None
    """Due time of the retry that the claim takes; None: the delivery waited for no retry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The deliveries claimed by one task, and the token of the claim."""

    token: UUID
    deliveries: list[Claimed]
    at: dt.datetime
    """Postgres's clock at the claim."""
    locked: Sequence[UUID] = ()
    """Rows that another transaction holds: to publish again, as their message is acknowledged."""
    taken_at: float
    """The steady clock at the claim, in seconds; the clock counts a suspension of the host."""

    @property
    def now(self) -> dt.datetime:
        """Return the current time on Postgres's clock, independent of the host's clock."""
        return self.at + dt.timedelta(seconds=clock.steady() - self.taken_at)


def claim(delivery_ids: Sequence[UUID], *, now: dt.datetime) -> Claim:
    """Claim the due deliveries among the given ids under a lease."""
    token = clock.new_claim_token()
    taken, locked = locked_rows.leave_out(partial(_take, token), delivery_ids)
    return _claim(token, taken, now=now, locked=locked)


def claim_locked(delivery_ids: Sequence[UUID], *, now: dt.datetime) -> Claim:
    """Claim queued deliveries of a lane that the open transaction has locked.

    Args:
        delivery_ids: the deliveries; the list can be empty.
        now: the time of a claim without deliveries.
    """
    token = clock.new_claim_token()
    taken: list[Claimed] = []
    if delivery_ids:
        span = id_ranges.around(delivery_ids)
        asked = {**span, "ids": list(delivery_ids), "token": token, **_LEASES}
        taken = db.fetch_as("claim_locked", asked, _claim_of)
    return _claim(token, taken, now=now)


def _take(token: UUID, delivery_ids: Sequence[UUID]) -> list[Claimed]:
    parameters = {
        "ids": list(delivery_ids),
        "queued": Status.QUEUED,
        "retrying": Status.RETRYING,
        "waiting": [Status.RETRYING, Status.SCHEDULED],
        "poison": suspects.POISON_AFTER,
        "small_after": suspects.SMALL_AFTER,
        "small": suspects.SMALL,
        "alone_after": suspects.ALONE_AFTER,
        "token": token,
        **_LEASES,
    }
    return db.retry_refused(lambda: db.fetch_as("claim", parameters, _claim_of))


def _claim(
    token: UUID, taken: list[Claimed], *, now: dt.datetime, locked: Sequence[UUID] = ()
) -> Claim:
    at = taken[0].claimed_at if taken else now
    return Claim(token=token, deliveries=taken, at=at, locked=locked, taken_at=clock.steady())


def _claim_of(delivery_id: UUID, mode: int, priority: int, channel: int, *others: Any) -> Claimed:  # noqa: ANN401 - the rest of the row, as it comes
    lane = Lane.of(mode, priority, channel)
    return Claimed(delivery_id, lane.mode, lane.priority, lane.channel, *others)


def renew(delivery_ids: Sequence[UUID], *, token: UUID, provider: str) -> list[int | None]:
    """Before a wave of calls: renew the leases and count the calls, committed.

    Returns the numbers of the calls, in the order of the ids; None: the row is not under the lease.
    """
    parameters = {"token": token, "provider": provider, **_LEASES}

    def write(ids: Sequence[UUID]) -> Sequence[Mapping[str, Any]]:
        if not ids:
            return ()
        asked = {**parameters, **id_ranges.around(ids), "ids": list(ids)}
        return db.fetch_in_own_transaction("renew", asked)

    rows, _ = locked_rows.leave_out(write, delivery_ids)
    numbers = {row["id"].int: row["attempts"] for row in rows}
    return [numbers.get(each.int) for each in delivery_ids]


def rows_of(delivery_ids: Collection[UUID], *, token: UUID) -> set[UUID]:
    """Return the rows still under a claim. Locks no row, so the next write checks again."""
    span = id_ranges.around(delivery_ids)
    rows = Delivery.objects.filter(id__in=list(delivery_ids), claim_token=token)
    bounded = rows.filter(id__gte=span["floor"], id__lt=span["ceiling"])
    return set(bounded.values_list("id", flat=True))


def wait_for_evidence(delivery_ids: Sequence[UUID], *, wait: dt.timedelta) -> None:
    """Look again after `wait` at rows with an ended lease and unknown calls."""
    db.run("wait_for_evidence", {"ids": list(delivery_ids), "wait": wait, **_LEASES})


def set_contacts(contacts: Mapping[UUID, int]) -> None:
    """Set the contacts of scheduled deliveries at their release."""
    db.run("set_contacts", {"ids": list(contacts), "contacts": list(contacts.values())})


def set_slots(waits: Mapping[UUID, dt.timedelta], *, provider: str, token: UUID) -> None:
    """Store the time until a provider's bucket admits rows of a claim."""
    parameters = {"ids": list(waits), "waits": list(waits.values())}
    db.fetch_in_own_transaction("set_slots", {**parameters, "provider": provider, "token": token})


def set_switches(switches: Mapping[UUID, int], *, token: UUID) -> None:
    """Store the switches that hold rows of a claim."""
    parameters = {"ids": list(switches), "switches": list(switches.values()), "token": token}
    db.fetch_in_own_transaction("set_switches", parameters)
