"""Writes of statuses: a transition of `rules.transitions` is one guarded UPDATE.

The WHERE clause has the sources of the transition, and the same statement inserts the events. A row
in another status stays unchanged, so every caller may run twice.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction

from notifications.core.rules.client_receipts import TokenHolder
from notifications.core.rules.ids import notification_of, time_of_claim
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import ACCEPT_LATE, REPLAY, WITH_DEAD_LETTER, Transition
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.redis import metric_counters
from notifications.core.telemetry import instruments
from providers.contract import Channel


class Move(NamedTuple):
    """The transition of one delivery."""

    id: UUID
    reason: str = ""
    """A member of `rules.reasons`; empty if the status needs none."""
    detail: str = ""
    """A sentence for the timeline, redacted; the timeline keeps 500 characters."""
    due_in: dt.timedelta | None = None
    """Time until the next check of the row, from Postgres's now; None: the row is final."""
    provider_message_id: str = ""
    occurred_at: dt.datetime | None = None
    """Receipts: the time given by the provider or the app, in UTC."""


@dataclass(frozen=True, slots=True)
class UnderClaim:
    """Guard: only rows still held by a claim."""

    token: UUID
    only_uncalled: bool = False
    """Only rows without a provider call under the claim."""


@dataclass(frozen=True, slots=True)
class StillDue:
    """Guard for sweeps: only due rows that no other transaction has locked."""


@dataclass(frozen=True, slots=True)
class FromProvider:
    """Guard for receipts: only rows called through a provider."""

    name: str
    calls: Mapping[UUID, int] | None = None
    """Failure receipts: only rows whose last call has begun and has the number given here."""


@dataclass(frozen=True, slots=True)
class OfRecipients:
    """Guard for client receipts: only called rows of the recipient and mode named for the row."""

    owners: Mapping[UUID, TokenHolder]


@dataclass(frozen=True, slots=True)
class Anyone:
    """No further guard: for an operator, a producer, or a lock held before."""


Guard = UnderClaim | StillDue | FromProvider | OfRecipients | Anyone
ANYONE: Final = Anyone()
STILL_DUE: Final = StillDue()
_REACHED: Final = frozenset({Status.DELIVERED, Status.READ})
_NUMBER: Final = attrgetter("id.int")
"""Compares ids in C; `UUID.__lt__` is Python."""
_LONGEST_DETAIL: Final = 500
_LONGEST_MESSAGE_ID: Final = 255
"""Characters of the column; a longer id must not refuse an answer or a callback."""


def apply(transition: Transition, moves: Iterable[Move], guard: Guard) -> list[UUID]:
    """Apply a transition to the rows allowed by the guard, each once; return the moved ids."""
    return [row["id"] for row in apply_rows(transition, moves, guard)]


def apply_rows(
    transition: Transition, moves: Iterable[Move], guard: Guard
) -> Sequence[Mapping[str, Any]]:
    """Apply a transition as `apply` does; return the moved rows of `transition.sql`."""
    batch = sorted(moves, key=_NUMBER)
    if not batch:
        return []
    if transition.dead_letter:
        return db.in_transaction(lambda: _move_and_bury(transition, batch, guard))
    if not transition.closes_letter:
        return _move(transition, batch, guard)
    moved: Sequence[Mapping[str, Any]] = []
    if not transition.sources | transition.if_called <= WITH_DEAD_LETTER:
        moved = _move(transition, batch, guard, but=WITH_DEAD_LETTER)
    done = {row["id"] for row in moved}
    rest = [each for each in batch if each.id not in done]
    if not rest:
        return moved
    return [*moved, *db.in_transaction(lambda: _move_and_close(transition, rest, guard))]


def _move(
    transition: Transition,
    batch: Sequence[Move],
    guard: Guard,
    *,
    but: AbstractSet[Status] = frozenset(),
) -> Sequence[Mapping[str, Any]]:
    """Apply a transition to rows in its sources, except the statuses of `but`; return the rows."""
    parts = [
        _parameters(transition, batch[part], guard, but) for part in id_ranges.stretches(batch)
    ]
    if len(parts) == 1:
        moved = db.fetch_in_own_transaction("transition", parts[0])
    else:
        moved = db.in_transaction(
            lambda: [row for part in parts for row in db.rows("transition", part)]
        )
    return _count(transition.to, moved)


def _parameters(
    transition: Transition, batch: Sequence[Move], guard: Guard, but: AbstractSet[Status]
) -> dict[str, object]:
    """Return the parameters of `transition.sql`."""
    return {
        **_columns(batch),
        **id_ranges.around([batch[0].id, batch[-1].id]),
        "to": transition.to,
        "sources": sorted(transition.sources - but),
        "if_called": sorted(transition.if_called - but),
        "token": guard.token if isinstance(guard, UnderClaim) else None,
        "claimed_at": time_of_claim(guard.token) if isinstance(guard, UnderClaim) else None,
        "only_uncalled": isinstance(guard, UnderClaim) and guard.only_uncalled,
        "provider": guard.name if isinstance(guard, FromProvider) else "",
        "calls": _calls(batch, guard),
        "sending": Status.SENDING,
        "owned": isinstance(guard, OfRecipients),
        **_owners(batch, guard),
        "still_due": isinstance(guard, StillDue),
        "claims": transition.claims.value,
        "refunded": int(transition.refunds_attempt),
        "resent": transition.marks_resent,
        "sent": transition.to is Status.SENT or transition.to in _REACHED,
        "delivered": transition.to in _REACHED,
    }


def _move_and_bury(
    transition: Transition, batch: Sequence[Move], guard: Guard
) -> Sequence[Mapping[str, Any]]:
    moved = _move(transition, batch, guard)
    if moved:
        ids = [row["id"] for row in moved]
        _insert_dead_letters(ids, {each.id: each.detail for each in batch})
    return moved


