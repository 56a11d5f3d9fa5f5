"""Answers: the outcomes of calls, on the way from the thread of a wave to the task.

    thread of the wave: flight recorder ──> thread of the answers: sent-ledger ──> task: settle

The ledger has an answer before the task sees the answer. A settle behind a lock or a frozen
Postgres therefore keeps no answer from the ledger. One thread of the process writes for all tasks,
with one Redis call for the answers of the moment. Answers of P2 and P3 are gathered for a few
milliseconds. A hanging state Redis delays the answers by the timeout of a call, and stops no thread
of a wave.
"""

from __future__ import annotations

import datetime as dt
import os
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from notifications.core.delivery import attached, withholding
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.evidence import entry_of
from notifications.core.rules.redaction import code_of
from notifications.core.rules.storable_texts import storable
from notifications.core.store.redis import sent_ledger
from providers.contract import (
    Accepted,
    Message,
    Misconfigured,
    Provider,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.refused_parts import RefusedPart

_log = structlog.get_logger(__name__)

_LINGER: Final = 0.004
"""Seconds for which answers of P2 and P3 are gathered, because a group costs one Redis call."""
_LONGEST_WAIT: Final = dt.timedelta(days=60)
"""No time to live is longer."""


@dataclass(slots=True, eq=False)
class Call:
    """A provider call of a wave."""

    claimed: ClaimedDelivery
    message: Message
    is_accepted: bool = False
    is_answered: bool = False
    """True if the task gets a result of the call."""


@dataclass(slots=True, eq=False)
class Wave:
    """Calls that began together."""

    calls: Mapping[UUID, Call]
    """By delivery."""
    provider: Provider
    arrived: SimpleQueue[list[Arrival]]
    """The queue of the task: results of its waves, in groups."""
    error: Exception | None = None


Pair = tuple[ClaimedDelivery, Result]


class Arrival(NamedTuple):
    """A delivery of a wave with its result; `pair` is None at the end of the wave."""

    wave: Wave
    pair: Pair | None = None
    lingers: bool = False
    """True if the result may wait a few milliseconds for others."""
    key: str = ""
    entry: bytes = b""
    """Key and value of the ledger's entry; empty if the answer is not definite."""


def pass_on(wave: Wave, result: Result) -> None:
    """Pass a result on to the task, by way of the ledger."""
    call = wave.calls[result.delivery_id]
    claimed = call.claimed
    if isinstance(result.outcome, Accepted):
        call.is_accepted = True
    elif call.is_accepted:
        _log.error("second_result_of_a_call", provider=wave.provider.name)
        return  # the message is sent, whatever the adapter makes of the rest of the answer
    result = _of_own_sender(_storable(result), call.message, wave.provider)
    if claimed.notification.sealed is not None:
        result = withholding.without_provider_text(result)
    key, entry = "", b""
    if sent_ledger.is_definite(result.outcome):
        key = sent_ledger.key_of(claimed.delivery.id, claimed.call)
        entry = sent_ledger.encode(entry_of(claimed, result, provider=wave.provider))
        if claimed.flight is not None:
            claimed.flight.answer(entry)
    lingers = not claimed.delivery.priority.is_urgent
    _answers.put(Arrival(wave, (claimed, result), lingers, key, entry))
    call.is_answered = True


def of_silent_calls(wave: Wave) -> list[Pair]:
    """Return `Unanswered` for calls without a result, because the message may be sent."""
    silence = Unanswered(code="no_result")
    silent = [each for each, call in wave.calls.items() if not call.is_answered]
    return [
        (
            wave.calls[each].claimed,
            Result(delivery_id=each, outcome=silence, latency=dt.timedelta(0)),
        )
        for each in sorted(silent)
    ]


def _of_own_sender(result: Result, message: Message, provider: Provider) -> Result:
    """Return a refusal of the message's own sender as a refusal of the message alone.

    A brand may name the sender of the provider's setting: then the setting is refused.
    """
    outcome = result.outcome
    own = message.mail.sender_address.lower()
    if (
        not isinstance(outcome, Misconfigured)
        or outcome.refused_part is not RefusedPart.SENDER
        or own in {"", provider.capabilities.sender_address.lower()}
    ):
        return result
    refusal = Rejected(
        code=outcome.code,
        detail=outcome.detail,
        another_provider_may_accept=True,
        refused_part=RefusedPart.SENDER,
    )
    return replace(result, outcome=refusal)


def _storable(result: Result) -> Result:
    """Return the result with texts for JSON and Postgres: a vendor may answer anything."""
    outcome = result.outcome
    if isinstance(outcome, Accepted):
        given = outcome.message_id
        if given.isascii() and given.isprintable():
            return result
        return replace(result, outcome=replace(outcome, message_id=storable(given)))
    code, detail = code_of(outcome.code), storable(outcome.detail)
    outcome = replace(outcome, code=code, detail=detail)
    if isinstance(outcome, Throttled | Unavailable) and outcome.retry_after is not None:
        outcome = replace(outcome, retry_after=min(outcome.retry_after, _LONGEST_WAIT))
    return replace(result, outcome=outcome)


def end(wave: Wave) -> None:
    """Pass the end of a wave on, behind the wave's results."""
    attached.release(call.claimed for call in wave.calls.values())
    _answers.put(Arrival(wave))


class _Answers:
    """The queue and the thread of the process; the first answer starts the thread."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._queue: SimpleQueue[Arrival] = SimpleQueue()
        self._urgent = threading.Event()
        self._starting = threading.Lock()
        self._is_running = False

    def put(self, arrival: Arrival) -> None:
        if self._is_running or self._start():
            self._queue.put(arrival)
            if not arrival.lingers:
                self._urgent.set()
        else:
            _hand_over([arrival])

    def _start(self) -> bool:
        """Start the thread; False if the host has no thread left."""
        with self._starting:
            if not self._is_running:
                work = threading.Thread(target=self._run, name="answers", daemon=True)
                try:
                    work.start()
                except RuntimeError:
                    return False
                self._is_running = True
        return True

    def _run(self) -> None:
        while True:
            _hand_over(self._group())

    def _group(self) -> list[Arrival]:
        """Wait for an answer, and return all answers so far.

        The thread sleeps while answers gather: a wake-up per answer costs more than the work.
        """
        group = [self._queue.get()]
        if group[0].lingers:
            self._urgent.wait(_LINGER)
        self._urgent.clear()
        while True:
            try:
                group.append(self._queue.get_nowait())
            except Empty:
                return group


_answers: Final = _Answers()
os.register_at_fork(after_in_child=_answers.forget)


def _hand_over(arrivals: Sequence[Arrival]) -> None:
    """Write the ledger, then pass the results to the tasks."""
    try:
        sent_ledger.write_encoded({each.key: each.entry for each in arrivals if each.entry})
    except Exception:  # noqa: BLE001 - whatever it is, the answers go on to their tasks
        _log.exception("answers_not_noted", count=len(arrivals))
    groups: dict[int, list[Arrival]] = defaultdict(list)
    for each in arrivals:
        groups[id(each.wave.arrived)].append(each)
    for together in groups.values():
        together[0].wave.arrived.put(together)
