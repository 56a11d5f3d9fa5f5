"""Every open delivery has an exit: any history of claims, errors, deaths and receipts ends.

After each history the invariant of `unreachable.sql` finds nothing, and time and sweeps alone bring
every delivery to a final status.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import ClassVar, Final
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import ProgrammingError, connection
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from notifications.core import broker, clock
from notifications.core.delivery import deliver, lane_pauses
from notifications.core.delivery.batch import Batch
from notifications.core.feedback import delivery_receipts
from notifications.core.models import Alert, Delivery, Notification, Switch
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules import ids
from notifications.core.rules.lane import Lane
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.switches import SwitchKind
from notifications.core.scheduling import cancel
from notifications.core.store.postgres import claims, id_ranges, unreachable
from notifications.core.store.redis import sent_ledger, state
from notifications.core.store.redis.sent_ledger import LedgerEntry
from notifications.core.sweeps import due_rows, relay, release, rounds
from notifications.core.sweeps.rounds import RunOnce
from providers.contract import (
    Accepted,
    Message,
    NotStarted,
    Outcome,
    Receipt,
    ReceiptKind,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from tests.journey import CHAIN, Accept, Reach, chain_of
from tests.vendors import Scripted

pytestmark = pytest.mark.django_db(transaction=True)

_LIMIT: Final = 500
_ROUNDS: Final = 60
"""Rounds of time and sweeps: more than the attempts of any retry policy on three channels."""
_SWEEPS: Final[Sequence[RunOnce]] = (
    due_rows.rescue_lost,
    due_rows.retry,
    due_rows.recheck_unknown,
    release.run_once,
    due_rows.expire,
    due_rows.advance_ordering,
)
_OUTCOMES: Final[Sequence[Outcome]] = (
    Accepted(message_id="m-1"),
    Throttled(),
    Unavailable(),
    NotStarted(),
    Rejected(code="gone"),
    Rejected(code="spam", another_provider_may_accept=True),
    Unanswered(code="timeout"),
)
_priorities = st.sampled_from(("P0", "P1", "P2", "P3"))
_times = st.integers(min_value=1, max_value=6)
_some = st.integers(min_value=0, max_value=999)


class RaisingStep:
    """The first step of every task: raises `error`."""

    error: Exception | None = None

    def __call__(self, _batch: Batch) -> None:
        if self.error is not None:
            raise self.error


class Histories(RuleBasedStateMachine):
    """Histories of deliveries by one process; the broker is away."""

    provider: Scripted
    take: ClassVar[Accept]
    fault: ClassVar[RaisingStep] = RaisingStep()

    def __init__(self) -> None:
        super().__init__()
        state.client().flushdb()
        lane_pauses.forget()
        self.notifications: list[UUID] = []
        self.outcome: Outcome = Accepted(message_id="m-1")
        self.provider.answer = self._answer

    def _answer(self, batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        return ((each, self.outcome) for each in batch)

    def _rows(self) -> list[Delivery]:
        return [
            row
            for each in self.notifications
            for row in Delivery.objects.filter(id__gt=each, id__lte=ids.last_delivery_of(each))
        ]

    def _open(self) -> list[Delivery]:
        return [row for row in self._rows() if row.due_at is not None or row.status in OPEN]

    # --- What happens to deliveries

    @rule(priority=_priorities, is_chain=st.booleans(), key=st.sampled_from(("", "k")))
    def accept(self, priority: str, key: str, *, is_chain: bool) -> None:
        fields: dict[str, object] = {"priority": priority}
        fields |= (CHAIN | {"priority": priority}) if is_chain else {"channels": ["email"]}
        if key and not is_chain:
            fields["ordering_key"] = f"{key}-{priority}"
        [first, *_] = chain_of(self.take(**fields))
        self.notifications.append(first.notification_id)

    @rule(
        which=st.lists(_some, min_size=1, max_size=3),
        error=st.sampled_from((None, None, RuntimeError("a step"), ProgrammingError("a column"))),
        outcome=st.sampled_from(_OUTCOMES),
    )
    def deliver(self, which: list[int], error: Exception | None, outcome: Outcome) -> None:
        self.fault.error, self.outcome = error, outcome
        self._deliver([row for row in self._chosen(which) if row.status != Status.SENDING])
        self.fault.error = None

    @rule(times=_times, which=_some)
    def fail_again_and_again(self, times: int, which: int) -> None:
        for _ in range(times):
            self.deliver([which], RuntimeError("a step"), Accepted())
            self.pass_time()

    def _deliver(self, rows: Sequence[Delivery]) -> None:
        by_lane: dict[Lane, list[UUID]] = {}
        for row in rows:
            by_lane.setdefault(_lane_of(row), []).append(row.id)
        lane_pauses._probed_at.clear()  # a second passes
        for lane, delivery_ids in by_lane.items():
            with suppress(RuntimeError, ProgrammingError):
                deliver.deliver(delivery_ids, lane=lane.name)

    @rule(
        times=_times,
        which=_some,
        evidence=st.sampled_from((0, 1, 2)),
    )
    def kill_worker(self, times: int, which: int, evidence: int) -> None:
        """Kill workers after the claim, after the call began, or after the provider's answer."""
        for _ in range(times):
            rows = [row for row in self._chosen([which]) if row.status != Status.SENDING]
            claim = claims.claim([row.id for row in rows], now=clock.now())
            claimed = [each.id for each in claim.deliveries]
            if evidence:
                calls = claims.renew(claimed, token=claim.token, provider="scripted")
                if evidence > 1:
                    sent_ledger.write([
                        LedgerEntry(each, call, "scripted", self.outcome)
                        for each, call in zip(claimed, calls, strict=True)
                        if call
                    ])
            self.pass_time()
            self.sweep(0)

    @rule(which=_some, outcome=st.sampled_from(_OUTCOMES))
    def answer_after_the_lease(self, which: int, outcome: Outcome) -> None:
        """Settle the outcome of a call after the rescue of its delivery."""

        def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
            self.pass_time()
            self.sweep(0)
            connection.close()  # of the thread of the call
            return ((each, outcome) for each in batch)

        self.provider.answer = answer
        self._deliver([row for row in self._chosen([which]) if row.status != Status.SENDING])
        self.provider.answer = self._answer

    @rule(kind=st.sampled_from(list(ReceiptKind)), which=_some)
    def report(self, kind: ReceiptKind, which: int) -> None:
        receipts = [
            Receipt(kind=kind, delivery_id=row.id, provider_message_id="m-1")
            for row in self._chosen([which], among=self._rows())
        ]
        delivery_receipts.record("scripted", receipts)

    @rule(which=_some)
    def cancel(self, which: int) -> None:
        for row in self._chosen([which]):
            cancel.stop([row.notification_id])

    @rule(which=_some)
    def end_time_to_live(self, which: int) -> None:
        for row in self._chosen([which]):
            over = TransactionNow() - dt.timedelta(seconds=1)
            Notification.objects.filter(id=row.notification_id).update(expires_at=over)
            first, last = row.notification_id, ids.last_delivery_of(row.notification_id)
            theirs = Delivery.objects.filter(id__gt=first, id__lte=last)
            theirs.filter(due_at__gt=over).update(due_at=over)

    @rule(channel=st.sampled_from(("email", "sms")))
    def set_switch(self, channel: str) -> None:
        target = SwitchTarget(kind=SwitchKind.CHANNEL, value=channel)
        switches.set_switch(target, reason="tests", expires_at=None, by="tests")

    @rule()
    def resume_switches(self) -> None:
        switches.resume(Switch.objects.all(), by="tests")

    @rule()
    def pass_time(self) -> None:
        """Make every waiting row due, as hours would."""
        with connection.cursor() as running:
            running.execute(
                "UPDATE delivery SET due_at = now() - interval '20 seconds', slot_at = NULL"
                " WHERE due_at > now() - interval '20 seconds'"
            )
        state.client().flushdb()  # breakers close, buckets fill

    @rule(which=st.integers(min_value=0, max_value=len(_SWEEPS) - 1))
    def sweep(self, which: int) -> None:
        swept = _SWEEPS[which](now=clock.now(), limit=_LIMIT)
        assert not swept.failed

    @rule(outcome=st.sampled_from(_OUTCOMES))
    def publish(self, outcome: Outcome) -> None:
        self.outcome = outcome
        [span, *_] = id_ranges.current()
        lane_pauses._probed_at.clear()  # a second passes
        for lane in rounds.lanes_due(Status.QUEUED, span, within=rounds.NO_GRACE):
            if not lane.priority.is_urgent:
                deliver.deliver_due(lane, span, rows=_LIMIT)
                continue
            for message in relay.take(lane, span, _LIMIT):
                self._deliver(list(Delivery.objects.filter(id__in=message)))

    def _chosen(
        self, which: Sequence[int], *, among: Sequence[Delivery] | None = None
    ) -> list[Delivery]:
        rows = self._open() if among is None else among
        places = {number % len(rows) for number in which} if rows else set()
        return [rows[place] for place in places]

    # --- What must hold

    def teardown(self) -> None:
        try:
            assert unreachable.find() == []
            self._bring_to_an_end()
            assert [(row.id, row.status, row.reason, row.claims) for row in self._open()] == []
        finally:
            Delivery.objects.exclude(due_at=None).update(due_at=None, status=Status.CANCELLED)
            Alert.objects.all().delete()
            Switch.objects.all().delete()

    def _bring_to_an_end(self) -> None:
        self.resume_switches()
        for _ in range(_ROUNDS):
            if not self._open():
                break
            self.pass_time()
            for which in range(len(_SWEEPS)):
                self.sweep(which)
            self.pass_time()
            self.publish(_OUTCOMES[0])
            assert unreachable.find() == []
        lane_pauses._probed_at.clear()


def _lane_of(row: Delivery) -> Lane:
    return Lane.of(row.mode, row.priority, row.channel)


def test_any_history_ends_with_every_delivery_final(
    scripted: Scripted, take: Accept, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "takes_messages", lambda: False)
    monkeypatch.setattr(deliver, "STEPS", (Histories.fault, *deliver.STEPS))
    reach("ana", email="ana@example.com", sms="+15552020300", push="token-well")

    class Bound(Histories):
        provider = scripted

    Bound.take = staticmethod(partial(take, user_id="ana"))
    run_state_machine_as_test(Bound, settings=settings(max_examples=15, stateful_step_count=12))
