"""Every legal status transition of a delivery: one table.

A transition names source statuses, a target and side effects. `store.postgres.transitions` turns a
transition into one guarded UPDATE; no other code writes a status. A row in another status stays
unchanged, so a caller may run twice, late, or never. Receipts may come in any order: a pair of
status and receipt outside the table does nothing.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from notifications.core.rules.states import Status

_S = Status
_WAITING = frozenset({_S.SCHEDULED, _S.QUEUED, _S.RETRYING})
_NOT_FINAL = _WAITING | {_S.SENDING}
_ACCEPTED = frozenset({_S.SENT, _S.UNCONFIRMED, _S.UNKNOWN})
_DEAD = frozenset({_S.FAILED, _S.BOUNCED, _S.EXPIRED, _S.UNKNOWN})
_REFUSED: Final = "refused by the provider"
"""Resolution of the dead letter of an unanswered call that was refused."""
WITH_DEAD_LETTER: Final = frozenset({_S.FAILED, _S.BOUNCED, _S.UNKNOWN})
"""Statuses in which a delivery can have an open dead letter."""
_STOPPED = frozenset({_S.SUPPRESSED, _S.CANCELLED})
"""Statuses of a delivery that was stopped; an earlier call may still be in flight."""


class Claims(StrEnum):
    """Effect of a transition on the number of claims without a result."""

    RESET = "reset"
    """The claim led to a result."""
    KEEP = "keep"
    """The worker died: the row may be the cause."""
    UNCOUNT = "uncount"
    """The claim was returned, which is no sign about the row."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transition:
    """A named move with side effects."""

    name: str
    sources: AbstractSet[Status]
    to: Status
    if_called: AbstractSet[Status] = frozenset()
    """Further sources, only for a row with a provider call: the evidence is about that call."""
    claims: Claims = Claims.RESET
    refunds_attempt: bool = False
    """The call does not count against the retry policy's attempts."""
    marks_resent: bool = False
    """The one resend after an unanswered call is spent."""
    dead_letter: bool = False
    """Leaves a dead letter."""
    closes_letter: str = ""
    """The resolution of an open dead letter: the delivery goes on, or has arrived after all.
    Empty: an open dead letter stays open."""


# --- By the worker that holds the claim.
HOLD: Final = Transition(name="hold", sources={_S.SENDING}, to=_S.SCHEDULED)
HOLD_REFUNDED: Final = Transition(
    name="hold_refunded", sources={_S.SENDING}, to=_S.SCHEDULED, refunds_attempt=True
)
RETURN: Final = Transition(name="return", sources={_S.SENDING}, to=_S.QUEUED, claims=Claims.UNCOUNT)
RETURN_REFUNDED: Final = Transition(
    name="return_refunded",
    sources={_S.SENDING},
    to=_S.QUEUED,
    claims=Claims.UNCOUNT,
    refunds_attempt=True,
)
RETURN_SUSPECT: Final = Transition(
    name="return_suspect", sources={_S.SENDING}, to=_S.QUEUED, claims=Claims.KEEP
)
RETRY: Final = Transition(name="retry", sources={_S.SENDING}, to=_S.RETRYING)
RETRY_REFUNDED: Final = Transition(
    name="retry_refunded", sources={_S.SENDING}, to=_S.RETRYING, refunds_attempt=True
)
ACCEPT: Final = Transition(name="accept", sources={_S.SENDING}, to=_S.SENT)
LEAVE_UNANSWERED: Final = Transition(name="leave_unanswered", sources={_S.SENDING}, to=_S.UNKNOWN)
REJECT: Final = Transition(name="reject", sources={_S.SENDING}, to=_S.FAILED, dead_letter=True)
DROP: Final = Transition(name="drop", sources={_S.SENDING}, to=_S.FAILED)

CANCEL_CLAIMED: Final = Transition(name="cancel_claimed", sources={_S.SENDING}, to=_S.CANCELLED)

# --- By a gate, a cap, a release, a digest, or the producer.
SUPPRESS: Final = Transition(name="suppress", sources=_NOT_FINAL, to=_S.SUPPRESSED)
EXPIRE: Final = Transition(name="expire", sources=_NOT_FINAL, to=_S.EXPIRED)
EXPIRE_UNCLAIMED: Final = Transition(name="expire_unclaimed", sources={_S.QUEUED}, to=_S.EXPIRED)
DROP_STALE: Final = Transition(name="drop_stale", sources={_S.QUEUED}, to=_S.SUPPRESSED)
CANCEL: Final = Transition(name="cancel", sources=_WAITING, to=_S.CANCELLED)
"""A claimed delivery stays with its worker, whose call may have begun."""

