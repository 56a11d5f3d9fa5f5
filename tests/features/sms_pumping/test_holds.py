"""P0 and P1 SMS of every origin pass the ceilings of SMS pumping protection before the call."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Caller
from notifications.core.models import Attempt, Delivery, Event, Producer
from notifications.core.rules import request
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.store.redis import state
from notifications.core.sweeps import release, rounds
from notifications.features.sms_pumping import counts as sms_ceilings
from notifications.features.sms_pumping import policy, sweep
from notifications.features.sms_pumping.models import SmsLimits, SmsOverride
from providers.contract import Channel
from tests.journey import (
    CHAIN,
    Accept,
    Reach,
    chain_of,
    chain_statuses,
    deliver_chain,
    status_and_reason,
    take_rows,
)

NUMBER: Final = "+4915112345678"
TEXT: Final = {"channels": ["sms"], "priority": "P1"}
HOUR: Final = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _ceilings(outbox: Callable[[UUID], list[Any]], caller: Caller) -> Iterator[None]:
    """Route SMS to the sandbox; two SMS to a number are permitted."""
    del outbox, caller  # their settings come first
    SmsLimits.objects.create(address_limit=2)
    policy.forget()
    yield
    policy.forget()


def _deliver(rows: list[UUID]) -> list[tuple[Status, str]]:
    deliver.deliver(rows)
    return [status_and_reason(each) for each in rows]


@pytest.mark.parametrize("priority", ["P0", "P1"])
def test_messages_above_the_ceiling_are_held_with_a_reason_and_an_event(
    take: Accept, reach: Reach, priority: str
) -> None:
    reach(sms=NUMBER)
    rows = take_rows(take, 3, **(TEXT | {"priority": priority}))
    found = _deliver(rows)
    assert found == [(Status.SENT, "")] * 2 + [(Status.SCHEDULED, "sms_ceiling")]
    event = Event.objects.get(reason="sms_ceiling")
    assert event.detail == "ceiling of the address, DE"
    held = Delivery.objects.get(id=rows[2])
    assert held.due_at is not None
    assert held.due_at > clock.now()
    assert not Attempt.objects.filter(delivery_id=rows[2]).exists()


def test_a_held_message_leaves_when_the_ceiling_has_room(take: Accept, reach: Reach) -> None:
    reach(sms=NUMBER)
    rows = take_rows(take, 3, **TEXT)
    _deliver(rows)
    SmsLimits.objects.update(address_limit=3)
    policy.forget()
    Delivery.objects.filter(id=rows[2]).update(due_at=TransactionNow(), status=Status.QUEUED)
    assert _deliver(rows[2:]) == [(Status.SENT, "")]


@pytest.mark.parametrize(
    "change", ["limit", "not_enforced", "override", "end_of_override"], ids=lambda each: each
)
def test_held_messages_leave_when_an_operator_lifts_the_ceiling(
    take: Accept, reach: Reach, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr(rounds, "SECONDS", 60.0)
    reach(sms=NUMBER)
    ends_at = clock.now() + HOUR
    if change == "end_of_override":
        SmsLimits.objects.update(address_limit=9)
        SmsOverride.objects.create(
            ceiling="address", value=NUMBER[1:], limit=2, ends_at=ends_at, reason="x"
        )
        policy.forget()
    for _ in range(2):
        sweep.run_once(now=clock.now(), limit=12)
    rows = take_rows(take, 3, **(TEXT | {"priority": "P0"}))
    assert _deliver(rows)[2] == (Status.SCHEDULED, "sms_ceiling")
    assert sweep.run_once(now=clock.now(), limit=12).moved == 0
    match change:
        case "limit":
            SmsLimits.objects.update(address_limit=9)
        case "not_enforced":
            SmsLimits.objects.update(is_enforced=False)
        case "override":
            SmsOverride.objects.create(ceiling="address", value=NUMBER[1:], limit=9, reason="x")
        case _:
            SmsOverride.objects.update(ends_at=clock.now() - HOUR)
    sweep.run_once(now=clock.now(), limit=12)
    release.run_once(now=clock.now(), limit=500)
    policy.forget()
    assert _deliver(rows[2:]) == [(Status.SENT, "")]


def test_patient_messages_have_no_ceiling(take: Accept, reach: Reach) -> None:
    reach(sms=NUMBER)
    rows = take_rows(take, 3, **(TEXT | {"priority": "P2"}))
    assert _deliver(rows) == [(Status.SENT, "")] * 3


@pytest.mark.parametrize("key", ["", "code-{}"], ids=["without_key", "with_key"])
def test_a_message_that_accept_counted_counts_once(caller: Caller, reach: Reach, key: str) -> None:
    reach(sms=NUMBER)
    rows = []
    for number in range(2):
        body = {"user_id": "maria", "type": "OTP", "content": {"body": "1234"}, **TEXT}
        if key:
            body["idempotency_key"] = key.format(number)
        asked = request.parse(body)
        assert not isinstance(asked, Problem)
        [answer] = accept.accept(replace(caller, is_post=True), [asked])
        assert isinstance(answer, AcceptedRequest)
        rows.append(UUID(answer.response["deliveries"][0]["delivery_id"]))
    assert _deliver(rows) == [(Status.SENT, "")] * 2
    number = int(clock.now().timestamp()) // 600
    counts = sms_ceilings.counts_of(sms_ceilings.PREFIXES, [number - 1, number])
    assert sum(each.get("4915112", 0) for each in counts) == 2


def test_a_fallback_chain_goes_on_with_the_next_channel(take: Accept, reach: Reach) -> None:
    reach(push="token.400", sms=NUMBER, email="maria@sandbox.example")
    _deliver(take_rows(take, 2, **TEXT))
    answer = take(**CHAIN)
    for _ in range(3):
        deliver_chain(answer)
    found = chain_statuses(answer)
    assert [channel for channel, _, _ in found] == ["push", "sms", "email"]
    assert found[1] == ("sms", "failed", "escalated")
    assert found[2][1] == "sent"


CODE: Final = {"fallback_chain": True, "priority": "P0", "channels": ["push", "sms"]}


def _fall_back(take: Accept, user_id: str) -> AcceptedRequest:
    """Accept a code, and deliver its push until the SMS is open."""
    answer = take(user_id=user_id, **CODE)
    assert isinstance(answer, AcceptedRequest)
    for _ in range(30):
        if len(chain_of(answer)) > 1:
            break
        deliver_chain(answer)
    assert len(chain_of(answer)) > 1, chain_statuses(answer)
    return answer


def _prefix_floor(floor: int) -> None:
    SmsLimits.objects.update(prefix_floor=floor)
    policy.forget()


def _counted(prefix: str) -> int:
    number = int(clock.now().timestamp()) // 600
    found = sms_ceilings.counts_of(sms_ceilings.PREFIXES, [number - 1, number])
    return sum(each.get(prefix, 0) for each in found)


def test_codes_of_an_outage_of_push_are_counted_and_leave(take: Accept, reach: Reach) -> None:
    _prefix_floor(2)
    for place in range(6):
        reach(f"person{place}", push="token.503", sms=f"+55119876543{place:02}")
        answer = _fall_back(take, f"person{place}")
        deliver_chain(answer)
        assert chain_statuses(answer)[1] == ("sms", "sent", "")
    assert _counted("5511987") == 6
    assert not sms_ceilings.refusals([int(clock.now().timestamp()) // 600])


@pytest.mark.parametrize(
    ("push", "leaves"),
    [
        ({"status": Status.UNCONFIRMED, "sent_at": clock.now}, True),
        ({"status": Status.UNCONFIRMED}, True),  # the provider did not answer
        ({"status": Status.FAILED, "channel": Channel.EMAIL}, True),
        ({"status": Status.UNCONFIRMED, "sent_at": clock.now, "channel": Channel.EMAIL}, False),
        ({"status": Status.FAILED, "sent_at": clock.now}, False),  # by a receipt
        ({"status": Status.BOUNCED}, False),
        ({"status": Status.SUPPRESSED}, False),
        ({"status": Status.UNCONFIRMED, "channel": Channel.IN_APP, "contact_id": -1}, False),
    ],
)
def test_an_address_that_nobody_rejected_is_needed_before_a_code_has_no_ceiling(
    take: Accept, reach: Reach, push: dict[str, Any], leaves: object
) -> None:
    _prefix_floor(1)
    reach("first", sms="+5511987654300")
    _deliver(take_rows(take, 1, user_id="first", **TEXT))
    reach("maria", push="token.503", sms="+5511987654301")
    answer = _fall_back(take, "maria")
    given = {name: value() if callable(value) else value for name, value in push.items()}
    Delivery.objects.filter(id=chain_of(answer)[0].id).update(**given)
    deliver_chain(answer)
    found = ("sent", "") if leaves else ("scheduled", "sms_ceiling")
    assert chain_statuses(answer)[1] == ("sms", *found)


def test_codes_behind_rejected_tokens_have_the_ceilings(take: Accept, reach: Reach) -> None:
    _prefix_floor(2)
    found = []
    for place in range(4):
        reach(f"bot{place}", push="token.400", sms=f"+55119876543{place:02}")
        answer = _fall_back(take, f"bot{place}")
        deliver_chain(answer)
        found.append(chain_statuses(answer)[1][1:])
    assert found == [("sent", "")] * 2 + [("scheduled", "sms_ceiling")] * 2


def test_codes_of_an_outage_have_the_ceiling_of_the_number(take: Accept, reach: Reach) -> None:
    reach("maria", push="token.503", sms=NUMBER)
    found = []
    for _ in range(3):
        answer = _fall_back(take, "maria")
        deliver_chain(answer)
        found.append(chain_statuses(answer)[1][1:])
    assert found == [("sent", "")] * 2 + [("scheduled", "sms_ceiling")]


@pytest.mark.parametrize(("ceiling", "value"), [("prefix", "4915"), ("country", "DE")])
def test_an_operators_override_holds_the_codes_of_an_outage(
    take: Accept, reach: Reach, ceiling: str, value: str
) -> None:
    SmsOverride.objects.create(ceiling=ceiling, value=value, limit=0, reason="attack")
    policy.forget()
    reach("maria", push="token.503", sms=NUMBER)
    answer = _fall_back(take, "maria")
    deliver_chain(answer)
    assert chain_statuses(answer)[1] == ("sms", "scheduled", "sms_ceiling")


def test_a_country_that_the_producer_may_not_use_is_suppressed(
    take: Accept, reach: Reach, caller: Caller
) -> None:
    reach(sms="+2348031234567")
    Producer.objects.filter(pk=caller.producer_id).update(sms_countries=["DE"])
    policy.forget()
    rows = take_rows(take, 1, **(TEXT | {"priority": "P3"}))
    assert _deliver(rows) == [(Status.SUPPRESSED, "country_not_allowed")]
    assert Event.objects.get(reason="country_not_allowed").detail == "NG"


def test_without_the_state_redis_messages_leave(
    take: Accept, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(sms=NUMBER)
    rows = take_rows(take, 3, **TEXT)

    def away(*_args: object) -> None:
        raise state.Away

    monkeypatch.setattr(state, "call", away)
    assert _deliver(rows) == [(Status.SENT, "")] * 3
