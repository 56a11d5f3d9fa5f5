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
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Final

import structlog

from notifications.core.delivery import attached, withholding
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.evidence import facts_of
from notifications.core.rules.redaction import code_of
from notifications.core.rules.storable_texts import storable
from notifications.core.store import flight_recorder
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


Pair = tuple[ClaimedDelivery, Result]


@dataclass(slots=True, eq=False)
class Wave:
    """Calls that began together."""

    calls: Mapping[int, tuple[ClaimedDelivery, Message]]
    """By the integer of the delivery's id, which Python hashes in C."""
    provider: Provider
    arrived: SimpleQueue[list[Arrival]]
    """The queue of the task: results of its waves, in groups."""
    lingers: bool = False
    """True if results may wait a few milliseconds for others."""
    accepted: set[int] = field(default_factory=set)
    """The accepted calls."""
    answered: set[int] = field(default_factory=set)
    """The calls of which the task gets a result."""
    error: Exception | None = None


Arrival = tuple[Wave, Pair | None, str, bytes]
"""A wave; a delivery with its result, None at the end of the wave; key and value of the ledger's
entry, empty if the answer is not definite."""


def pass_on(wave: Wave, result: Result) -> None:
    """Pass a result on to the task, by way of the ledger."""
    number = result.delivery_id.int
    claimed, message = wave.calls[number]
    if isinstance(result.outcome, Accepted):
        wave.accepted.add(number)
        given = result.outcome.message_id
        if not (given.isascii() and given.isprintable()):
            result = _storable(result)
    elif number in wave.accepted:
        _log.error("second_result_of_a_call", provider=wave.provider.name)
        return  # the message is sent, whatever the adapter makes of the rest of the answer
    else:
        result = _of_own_sender(_storable(result), message, wave.provider)
    if claimed.notification.sealed is not None:
        result = withholding.without_provider_text(result)
    key, entry = "", b""
    if type(result.outcome) in sent_ledger.DEFINITE:
        key = sent_ledger.key_of(claimed.delivery.id, claimed.call)
        facts = facts_of(claimed)
        entry = sent_ledger.encode_call(result.outcome, provider=wave.provider.name, facts=facts)
        if (flight := claimed.flight) is not None:
            flight_recorder.answer(flight, claimed.delivery.id, claimed.call, entry)
    _answers.put((wave, (claimed, result), key, entry))
    wave.answered.add(number)


def of_silent_calls(wave: Wave) -> list[Pair]:
    """Return `Unanswered` for calls without a result, because the message may be sent."""
    silence, no_time = Unanswered(code="no_result"), dt.timedelta(0)
    silent = [wave.calls[each][0] for each in sorted(wave.calls.keys() - wave.answered)]
    return [
        (each, Result(delivery_id=each.delivery.id, outcome=silence, latency=no_time))
        for each in silent
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
    """Return a result with texts for JSON and Postgres: a vendor may answer anything."""
    outcome = result.outcome
    if isinstance(outcome, Accepted):
        return replace(result, outcome=replace(outcome, message_id=storable(outcome.message_id)))
    code, detail = code_of(outcome.code), storable(outcome.detail)
    outcome = replace(outcome, code=code, detail=detail)
    if isinstance(outcome, Throttled | Unavailable) and outcome.retry_after is not None:
        outcome = replace(outcome, retry_after=min(outcome.retry_after, _LONGEST_WAIT))
    return replace(result, outcome=outcome)


def end(wave: Wave) -> None:
    """Pass the end of a wave on, behind the wave's results."""
    attached.release([claimed for claimed, _ in wave.calls.values()])
    _answers.put((wave, None, "", b""))
    _answers.hurry()


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
            if not arrival[0].lingers:
                self._urgent.set()
        else:
            _hand_over([arrival])

    def hurry(self) -> None:
        """Let no answer linger any longer."""
        self._urgent.set()

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
        if group[0][0].lingers:
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
        sent_ledger.write_encoded({key: entry for _, _, key, entry in arrivals if entry})
    except Exception:  # noqa: BLE001 - whatever it is, the answers go on to their tasks
        _log.exception("answers_not_noted", count=len(arrivals))
    groups: dict[SimpleQueue[list[Arrival]], list[Arrival]] = defaultdict(list)
    for arrival in arrivals:
        groups[arrival[0].arrived].append(arrival)
    for arrived, together in groups.items():
        arrived.put(together)