# --- By the sweeps.
RELEASE: Final = Transition(name="release", sources={_S.SCHEDULED}, to=_S.QUEUED)
REQUEUE: Final = Transition(name="requeue", sources={_S.RETRYING}, to=_S.QUEUED)
GIVE_UP: Final = Transition(name="give_up", sources=_NOT_FINAL, to=_S.FAILED, dead_letter=True)
RESCUE: Final = Transition(name="rescue", sources={_S.SENDING}, to=_S.QUEUED, claims=Claims.KEEP)
RESCUE_REFUNDED: Final = Transition(
    name="rescue_refunded",
    sources={_S.SENDING},
    to=_S.QUEUED,
    claims=Claims.KEEP,
    refunds_attempt=True,
)
GIVE_UP_UNCLAIMED: Final = Transition(
    name="give_up_unclaimed", sources={_S.QUEUED}, to=_S.FAILED, dead_letter=True
)
RESEND: Final = Transition(
    name="resend", sources={_S.SENDING, _S.UNKNOWN}, to=_S.QUEUED, marks_resent=True
)
CLOSE_UNANSWERED: Final = Transition(
    name="close_unanswered", sources={_S.UNKNOWN}, to=_S.UNKNOWN, dead_letter=True
)

# --- By evidence of a provider: its receipts, and its answer to a worker without a lease.
ACCEPT_LATE: Final = Transition(
    name="accept_late",
    sources={_S.QUEUED, _S.RETRYING, _S.UNKNOWN, _S.SENDING},
    if_called=_STOPPED | {_S.SCHEDULED, _S.FAILED, _S.EXPIRED},
    to=_S.SENT,
    closes_letter="accepted by the provider",
)
REJECT_LATE: Final = Transition(
    name="reject_late", sources={_S.UNKNOWN}, to=_S.FAILED, dead_letter=True
)
DROP_LATE: Final = Transition(
    name="drop_late", sources={_S.UNKNOWN}, to=_S.FAILED, closes_letter=_REFUSED
)
RETRY_LATE: Final = Transition(
    name="retry_late", sources={_S.UNKNOWN}, to=_S.RETRYING, closes_letter=_REFUSED
)
RETRY_LATE_REFUNDED: Final = Transition(
    name="retry_late_refunded",
    sources={_S.UNKNOWN},
    to=_S.RETRYING,
    refunds_attempt=True,
    closes_letter=_REFUSED,
)
DELIVER: Final = Transition(
    name="deliver",
    sources={_S.QUEUED, _S.RETRYING, _S.SENDING, _S.FAILED, _S.EXPIRED} | _ACCEPTED,
    if_called=_STOPPED | {_S.SCHEDULED},
    to=_S.DELIVERED,
    closes_letter="delivered",
)
READ: Final = Transition(
    name="read",
    sources=DELIVER.sources | {_S.DELIVERED},
    if_called=DELIVER.if_called,
    to=_S.READ,
    closes_letter="read",
)
BOUNCE: Final = Transition(
    name="bounce",
    sources=_ACCEPTED | {_S.SENDING, _S.DELIVERED},
    to=_S.BOUNCED,
)
FAIL: Final = Transition(
    name="fail", sources=_ACCEPTED | {_S.SENDING}, to=_S.FAILED, dead_letter=True
)
"""As `BOUNCE` not from a waiting status: the next call decides."""

# --- By an operator.
REPLAY: Final = Transition(name="replay", sources=_DEAD, to=_S.QUEUED)
RESOLVE_AS_SENT: Final = Transition(
    name="resolve_as_sent",
    sources={_S.UNKNOWN},
    to=_S.SENT,
    closes_letter="resolved as sent",
)
RESOLVE_AS_FAILED: Final = Transition(
    name="resolve_as_failed", sources={_S.UNKNOWN}, to=_S.FAILED, dead_letter=True
)

# --- By a claim, and at the end of a confirm window.
CLAIM: Final = Transition(name="claim", sources=_WAITING, to=_S.SENDING)
ESCALATE: Final = Transition(name="escalate", sources={_S.SENT, _S.UNKNOWN}, to=_S.UNCONFIRMED)
END_CONFIRM: Final = Transition(name="end_confirm", sources={_S.SENT}, to=_S.SENT)
KEEP_UNANSWERED: Final = Transition(name="keep_unanswered", sources={_S.UNKNOWN}, to=_S.UNKNOWN)

# --- By a fallback chain, whose next channel follows: no dead letter.
FALL_BACK: Final = Transition(name="fall_back", sources={_S.SENDING}, to=_S.FAILED)
FALL_BACK_QUEUED: Final = Transition(name="fall_back_queued", sources={_S.QUEUED}, to=_S.FAILED)
FALL_BACK_WAITING: Final = Transition(
    name="fall_back_waiting", sources={_S.RETRYING, _S.SCHEDULED}, to=_S.FAILED
)
FALL_BACK_UNANSWERED: Final = Transition(
    name="fall_back_unanswered", sources={_S.SENDING}, to=_S.UNCONFIRMED
)
FALL_BACK_FAILED: Final = Transition(name="fall_back_failed", sources=FAIL.sources, to=_S.FAILED)
FALL_BACK_RESOLVED: Final = Transition(
    name="fall_back_resolved",
    sources={_S.UNKNOWN},
    to=_S.FAILED,
    closes_letter="the next channel follows",
)

TRANSITIONS: Final = tuple(each for each in globals().values() if isinstance(each, Transition))
"""The whole state machine; `docs/states.md` is generated from it."""

SOURCES: Final = MappingProxyType({
    status: frozenset[Status]().union(
        *(each.sources | each.if_called for each in TRANSITIONS if each.to is status)
    )
    for status in Status
})
"""Target -> every status from which some transition leads to it."""
