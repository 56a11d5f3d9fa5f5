"""From the facts of a run to the promises that it broke. Pure.

    not sent       accepted, nobody will look at it again, and no provider took it
    twice          a person sees a message twice, and the first call was not in flight at a fault
    unknown        so settled, and no call of it was in flight at a fault or left without an answer
    contradicted   the status says something else than the provider
    stuck          still open at the end, and overdue or not due for long
    refused        the API took it not at all, or blamed itself
    ended alone    a process ended though nothing was done to it, nor to a server while it started
    late           too many later than the run's service level
    left running   a process outlived the stop of the whole (told by `stage`)

A call is in flight from the moment at which its worker commits to it until the answer is in the
sent-ledger. The stand-ins see neither end, so a short while is added on both sides. A fault of a
worker interrupts calls of its own connections only; one of Postgres or of the state instance any.
A clean stop (SIGTERM) excuses nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import quantiles
from types import MappingProxyType
from typing import Final

from notifications.core.rules.lane import DEFAULT_TIME_TO_LIVE, PACE, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status
from providers.contract import Channel
from tests.chaos.facts import SILENCE, Accepted, Call, Facts, Row
from tests.chaos.plans import WORKERS, Deed

TRANSIT_SECONDS: Final = 0.5
"""From the commit that starts a call until a stand-in has read it, on a busy machine."""
LEDGER_SECONDS: Final = 0.5
"""From a stand-in's answer until it is in the sent-ledger, on a busy machine."""
NO_LEVELS: Final[Mapping[Priority, float]] = MappingProxyType({})
OVERDUE_SECONDS: Final = 60.0
LONGEST_WAIT_SECONDS: Final = 600.0
"""Above every wait of the policies that a run's messages have."""

_KILLS: Final = frozenset({Deed.KILL.value, Deed.FREEZE.value, Deed.STAY_DEAD.value})
_HELPERS: Final = frozenset({"state", "postgres"})
"""Servers whose loss can hide an answer that a worker had."""
_MAY_INTERRUPT: Final = _HELPERS | frozenset(WORKERS)
_SHOWS_REPEATS: Final = frozenset({Channel.SMS, Channel.EMAIL})
_SAYS_SENT: Final = frozenset({Status.SENT, Status.UNCONFIRMED, Status.DELIVERED, Status.READ})
_SAYS_NOT_SENT: Final = frozenset({
    Status.FAILED,
    Status.EXPIRED,
    Status.SUPPRESSED,
    Status.CANCELLED,
})
_NAMES_MESSAGES: Final = frozenset({Channel.PUSH, Channel.SMS})
"""Whose answers carry an id that the row must have."""


class Promise(StrEnum):
    """What can be broken."""

    NOT_SENT = "not sent"
    TWICE = "sent twice"
    UNKNOWN = "unknown without a reason"
    CONTRADICTED = "status contradicted by the provider"
    STUCK = "stuck"
    REFUSED = "refused by the API"
    ENDED_ALONE = "process ended by itself"
    LATE = "late"
    LEFT_RUNNING = "process left running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One promise broken once."""

    promise: Promise
    what: str
    notification_id: str = ""