def _move_and_close(
    transition: Transition, batch: Sequence[Move], guard: Guard
) -> Sequence[Mapping[str, Any]]:
    """Apply a transition to rows with or without an open dead letter, and close the letters.

    A letter locked by a replay or an operator is skipped: the holder of the lock closes the letter.
    """
    moved = _move(transition, batch, guard)
    if moved:
        ids = [row["id"] for row in moved]
        db.run("close_letters", {"ids": ids, "resolution": transition.closes_letter})
    return moved


def write(decisions: Iterable[tuple[UUID, Decision]], guard: Guard) -> set[UUID]:
    """Write decisions, one statement per transition; return the moved deliveries.

    Args:
        decisions: each about another delivery.
        guard: the guard of all decisions.
    """
    by_transition: dict[Transition, list[Move]] = defaultdict(list)
    for delivery_id, (transition, reason, detail, due_in, message_id, _) in decisions:
        move = Move(delivery_id, reason, detail, due_in, message_id)
        by_transition[transition].append(move)

    def work() -> set[UUID]:
        moved: set[UUID] = set()
        for transition, moves in by_transition.items():
            moved.update(apply(transition, moves, guard))
        return moved

    return work() if len(by_transition) == 1 else db.in_transaction(work)


def _count(to: Status, moved: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Count moved rows after the commit; return the rows."""
    if moved and instruments.are_on():
        transaction.on_commit(lambda: _add_to_instruments(to, moved))
    if to in metric_counters.COUNTED:
        metric_counters.count_moves(
            to, (row["reason"] for row in moved if row["mode"] == Mode.LIVE)
        )
    return moved


def _add_to_instruments(to: Status, moved: Sequence[Mapping[str, Any]]) -> None:
    lanes = Counter([(row["mode"], row["priority"], row["channel"]) for row in moved])
    for (mode, priority, channel), count in lanes.items():
        labels = (Mode(mode).label, Priority(priority).name, Channel(channel).label)
        instruments.TRANSITIONS.labels(*labels, to.label).inc(count)
    if to is Status.DELIVERED:
        for row in moved:
            if row["mode"] == Mode.LIVE and row["since_sent"] is not None:
                histogram = instruments.RECEIPT_SECONDS
                channel = Channel(row["channel"]).label
                histogram.labels(row["provider"], channel).observe(max(0.0, row["since_sent"]))


def _columns(batch: Sequence[Move]) -> dict[str, object]:
    return {
        "ids": [each.id for each in batch],
        "due_in": db.column([each.due_in for each in batch]),
        "reasons": [each.reason for each in batch],
        "details": [each.detail[:_LONGEST_DETAIL] for each in batch],
        "message_ids": [each.provider_message_id[:_LONGEST_MESSAGE_ID] for each in batch],
        "occurred_at": db.column([each.occurred_at for each in batch]),
    }


def _calls(batch: Sequence[Move], guard: Guard) -> list[int] | None:
    if not isinstance(guard, FromProvider) or guard.calls is None:
        return None
    return [guard.calls[each.id] for each in batch]


def _owners(batch: Sequence[Move], guard: Guard) -> dict[str, object]:
    """Return the columns of the guard `OfRecipients`, empty for other guards."""
    holders = [guard.owners[each.id] for each in batch] if isinstance(guard, OfRecipients) else []
    return {
        "owners": [each.recipient_id for each in holders],
        "modes": [int(each.mode) for each in holders],
    }


def _insert_dead_letters(delivery_ids: list[UUID], details: dict[UUID, str]) -> None:
    db.run(
        "bury",
        {
            "ids": delivery_ids,
            "details": [details[each][:_LONGEST_DETAIL] for each in delivery_ids],
            "notification_ids": list({notification_of(each) for each in delivery_ids}),
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTarget:
    """A dead delivery to replay."""

    id: UUID
    contact_id: int | None
    new_key: bool
    """Use a new idempotency key: the provider rejected the previous key and would reject it again.
    """
    due_in: dt.timedelta = dt.timedelta(0)
    """The place in the lane, from `fair_queue`."""


def replay(revivals: Sequence[ReplayTarget], *, detail: str) -> list[UUID]:
    """Queue dead deliveries again with new attempts; return the deliveries that were dead."""
    batch = sorted(revivals, key=lambda each: each.id.int)
    parameters = {
        "ids": [each.id for each in batch],
        "contacts": [each.contact_id for each in batch],
        "raises": [int(each.new_key) for each in batch],
        "due_in": [each.due_in for each in batch],
        "sources": sorted(REPLAY.sources),
        "queued": Status.QUEUED,
        "detail": detail,
    }
    return [row["id"] for row in db.fetch_in_own_transaction("replay", parameters)]


def accept_late(
    moves: Sequence[Move], *, calls: Mapping[UUID, int], since: dt.datetime
) -> list[UUID]:
    """Mark late results as sent after a lost lease, also beside a later call.

    A receipt can come before the result of its call, so a failure by a receipt stays. The token of
    a later call is void then: its result changes nothing, and its worker calls no further provider.

    Args:
        moves: the deliveries with an accepted call.
        calls: the number of the accepted call of each delivery.
        since: the time of the claim of these calls.
    """
    parameters = {
        "ids": [each.id for each in moves],
        "calls": [calls[each.id] for each in moves],
        "since": since,
        "failed": Status.FAILED,
        "by_receipt": Reason.RECEIPT_FAILED,
        "failures": [Reason.RECEIPT_FAILED.value, Reason.RECEIPT_BOUNCED.value],
    }
    free = {row["id"] for row in db.rows("not_failed", parameters)}
    return apply(ACCEPT_LATE, [each for each in moves if each.id in free], ANYONE)
