"""The only code that writes a status.

Each function is one guarded UPDATE: the legal sources of `rules.states` stand in its WHERE, and the
events that tell of the move are written by the same statement. A row that has moved on meanwhile
stays as it is, so every caller may run twice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

from notifications.rules import ids as id_rules
from notifications.rules import suspects
from notifications.rules.lane import PACE, Mode, Priority
from notifications.rules.states import SOURCES, Status
from notifications.store import db, tallies
from providers.contract import Channel

_LEASES: Final = {
    "p0_lease": PACE[Priority.P0].lease,
    "lease": PACE[Priority.P1].lease,
    "sending": Status.SENDING,
}


class Claimed(NamedTuple):
    """A delivery under our lease."""

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
    """When that provider's bucket lets it leave, if it was given a time before."""
    claimed_at: dt.datetime
    """By Postgres's clock, as all of one claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one task took, and the token that proves it."""

    token: UUID
    deliveries: list[Claimed]
    at: dt.datetime
    """Postgres's clock at the claim."""


class Move(NamedTuple):
    """One delivery's part of a move."""

    id: UUID
    reason: str = ""
    """A word for filters, up to 64 characters."""
    detail: str = ""
    """A sentence for the timeline, redacted, up to 500 characters."""
    due_in: dt.timedelta | None = None
    """When somebody must look again, from Postgres's now; None: the row is final."""
    provider_message_id: str = ""


def claim(delivery_ids: Sequence[UUID], *, now: dt.datetime) -> Claim:
    """Take what may leave of these under a lease.

    The others are somebody else's, gone, or not due.
    """
    token = uuid4()
    parameters = {
        "ids": list(delivery_ids),
        "queued": Status.QUEUED,
        "waiting": [Status.RETRYING, Status.SCHEDULED],
        "poison": suspects.POISON_AFTER,
        "small_after": suspects.SMALL_AFTER,
        "small": suspects.SMALL,
        "alone_after": suspects.ALONE_AFTER,
        "token": token,
        **_LEASES,
    }
    taken = db.retried(lambda: db.made("claim", parameters, _claimed))
    return Claim(token=token, deliveries=taken, at=taken[0].claimed_at if taken else now)


def _claimed(delivery_id: UUID, mode: int, priority: int, channel: int, *others: Any) -> Claimed:  # noqa: ANN401 - the rest of the row, as it comes
    return Claimed(delivery_id, Mode(mode), Priority(priority), Channel(channel), *others)


def renew(delivery_ids: Sequence[UUID], *, token: UUID, provider: str) -> dict[UUID, int]:
    """Before a wave of calls: renew its leases and count its calls, committed.

    Returns each row that is still ours with the number of the call that may now be made.
    """
    parameters = {"ids": list(delivery_ids), "token": token, "provider": provider, **_LEASES}
    rows = db.alone("renew", parameters)
    return {row["id"]: row["attempts"] for row in rows}


def move(  # noqa: PLR0913 - each is a keyword that names one guard or one effect
    to: Status,
    moves: Iterable[Move],
    *,
    token: UUID | None = None,
    only_provider: str = "",
    only_due: bool = False,
    keeps_claims: bool = False,
    refunds_attempt: bool = False,
    marks_resent: bool = False,
    buries: bool = False,
) -> list[UUID]:
    """Move deliveries to a status; returns those that moved.

    Args:
        to: the target; its legal sources guard each row.
        moves: each delivery once.
        token: only rows still under this claim.
        only_provider: only rows whose call this provider had (receipts).
        only_due: only rows that are still due (sweeps).
        keeps_claims: do not forget how often the row was claimed in vain.
        refunds_attempt: the call does not count against the budget (our fault, not the message's).
        marks_resent: the one resend after silence is spent.
        buries: leave a dead letter.
    """
    batch = sorted(moves, key=lambda each: each.id)
    if not batch:
        return []
    parameters = {
        **_columns(batch),
        "to": to,
        "sources": sorted(SOURCES[to]),
        "token": token,
        "only_provider": only_provider,
        "only_due": only_due,
        "keeps_claims": keeps_claims,
        "refunded": int(refunds_attempt),
        "resent": marks_resent,
        "sent": to in {Status.SENT, Status.DELIVERED, Status.READ},
        "delivered": to in {Status.DELIVERED, Status.READ},
    }

    if not buries:
        return _counted(to, db.alone("move", parameters))

    def work() -> list[UUID]:
        moved = [row["id"] for row in db.rows("move", parameters)]
        if moved:
            _bury(moved, {each.id: each.detail for each in batch})
        return moved

    return db.in_transaction(work)


def _counted(to: Status, moved: Sequence[Mapping[str, Any]]) -> list[UUID]:
    """Tell `tallies` of rows that moved; returns their ids."""
    if to in tallies.COUNTED:
        tallies.count_moves(to, (row["reason"] for row in moved if row["mode"] == Mode.LIVE))
    return [row["id"] for row in moved]


def _columns(batch: Sequence[Move]) -> dict[str, object]:
    return {
        "ids": [each.id for each in batch],
        "due_in": [each.due_in for each in batch],
        "reasons": [each.reason for each in batch],
        "details": [each.detail for each in batch],
        "message_ids": [each.provider_message_id for each in batch],
    }


def _bury(delivery_ids: list[UUID], details: dict[UUID, str]) -> None:
    db.run(
        "bury",
        {
            "ids": delivery_ids,
            "details": [details[each] for each in delivery_ids],
            "notification_ids": list({id_rules.notification_of(each) for each in delivery_ids}),
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Revival:
    """One dead delivery to bring back."""

    id: UUID
    contact_id: int | None
    new_key: bool
    """The provider refused the old one for certain, so the next call is a new message to it."""


def replay(revivals: Sequence[Revival], *, detail: str) -> list[UUID]:
    """Queue dead deliveries again with a fresh budget; returns those that were dead."""
    batch = sorted(revivals, key=lambda each: each.id)
    parameters = {
        "ids": [each.id for each in batch],
        "contacts": [each.contact_id for each in batch],
        "raises": [int(each.new_key) for each in batch],
        "sources": [Status.FAILED, Status.BOUNCED, Status.EXPIRED, Status.UNKNOWN],
        "queued": Status.QUEUED,
        "detail": detail,
    }
    return [row["id"] for row in db.alone("replay", parameters)]


def accept_late(moves: Sequence[Move]) -> list[UUID]:
    """Settle as sent what a worker reports after it lost its lease.

    Unless another is calling right now.
    """
    parked = [
        row["id"]
        for row in db.rows(
            "not_sending", {"ids": [each.id for each in moves], "sending": Status.SENDING}
        )
    ]
    return move(Status.SENT, [each for each in moves if each.id in set(parked)])


def set_contacts(contacts: Mapping[UUID, int]) -> None:
    """Where scheduled deliveries go, known now that they are released."""
    db.run("set_contacts", {"ids": list(contacts), "contacts": list(contacts.values())})


def set_slots(waits: Mapping[UUID, dt.timedelta], *, provider: str, token: UUID) -> None:
    """How long until the bucket of a provider lets these leave; only rows still of this claim."""
    parameters = {"ids": list(waits), "waits": list(waits.values())}
    db.run("set_slots", {**parameters, "provider": provider, "token": token})
