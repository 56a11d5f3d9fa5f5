"""Rescue.

Rows whose lease ran out, settled by evidence; and rows that are `unknown`, when their time has
come.

A lease that ran out means a worker that died or stood still. In this order:

    an entry in the sent-ledger        the provider took it: sent
    no call was begun                  nothing was sent: queued again (a dead letter, `poison`,
                                       after five such claims)
    else                               nobody answered: the table of `rules.unanswered`
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from notifications import clock
from notifications.pipeline import route
from notifications.rules import unanswered
from notifications.rules.lane import Priority
from notifications.rules.retries import preset_for
from notifications.rules.states import Status
from notifications.rules.suspects import POISON_AFTER
from notifications.rules.unanswered import Answer
from notifications.store import attempts, db, ledger, moves
from notifications.store.moves import Move
from providers.contract import Channel, Repeat

Row = dict[str, Any]
"""A row of `due.sql`."""
_LOST: Final = "worker_lost"


@dataclass(slots=True)
class _Decided:
    sent: list[Move] = field(default_factory=list)
    queued: list[Move] = field(default_factory=list)
    dead: list[Move] = field(default_factory=list)
    dropped: list[Move] = field(default_factory=list)
    unknown: list[Move] = field(default_factory=list)
    calls: dict[str, list[attempts.Call]] = field(default_factory=dict)


def rescue(rows: Sequence[Row]) -> int:
    """Settle rows whose lease ran out; returns how many moved.

    Guarded by `only_due`: a renewed lease stays.
    """
    evidence = ledger.read([row["id"] for row in rows])
    decided = _Decided()
    for row in rows:
        _decide(decided, row, evidence.get(row["id"]))

    def work() -> int:
        for provider, calls in decided.calls.items():
            attempts.record(calls, provider=provider)
        done = [
            moves.move(Status.SENT, decided.sent, only_due=True),
            moves.move(Status.QUEUED, decided.queued, only_due=True, keeps_claims=True),
            moves.move(Status.FAILED, decided.dead, only_due=True, buries=True),
            moves.move(Status.FAILED, decided.dropped, only_due=True),
            moves.move(Status.UNKNOWN, decided.unknown, only_due=True),
        ]
        return sum(map(len, done))

    return db.in_transaction(work)


def _decide(decided: _Decided, row: Row, evidence: tuple[str, str] | None) -> None:
    if evidence is not None:
        decided.sent.append(
            Move(id=row["id"], reason="ghost_healed", provider_message_id=evidence[1])
        )
        _note_call(decided, row, outcome="accepted", detail=evidence[1])
    elif row["claims"] >= POISON_AFTER:
        decided.dead.append(
            Move(id=row["id"], reason="poison", detail="its workers died five times in a row")
        )
        if row["call_started_at"] is not None:
            _note_call(decided, row, outcome="unanswered", detail=_LOST)
    elif row["call_started_at"] is None:
        decided.queued.append(Move(id=row["id"], reason=_LOST, due_in=clock.AT_ONCE))
    else:
        _note_call(decided, row, outcome="unanswered", detail=_LOST)
        _after_silence(decided, row)


def _after_silence(decided: _Decided, row: Row) -> None:
    priority, channel = Priority(row["priority"]), Channel(row["channel"])
    provider = route.provider_named(row["provider"])
    repeat = provider.capabilities.repeat if provider else Repeat.VISIBLE
    answer = unanswered.answer_for(channel=channel, priority=priority, repeat=repeat)
    match answer:
        case Answer.RESEND:
            preset = preset_for(priority, channel, chosen=row["retry_preset"])
            if row["attempts"] - row["attempts_before"] < preset.attempts:
                decided.queued.append(Move(id=row["id"], reason=_LOST, due_in=clock.AT_ONCE))
            else:
                pile = decided.dropped if preset.drops else decided.dead
                pile.append(Move(id=row["id"], reason="retries_exhausted", detail=_LOST))
        case Answer.RESEND_ONCE:
            wait = unanswered.CLOSE_AFTER if row["resent"] else unanswered.RECHECK_AFTER
            decided.unknown.append(Move(id=row["id"], reason=_LOST, due_in=wait))
        case Answer.WAIT:
            wait = unanswered.CLOSE_AFTER
            decided.unknown.append(Move(id=row["id"], reason=_LOST, due_in=wait))
        case _:
            assert_never(answer)


def _note_call(decided: _Decided, row: Row, *, outcome: str, detail: str) -> None:
    decided.calls.setdefault(row["provider"], []).append(
        attempts.Call(
            delivery_id=row["id"],
            number=row["attempts"],
            outcome=outcome,
            code=_LOST,
            detail=detail,
            latency_ms=0,
        )
    )


def reconsider(rows: Iterable[Row]) -> int:
    """`unknown` rows that are due.

    Urgent ones are resent once, the others are closed as they are.
    """
    resend, close = [], []
    for row in rows:
        if Priority(row["priority"]).is_urgent and not row["resent"]:
            resend.append(Move(id=row["id"], reason="resent_once", due_in=clock.AT_ONCE))
        else:
            close.append(Move(id=row["id"], reason="closed_unanswered"))
    moved = moves.move(Status.QUEUED, resend, only_due=True, marks_resent=True)
    return len(moved) + len(moves.move(Status.UNKNOWN, close, only_due=True))