@dataclass(slots=True, kw_only=True)
class Account:
    """What came of a run."""

    accepted: int = 0
    sent: int = 0
    """Taken by a provider."""
    not_sent: int = 0
    repeats: int = 0
    """That a person sees, explained or not."""
    repeats_in_flight: int = 0
    """Of these: the call before was in flight at a fault."""
    repeats_unanswered: int = 0
    """Of these: the provider never answered the call before."""
    unknown: int = 0
    unknown_in_flight: int = 0
    unknown_unanswered: int = 0
    never_arrived: int = 0
    """`unknown`, and no provider read a call: its worker died between its commit and its call."""
    refused: int = 0
    """`unknown`, and each provider refused its call: its worker died before the answer came."""
    expired: int = 0
    dropped: int = 0
    """By the preset `low`, which gives up without a dead letter."""
    contradicted: int = 0
    still_open: int = 0
    in_flight: int = 0
    """Calls that were in flight at a fault of their own worker or of a server."""
    delays: dict[Priority, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds from the answer 202 to the call that was taken."""
    late: int = 0
    """Later than the levels of the run."""
    slowest: dict[Priority, str] = field(default_factory=dict)
    """The notification with the longest delay."""
    broken: list[Broken] = field(default_factory=list)


def reconcile(
    facts: Facts, *, levels: Mapping[Priority, float] = NO_LEVELS, may_be_late: float = 0.01
) -> Account:
    """Compare what was accepted with what the providers took and what the database says.

    Args:
        facts: what was seen.
        levels: seconds that hold, by priority. A message of such a priority may not expire.
        may_be_late: share of the messages of a priority that may be later.
    """
    account = Account(accepted=len(facts.accepted))
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in facts.rows:
        rows[row.notification_id].append(row)
    calls: dict[str, list[Call]] = defaultdict(list)
    for call in facts.calls:
        calls[call.token].append(call)
    for message in facts.accepted:
        may_expire = message.priority not in levels
        judge = _Judge(account, message, calls[message.token], facts, may_expire=may_expire)
        judge.judge(rows[message.notification_id])
    for why in (*facts.refused, *facts.server_errors):
        account.broken.append(Broken(promise=Promise.REFUSED, what=why))
    for who in facts.ended_alone:
        account.broken.append(Broken(promise=Promise.ENDED_ALONE, what=who))
    for priority, level in levels.items():
        delays = account.delays[priority]
        late = sum(delay > level for delay in delays)
        account.late += late
        if late > may_be_late * len(delays):
            what = f"{late} of {len(delays)} {priority.name} later than {level:g} s"
            account.broken.append(Broken(promise=Promise.LATE, what=what))
    return account


def p99(delays: Sequence[float]) -> float:
    """The 99th percentile; 0 for none."""
    if len(delays) > 1:
        return quantiles(delays, n=100, method="inclusive")[98]
    return max(delays, default=0.0)


class _Judge:
    """Judges one message."""

    def __init__(
        self,
        account: Account,
        message: Accepted,
        calls: list[Call],
        facts: Facts,
        *,
        may_expire: bool,
    ) -> None:
        self._account = account
        self._may_expire = may_expire
        self._message = message
        self._calls = calls
        self._taken = [call for call in calls if call.took]
        self._ended = facts.ended
        self._faults = [fault for fault in facts.faults if fault.deed in _KILLS]

    def judge(self, rows: Sequence[Row]) -> None:
        account = self._account
        account.in_flight += sum(self._is_interrupted(call) for call in self._calls)
        if self._taken:
            account.sent += 1
            delay = self._taken[0].at - self._message.at
            delays = account.delays[self._message.priority]
            if delay > max(delays, default=0.0):
                account.slowest[self._message.priority] = self._message.notification_id
            delays.append(max(0.0, delay))
        self._judge_repeats()
        if not rows or (len(rows) > 1 and not self._message.has_chain):
            self._break(Promise.NOT_SENT, f"it has {len(rows)} deliveries instead of one")
            return
        # Of a fallback chain the delivery counts that was sent, or else the last one.
        row = next((each for each in rows if each.status in _SAYS_SENT), rows[-1])
        self._judge_status(row)
        if row.status is Status.UNKNOWN:
            self._judge_unknown(row)
        elif not self._taken:
            self._judge_missing(row)

    def _break(self, promise: Promise, why: str) -> None:
        message = self._message
        what = f"{message.priority.name} {message.channel.label} {message.token}: {why}"
        self._account.broken.append(
            Broken(promise=promise, what=what, notification_id=message.notification_id)
        )

    def _judge_repeats(self) -> None:
        account = self._account
        seen: set[str] = set()
        for before, call in zip([None, *self._taken], self._taken, strict=False):
            is_new = call.channel in _SHOWS_REPEATS or call.key not in seen
            seen.add(call.key)
            if before is None or not is_new:
                continue
            account.repeats += 1
            if before.answer in SILENCE:
                account.repeats_unanswered += 1
            elif self._is_interrupted(before):
                account.repeats_in_flight += 1
            else:
                wait = call.at - before.at
                self._break(Promise.TWICE, f"taken again after {wait:.1f} s")

    def _judge_status(self, row: Row) -> None:
        why = ""
        ids = {call.message_id for call in self._taken}
        if row.status in _SAYS_SENT and not self._taken:
            why = f"it is {row.status.label}, and no provider took it"
        elif row.status in _SAYS_NOT_SENT and self._taken:
            why = f"it is {row.status.label} ({row.reason}), and a provider took it"
        elif (
            row.status in _SAYS_SENT
            and self._message.channel in _NAMES_MESSAGES
            and row.provider_message_id
            and row.provider_message_id not in ids
        ):
            why = f"its provider's id is {row.provider_message_id}, which no provider gave it"
        if why:
            self._account.contradicted += 1
            self._break(Promise.CONTRADICTED, why)

    def _judge_unknown(self, row: Row) -> None:
        account = self._account
        account.unknown += 1
        if not self._calls:
            account.never_arrived += 1
        elif not self._taken:
            account.refused += 1
        if any(call.answer in SILENCE for call in self._calls):
            account.unknown_unanswered += 1
        elif any(self._is_interrupted(call) for call in self._calls) or self._dies_before(row):
            account.unknown_in_flight += 1
        elif self._taken:
            self._break(Promise.UNKNOWN, f"{row.reason}; a provider took and answered it")
        else:
            account.not_sent += 1
            self._break(Promise.NOT_SENT, f"it is unknown ({row.reason}), and no call was made")

    def _judge_missing(self, row: Row) -> None:
        account = self._account
        bulk = self._message.priority is Priority.P3
        if row.status in OPEN:
            account.still_open += 1
            if row.due_in is None or not -OVERDUE_SECONDS < row.due_in < LONGEST_WAIT_SECONDS:
                account.not_sent += 1
                due = "never" if row.due_in is None else f"in {row.due_in:.0f} s"
                self._break(Promise.STUCK, f"it is {row.status.label} ({row.reason}), due {due}")
        elif row.status is Status.EXPIRED and self._may_have_expired():
            account.expired += 1
        elif row.status is Status.FAILED and bulk and row.reason == Reason.RETRIES_EXHAUSTED:
            account.dropped += 1
        else:
            account.not_sent += 1
            self._break(
                Promise.NOT_SENT,
                f"it is {row.status.label} ({row.reason}) after {row.attempts} attempts",
            )

    def _may_have_expired(self) -> bool:
        longest = DEFAULT_TIME_TO_LIVE[self._message.priority].total_seconds()
        return self._may_expire and self._ended - self._message.at > longest

    def _is_interrupted(self, call: Call) -> bool:
        longest = PACE[self._message.priority].deadline.total_seconds()
        end = call.at + longest if call.ended is None else call.ended
        begin, end = call.at - TRANSIT_SECONDS, end + LEDGER_SECONDS
        return any(
            begin <= fault.at <= end and (fault.target in _HELPERS or call.port in fault.ports)
            for fault in self._faults
        )

    def _dies_before(self, row: Row) -> bool:
        """Whether a fault came between the commit of a call and the call."""
        started = row.call_started_at
        return started is not None and any(
            started <= fault.at <= started + TRANSIT_SECONDS and fault.target in _MAY_INTERRUPT
            for fault in self._faults
        )
