"""Each promise that a run can break is seen to be broken, and what is excused is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from providers.contract import Channel
from tests.chaos.facts import SILENCE, Accepted, Call, Facts, Fault, Row
from tests.chaos.plans import Deed
from tests.chaos.reconcile import Account, Promise, reconcile

_MESSAGE = Accepted(
    token="tok_1",
    notification_id="n1",
    priority=Priority.P2,
    channel=Channel.SMS,
    at=100.0,
)
_CALL = Call(
    channel=Channel.SMS,
    token="tok_1",
    at=101.0,
    took=True,
    answer="ok",
    port=40_001,
    message_id="SM1",
    ended=101.3,
    answered=True,
)
_ROW = Row(
    notification_id="n1",
    status=Status.SENT,
    reason="",
    attempts=1,
    due_in=None,
    call_started_at=100.9,
    provider_message_id="SM1",
)
_KILL = Fault(
    at=101.1, target="channels", deed=Deed.KILL.value, until=101.1, ports=frozenset({40_001})
)


def _came_of(
    *calls: Call,
    row: Row | None = _ROW,
    message: Accepted = _MESSAGE,
    faults: tuple[Fault, ...] = (),
    ended: float = 200.0,
) -> Account:
    return reconcile(
        Facts(
            accepted=[message],
            refused=[],
            calls=list(calls),
            faults=list(faults),
            rows=[row] if row else [],
            ended=ended,
        )
    )


def _broken(account: Account) -> list[Promise]:
    return [each.promise for each in account.broken]


def test_sent_once_breaks_nothing() -> None:
    account = _came_of(_CALL)
    assert not account.broken
    assert (account.sent, account.not_sent, account.repeats) == (1, 0, 0)
    assert account.delays[Priority.P2] == [1.0]


def test_accepted_and_gone_from_the_database() -> None:
    assert _broken(_came_of(_CALL, row=None)) == [Promise.NOT_SENT]


@pytest.mark.parametrize("status", [Status.FAILED, Status.SUPPRESSED, Status.CANCELLED])
def test_never_taken_and_final(status: Status) -> None:
    row = replace(_ROW, status=status, reason="retries_exhausted", provider_message_id="")
    assert _broken(_came_of(row=row)) == [Promise.NOT_SENT]


def test_sent_without_a_call() -> None:
    account = _came_of()
    assert account.contradicted == 1
    assert Promise.CONTRADICTED in _broken(account)


def test_an_id_that_nobody_gave() -> None:
    row = replace(_ROW, provider_message_id="SM2")
    assert _broken(_came_of(_CALL, row=row)) == [Promise.CONTRADICTED]


def test_failed_although_taken() -> None:
    row = replace(_ROW, status=Status.FAILED, reason="retries_exhausted")
    assert _broken(_came_of(_CALL, row=row)) == [Promise.CONTRADICTED]


def test_expired_is_policy_only_after_the_time_to_live() -> None:
    row = replace(_ROW, status=Status.EXPIRED, reason="ttl_passed")
    expired = _came_of(row=row, ended=_MESSAGE.at + 86_401)
    assert (expired.broken, expired.expired) == ([], 1)
    assert _broken(_came_of(row=row)) == [Promise.NOT_SENT]


def test_dropped_is_policy() -> None:
    bulk = replace(_MESSAGE, priority=Priority.P3)
    low = _came_of(
        row=replace(_ROW, status=Status.FAILED, reason="retries_exhausted"), message=bulk
    )
    assert (low.broken, low.dropped) == ([], 1)


def test_open_is_excused_only_while_somebody_will_look() -> None:
    row = replace(_ROW, status=Status.RETRYING)
    assert not _came_of(row=replace(row, due_in=30.0)).broken
    assert _broken(_came_of(row=replace(row, due_in=-90.0))) == [Promise.STUCK]
    assert _broken(_came_of(row=row)) == [Promise.STUCK]
    assert _broken(_came_of(row=replace(row, due_in=7_200.0))) == [Promise.STUCK]


def test_a_repeat_needs_a_fault_during_the_first_call() -> None:
    again = replace(_CALL, at=107.0, ended=107.2, message_id="SM2")
    assert _broken(_came_of(_CALL, again)) == [Promise.TWICE]
    excused = _came_of(_CALL, again, faults=(_KILL,))
    assert (excused.broken, excused.repeats, excused.repeats_in_flight) == ([], 1, 1)
    server = replace(_KILL, target="postgres", ports=frozenset())
    assert not _came_of(_CALL, again, faults=(server,)).broken
    late = replace(_KILL, at=102.0)
    assert _broken(_came_of(_CALL, again, faults=(late,))) == [Promise.TWICE]


@pytest.mark.parametrize(
    ("target", "deed", "port"),
    [
        ("p0", Deed.KILL, 40_002),
        ("web", Deed.KILL, 40_002),
        ("broker", Deed.KILL, 0),
        ("broker", Deed.FLUSH, 0),
        ("channels", Deed.TERMINATE, 40_001),
    ],
)
def test_faults_that_excuse_nothing(target: str, deed: Deed, port: int) -> None:
    again = replace(_CALL, at=107.0, ended=107.2, message_id="SM2")
    fault = replace(_KILL, target=target, deed=deed.value, ports=frozenset({port}))
    assert _broken(_came_of(_CALL, again, faults=(fault,))) == [Promise.TWICE]


def test_a_repeat_with_the_same_key_is_not_seen() -> None:
    message = replace(_MESSAGE, channel=Channel.WEBHOOK)
    first = replace(_CALL, channel=Channel.WEBHOOK, key="one")
    again = replace(first, at=107.0, ended=107.2)
    assert _came_of(first, again, message=message).repeats == 0
    other = replace(again, key="two")
    assert _broken(_came_of(first, other, message=message)) == [Promise.TWICE]


def test_unknown_needs_a_reason() -> None:
    row = replace(_ROW, status=Status.UNKNOWN, reason="worker_lost", provider_message_id="")
    assert _broken(_came_of(_CALL, row=row)) == [Promise.UNKNOWN]
    assert _broken(_came_of(row=row)) == [Promise.NOT_SENT]
    assert not _came_of(_CALL, row=row, faults=(_KILL,)).broken
    for silence in SILENCE:
        silent = replace(_CALL, answer=silence, answered=False)
        assert not _came_of(silent, row=row).broken


def test_unknown_and_never_called_is_excused_only_at_the_moment_of_the_call() -> None:
    row = replace(_ROW, status=Status.UNKNOWN, reason="worker_lost", provider_message_id="")
    account = _came_of(row=row, faults=(_KILL,))
    assert (account.broken, account.never_arrived, account.refused) == ([], 1, 0)
    waiting = replace(row, call_started_at=_KILL.at - 3)
    assert _broken(_came_of(row=waiting, faults=(_KILL,))) == [Promise.NOT_SENT]


def test_unknown_of_a_call_that_was_refused_while_its_worker_died() -> None:
    row = replace(_ROW, status=Status.UNKNOWN, reason="worker_lost", provider_message_id="")
    refused = replace(_CALL, took=False, answer="throttled", answered=False)
    account = _came_of(refused, row=row, faults=(_KILL,))
    assert (account.broken, account.never_arrived, account.refused) == ([], 0, 1)


def test_later_than_the_service_level() -> None:
    slow = replace(_CALL, at=105.0, ended=105.2)
    facts = Facts(
        accepted=[_MESSAGE], refused=[], calls=[slow], faults=[], rows=[_ROW], ended=200.0
    )
    assert _broken(reconcile(facts, levels={Priority.P2: 4.0})) == [Promise.LATE]
    assert not reconcile(facts, levels={Priority.P2: 6.0}).broken


def test_a_share_of_the_messages_may_be_late() -> None:
    facts = Facts(
        accepted=[replace(_MESSAGE, token=f"tok_{number}") for number in range(100)],
        refused=[],
        calls=[replace(_CALL, token="tok_0", at=115.0, ended=115.2)]
        + [replace(_CALL, token=f"tok_{number}") for number in range(1, 100)],
        faults=[],
        rows=[_ROW],
        ended=200.0,
    )
    levels = {Priority.P2: 10.0}
    assert not reconcile(facts, levels=levels).broken
    assert _broken(reconcile(facts, levels=levels, may_be_late=0.001)) == [Promise.LATE]


def test_no_message_of_a_priority_with_a_level_may_expire() -> None:
    row = replace(_ROW, status=Status.EXPIRED, reason="ttl_passed", provider_message_id="")
    facts = Facts(
        accepted=[_MESSAGE], refused=[], calls=[], faults=[], rows=[row], ended=10_000_000.0
    )
    assert not reconcile(facts).broken
    assert _broken(reconcile(facts, levels={Priority.P2: 10.0})) == [Promise.NOT_SENT]


def test_a_chain_counts_by_the_delivery_that_was_sent() -> None:
    given_up = replace(_ROW, status=Status.FAILED, reason="escalated", provider_message_id="")
    facts = Facts(
        accepted=[replace(_MESSAGE, has_chain=True)],
        refused=[],
        calls=[_CALL],
        faults=[],
        rows=[given_up, _ROW],
        ended=200.0,
    )
    assert reconcile(facts).broken == []
    without = replace(facts, accepted=[_MESSAGE])
    assert _broken(reconcile(without)) == [Promise.NOT_SENT]
    unsent = replace(facts, rows=[given_up, replace(given_up, reason="permanent")], calls=[])
    assert _broken(reconcile(unsent)) == [Promise.NOT_SENT]
