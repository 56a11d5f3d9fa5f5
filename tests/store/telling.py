"""Calls that are told to breakers, and deliveries that ask them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid4

from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits.circuit_breaker import (
    BreakerReport,
    CallStats,
    HealthKey,
    Probe,
)
from notifications.core.store.rate_limits import circuit_breakers, send_admission
from notifications.core.store.rate_limits.send_admission import Admission, AdmissionRequest
from providers.contract import Channel

PUSH: Final = HealthKey("acme", Channel.PUSH)
SMS: Final = HealthKey("acme", Channel.SMS)
EMAIL: Final = HealthKey("acme", Channel.EMAIL)
HOOK: Final = HealthKey("hooks", Channel.WEBHOOK, "https://one.example:443")
OTHER_HOOK: Final = HealthKey("hooks", Channel.WEBHOOK, "https://two.example:443")
SECOND: Final = dt.timedelta(seconds=1)
ANNA, BEN, CARLA = (uuid4() for _ in range(3))


def well(times: int = 1) -> CallStats:
    return CallStats(accepted=times, calls=times)


def down(times: int = 1, *, after: int = 0) -> CallStats:
    return CallStats(accepted=after, unavailable=times, last_failures=times, calls=after + times)


def silent(times: int) -> CallStats:
    return CallStats(unanswered=times, last_failures=times, calls=times)


def refused(times: int, *, dead: int = 0, after: int = 0) -> CallStats:
    return CallStats(accepted=after, rejected=times, last_dead=dead, calls=after + times)


FAULT: Final = CallStats(fault="401", faults=1, calls=1)
PROBE_WELL: Final = CallStats(accepted=1, calls=1, probe=Probe.ACCEPTED)
PROBE_DOWN: Final = CallStats(unavailable=1, last_failures=1, calls=1, probe=Probe.FAILED)


def ask(
    key: HealthKey = PUSH,
    *,
    who: Sequence[UUID] = (ANNA, BEN),
    priority: Priority = Priority.P2,
    is_alone: bool = True,
    count: int | None = None,
) -> Admission:
    wanted = AdmissionRequest(
        key=key,
        priority=priority,
        count=len(who) if count is None else count,
        pace=None,
        candidates=who[:2],
        is_alone=is_alone,
    )
    [answer] = send_admission.check([wanted])
    return answer


def report(key: HealthKey, tally: CallStats) -> BreakerReport | None:
    return circuit_breakers.record_calls({key: tally}).get(key)
