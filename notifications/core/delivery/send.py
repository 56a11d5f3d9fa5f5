"""Send: call a provider for the deliveries of a batch, in waves of concurrent calls.

    memory (attached) -> permits (in_flight) -> switches -> render -> renew (committed) -> call
          ^                    ^                                                            |
          '--------------------'--- given back as outcomes arrive ---- settle <--- outcomes '

A wave is as large as the number of permits, so `call_started_at` is set only for calls that begin.
After a worker's death only such calls may have sent a message; the rest of the claim returns to the
queue and counts as no attempt. Several waves of one task overlap. No transaction is open during a
call.

Each outcome goes to the sent-ledger on arrival, and is settled with retries until Postgres takes
it. The outcome of a locked row is settled at the end of the task, behind the calls of all
providers. An outcome survives a failed settle, a database restart and an error in another wave for
as long as the process lives.

Deliveries without a call return to the queue when the task's time is over or the process stops.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from queue import SimpleQueue
from typing import Final, TypeVar
from uuid import UUID

import structlog
from django.db import InterfaceError, InternalError, OperationalError, connection

from notifications.core import clock, stopping
from notifications.core.delivery import (
    answers,
    attached,
    call_metrics,
    call_reservations,
    failover,
    gates,
    in_flight,
    leaving,
    provider_health,
    render,
    settle,
    switches,
    waves,
)
from notifications.core.delivery.answers import Arrival, Wave
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.evidence import entry_of
from notifications.core.rules.lane import PACE
from notifications.core.rules.outcomes import RETURN_GRACE, Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import RETURN
from notifications.core.store.postgres import claims, db_errors
from notifications.core.store.rate_limits import frequency_caps as caps
from notifications.core.store.redis import sent_ledger
from providers.contract import Message, Misconfigured, Provider, Rejected

Answer = TypeVar("Answer")
Rendered = tuple[ClaimedDelivery, Message]
_log = structlog.get_logger(__name__)

_SETTLE_AT: Final = 250
"""Number of outcomes settled together: half a chunk, so that Postgres works during the calls."""
_SETTLE_AFTER: Final = 0.25
"""Seconds after which outcomes are settled, even a few."""
_GATES_HOLD_FOR: Final = 1.0
"""Seconds after which the gates of waiting deliveries run again before a call."""
_LOOK_AGAIN: Final = 0.05
"""Seconds after which a task with calls in flight asks again for permits."""
_MOST_WAVES: Final = 16
"""Maximum number of concurrent waves of a task; each wave has a thread. A wave with a hanging call
lasts until its deadline, and must not stop the task."""
_DATABASE_PAUSE: Final = 0.5
"""Seconds between two tries of a failed write."""
_RENEW_WITHIN: Final = 10.0
"""Seconds for which the write that marks calls as begun is tried again."""
_JUDGED: Final = frozenset({Rejected, Misconfigured})
"""Kinds of outcomes that the breakers may change, so that the ledger gets the verdict."""


def send(
    batch: Batch, deliveries: Sequence[ClaimedDelivery], *, provider: Provider, at_end: ExitStack
) -> None:
    """Send deliveries through a provider and settle the outcomes.

    Failed-over deliveries stay in the batch, with their next provider first. `at_end` settles the
    outcomes of locked rows, which takes as long as the locks.

    Raises:
        Exception: Postgres or a wave failed; every call that had begun is settled.
    """
    at_end.callback(attached.release, deliveries)
    _Sending(batch, deliveries, provider).run(at_end)


class _Sending:
    """The waves of a task at a provider."""

    def __init__(
        self, batch: Batch, deliveries: Sequence[ClaimedDelivery], provider: Provider
    ) -> None:
        self._batch = batch
        self._provider = provider
        self._waiting = deque(deliveries)
        self._pace = PACE[deliveries[0].delivery.priority]
        self._is_urgent = deliveries[0].delivery.priority.is_urgent
        self._waves: list[Wave] = []
        self._arrived: SimpleQueue[list[Arrival]] = SimpleQueue()
        self._unsettled: list[settle.Pair] = []
        self._locked: list[settle.Pair] = []
        self._settled_at = clock.monotonic()
        self._renewed_at = clock.steady()
        self._gated_at = batch.claim.taken_at
        self._place = in_flight.Place()
        self._error: Exception | None = None

    def run(self, at_end: ExitStack) -> None:
        try:
            while self._waiting and not self._error and self._may_begin():
                self._run_step(self._begin_wave)
                self._run_step(self._handle_arrivals)
        finally:
            attached.leave(self)
        while self._waves or self._unsettled:
            self._run_step(self._handle_arrivals)
        if self._locked:
            at_end.callback(self._settle_locked)
        self._raise_error()
        self._return_waiting()

    def _run_step(self, step: Callable[[], None]) -> None:
        """Run a step and keep the first error: `run` settles begun calls, then raises."""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - raised again by `run`
            self._error = self._error or error

    def _raise_error(self) -> None:
        if self._error:
            error, self._error = self._error, None
            raise error

    def _may_begin(self) -> bool:
        return not stopping.is_stopping() and self._seconds_left() > 0

    def _seconds_left(self) -> float:
        worked = clock.steady() - self._batch.claim.taken_at
        return self._pace.begin_within.total_seconds() - worked

    def _begin_wave(self) -> None:
        if len(self._waves) >= _MOST_WAVES:
            return
        has_calls = bool(self._waves)
        patience = attached.reserve(self._waiting, task=self, has_calls=has_calls)
        if not patience:
            return
        permits = in_flight.acquire(
            self._provider,
            min(len(self._waiting), self._provider.capabilities.batch_limit),
            urgent=self._is_urgent,
            timeout=0.0 if has_calls else max(0.0, min(patience, self._seconds_left())),
            place=self._place,
        )
        if not permits:
            attached.release(self._waiting)
            return
        calls: Mapping[int, Rendered] = {}
        try:
            if taken := self._take_waiting(permits):
                calls = self._prepare(taken)
        finally:
            in_flight.release(self._provider, permits - len(calls), ())
        if calls:
            wave = Wave(calls, self._provider, self._arrived, lingers=not self._is_urgent)
            now = self._batch.now
            waves.start(wave, pace=self._pace, renewed_at=self._renewed_at, now=now)
            self._waves.append(wave)

    def _take_waiting(self, count: int) -> list[ClaimedDelivery]:
        """Take deliveries for a wave, without those for which a gate or a switch has closed."""
        batch = self._batch
        if (now := clock.steady()) - self._gated_at > _GATES_HOLD_FOR:
            self._gated_at = now
            waiting = list(self._waiting)
            free = self._write_with_retries(
                lambda: gates.look_again(batch, waiting), within=_RENEW_WITHIN
            )
            self._waiting = deque(self._without_stopped(waiting, free))
        taken = attached.take(self._waiting, count, task=self)
        unexpired = gates.stop_expired(batch, taken)
        free = switches.stop_before_calls(batch, list(unexpired), provider=self._provider.name)
        return self._without_stopped(taken, free)

    def _without_stopped(
        self, deliveries: Sequence[ClaimedDelivery], free: Sequence[ClaimedDelivery]
    ) -> list[ClaimedDelivery]:
        """Give back the capacity of stopped deliveries; returns the free ones."""
        if len(free) < len(deliveries):
            ids = {claimed.delivery.id for claimed in free}
            stopped = [claimed for claimed in deliveries if claimed.delivery.id not in ids]
            provider_health.return_capacity(stopped, self._provider)
        return list(free)

    def _prepare(self, deliveries: Sequence[ClaimedDelivery]) -> Mapping[int, Rendered]:
        """Render deliveries and mark the calls as begun; returns the calls of valid leases."""
        rendered, broken = render.messages(deliveries, now=self._batch.now)
        settle.dead_letter(self._batch, broken, reason=Reason.RENDER_ERROR)
        paid = self._with_money(rendered)
        name, token = self._provider.name, self._batch.token
        calls = waves.begin(paid, self._renew, token=token, provider=name)
        if len(calls) < len(deliveries):
            uncalled = [each for each in deliveries if each.delivery.id.int not in calls]
            provider_health.return_capacity(uncalled, self._provider)
            lost = [each.delivery for each, _ in paid if each.delivery.id.int not in calls]
            caps.refund_unsent(lost)
        return calls

    def _renew(self, ids: Sequence[UUID]) -> Sequence[int | None]:
        """Renew the leases, again after an error: a lost COMMIT must not leave rows as called."""

        def renew() -> Sequence[int | None]:
            self._renewed_at = clock.steady()
            return claims.renew(ids, token=self._batch.token, provider=self._provider.name)

        return self._write_with_retries(renew, within=_RENEW_WITHIN)

    def _with_money(self, rendered: list[Rendered]) -> list[Rendered]:
        """Return the permitted messages, with their deliveries."""
        asking = [claimed for claimed, _ in rendered]
        paid = call_reservations.reserve(self._batch, asking, provider=self._provider.name)
        if len(paid) == len(asking):
            return rendered
        ids = {each.delivery.id for each in paid}
        return [each for each in rendered if each[0].delivery.id in ids]

    def _handle_arrivals(self) -> None:
        """Receive outcomes, and settle them when enough have arrived."""
        if self._waves:
            self._take(timeout=self._wait_limit())
        is_late = clock.monotonic() - self._settled_at >= _SETTLE_AFTER
        if self._unsettled and (not self._waves or is_late or len(self._unsettled) >= _SETTLE_AT):
            pairs, self._unsettled = self._unsettled, []
            self._settle_each(self._fail_over(self._judge(pairs)))
            self._settled_at = clock.monotonic()

    def _wait_limit(self) -> float | None:
        """Return the seconds to wait for an outcome before the next settle is due."""
        look_again = _LOOK_AGAIN if self._waiting else None
        if not self._unsettled:
            return look_again
        left = max(0.0, self._settled_at + _SETTLE_AFTER - clock.monotonic())
        return left if look_again is None else min(left, look_again)

    def _take(self, *, timeout: float | None) -> None:
        pairs: list[settle.Pair] = []
        for wave, pair, *_ in waves.group(self._arrived, timeout=timeout):
            if pair is None:
                self._waves.remove(wave)
                self._error = self._error or wave.error
                pairs += answers.of_silent_calls(wave)
            else:
                pairs.append(pair)
        if not pairs:
            return
        self._unsettled += pairs
        in_flight.release(self._provider, len(pairs), [result for _, result in pairs])
        try:
            call_metrics.record_spans(pairs, provider=self._provider.name)
        except Exception:  # noqa: BLE001 - whatever the exporter raises, a trace costs no answer
            _log.exception("spans_not_recorded", provider=self._provider.name)

    def _settle_locked(self) -> None:
        """Settle the outcomes of locked rows, until no row is locked."""
        while self._locked:
            pairs, self._locked = self._locked, []
            self._run_step(functools.partial(self._settle_each, pairs))
        self._raise_error()

    def _settle_each(self, pairs: Sequence[settle.Pair]) -> None:
        """Settle outcomes. An error that is not the database's keeps no outcome from the rows."""
        try:
            self._settle_final(pairs)
        except leaving.LeftToRescue:
            return
        except Exception:  # noqa: BLE001 - whatever it is, it is raised again for its own outcome
            # An outcome that cannot be stored must not block other outcomes.
            _log.warning("settled_one_by_one", provider=self._provider.name, count=len(pairs))
            for pair in pairs:
                self._run_step(functools.partial(self._settle_alone, pair))

    def _judge(self, pairs: Sequence[settle.Pair]) -> Sequence[settle.Pair]:
        """Report the calls to the breakers, and note the verdicts on which a decision depends."""
        try:
            judged = provider_health.record(pairs, provider=self._provider)
        except Exception as error:  # noqa: BLE001 - raised again by `run`, after the settle
            self._error = self._error or error
            return pairs
        sent_ledger.write(
            entry_of(claimed, result, provider=self._provider)._replace(is_judged=True)
            for claimed, result in judged
            if type(result.outcome) in _JUDGED or claimed.is_probe
        )
        return judged

    def _fail_over(self, pairs: Sequence[settle.Pair]) -> Sequence[settle.Pair]:
        """Pass deliveries on to their next provider; returns the pairs to settle."""
        try:
            final = self._write_with_retries(
                lambda: failover.fail_over(pairs, provider=self._provider, token=self._batch.token)
            )
        except Exception as error:  # noqa: BLE001 - raised again by `run`, after the settle
            self._error = self._error or error
            return failover.as_retries(pairs)
        if len(final) < len(pairs):
            staying = {claimed.delivery.id for claimed, _ in final}
            waves.end_flights(each for each, _ in pairs if each.delivery.id not in staying)
        return final

    def _settle_alone(self, pair: settle.Pair) -> None:
        """Settle an outcome, or leave the outcome to the rescue, which reads the ledger."""
        try:
            self._settle_final([pair])
        except Exception:
            if sent_ledger.add([entry_of(*pair, provider=self._provider)]):
                waves.end_flights([pair[0]])
            raise

    def _settle_final(self, pairs: Sequence[settle.Pair]) -> None:
        locked = self._write_with_retries(
            lambda: leaving.settle_or_leave(self._batch, pairs, provider=self._provider)
        )
        self._locked += locked
        later = {claimed.delivery.id for claimed, _ in locked}
        settled = [pair for pair in pairs if pair[0].delivery.id not in later] if later else pairs
        sent_ledger.forget([
            (claimed.delivery.id, claimed.call)
            for claimed, result in settled
            if type(result.outcome) in sent_ledger.DEFINITE
        ])
        waves.end_flights([claimed for claimed, _ in settled])

    def _write_with_retries(
        self, write: Callable[[], Answer], *, within: float = float("inf")
    ) -> Answer:
        """Repeat a write until Postgres takes it; meanwhile, outcomes go to the ledger.

        Raises:
            OperationalError: Postgres failed for `within` seconds.
            InterfaceError: as OperationalError.
            InternalError: not by the end of the session.
        """
        until = clock.monotonic() + within
        while True:
            try:
                return write()
            except (OperationalError, InterfaceError, InternalError) as error:
                if not db_errors.is_away(error) or clock.monotonic() >= until:
                    raise
                _log.warning("write_repeated", why=type(error.__cause__ or error).__name__)
                connection.close_if_unusable_or_obsolete()
                self._take(timeout=_DATABASE_PAUSE)

    def _return_waiting(self) -> None:
        """Queue deliveries without a call; due at once if the process stops."""
        stops = stopping.is_stopping()
        decision = Decision(
            transition=RETURN,
            reason=Reason.CLAIM_RETURNED,
            due_in=clock.AT_ONCE if stops else RETURN_GRACE,
            republish_in=None if stops else clock.AT_ONCE,
        )
        provider_health.return_capacity(self._waiting, self._provider)
        for claimed in self._waiting:
            self._batch.decide(claimed, decision)
        self._batch.commit()
