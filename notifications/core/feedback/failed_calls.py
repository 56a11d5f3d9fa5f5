"""Failed calls: the provider call that a failure receipt is about.

A failure of the last call ends the delivery. A failure of an earlier call is an event of the
timeline and nothing else: the resend, the replay or the next provider decides about the delivery.
So is a failure after an expiry, a suppression or a cancellation: a later acceptance of the call
changes the delivery no more.

The message id of the receipt names the call. A receipt without an id, or with an id that no answer
contained (a call without an answer, a further part of a long SMS), is about an earlier call of the
provider without an answer if there is one, or else about the provider's last call. So an unclear
receipt never ends a delivery whose last call may succeed.

A positive receipt of any call counts, because the message arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.rules.states import OPEN, Status
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.transitions import Move

_STOPPED: Final = {Status.EXPIRED, Status.SUPPRESSED, Status.CANCELLED}
_ACCEPTED: Final = [Status.SENT, Status.DELIVERED, Status.UNCONFIRMED]


class LastCalls(NamedTuple):
    """Failures of last calls."""

    moves: Mapping[UUID, Move]
    numbers: Mapping[UUID, int]
    """The number of the last call of each delivery."""


def of_last_calls(provider: str, failures: Iterable[Move]) -> LastCalls:
    """Return the failures of the last calls; the others become events. Safe to run twice.

    Args:
        provider: the provider that reports.
        failures: a move for each failure receipt; a delivery can have several.
    """
    reported = list(failures)
    moves: dict[UUID, Move] = {}
    numbers: dict[UUID, int] = {}
    earlier: list[Move] = []
    for row in _calls(provider, reported) if reported else ():
        move, call, last = reported[row["place"]], row["call"], row["last"]
        if call == last and not row["is_over"]:
            moves[move.id], numbers[move.id] = move, last
        else:
            detail = ": ".join(part for part in (f"call {call} of {last}", move.detail) if part)
            earlier.append(move._replace(detail=detail[:500]))
    _note(earlier)
    return LastCalls(moves, numbers)


def _calls(provider: str, reported: Sequence[Move]) -> Sequence[Mapping[str, int]]:
    ids = [each.id for each in reported]
    parameters = {
        **id_ranges.around(ids),
        "ids": ids,
        "message_ids": [each.provider_message_id for each in reported],
        "provider": provider,
        "over": sorted(OPEN - {Status.SENDING} | _STOPPED),
        "sending": Status.SENDING,
        "accepted": _ACCEPTED,
        "delivered": Status.DELIVERED,
    }
    return db.rows("failed_calls", parameters)


def _note(earlier: Sequence[Move]) -> None:
    if not earlier:
        return
    parameters = {
        "ids": [each.id for each in earlier],
        "reasons": [each.reason for each in earlier],
        "details": [each.detail for each in earlier],
        "occurred_at": [each.occurred_at for each in earlier],
    }
    db.in_transaction(lambda: db.run("note_failed_calls", parameters))
