"""Provider health: report the outcomes of a batch to circuit breakers, before the settle.

    Accepted                        success
    Rejected                        an answer; many rejections in a row are doubted
    Throttled                       an answer; the provider's rate goes down
    Unavailable, Unanswered         failure
    Misconfigured                   failure of our account or credentials
    NotStarted                      not reported, because there was no call

The breakers' answer changes the settle. A doubted rejection becomes Misconfigured: the delivery is
held, its contact stays valid, and an alert names the settings to check. A failed call counts as a
probe, and not as an attempt, if it opened the breaker or ended while the breaker was open.

A provider with several servers (`Capabilities.endpoint_of`) has a breaker for each endpoint. Calls
in test mode are not reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import structlog
from django.db import Error

from notifications.delivery.claimed import ClaimedDelivery
from notifications.rules.alerts import AlertKind
from notifications.rules.lane import Mode
from notifications.rules.rate_limits.circuit_breaker import (
    EVERY_ENDPOINT,
    BreakerReport,
    CallStats,
    HealthKey,
    Probe,
)
from notifications.store.postgres import alerts
from notifications.store.rate_limits import circuit_breakers
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Provider,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

_log = structlog.get_logger(__name__)

Pair = tuple[ClaimedDelivery, Result]

NOT_BELIEVED: Final = "one of many refusals, so it is not believed"


def key_of(claimed: ClaimedDelivery, provider: Provider) -> HealthKey:
    """Return the key of the breaker and rate limit for a delivery."""
    name = provider.capabilities.endpoint_of
    endpoint = name(claimed.destination.address) if name else ""
    return HealthKey(provider.name, claimed.delivery.channel, endpoint)


def record(pairs: Sequence[Pair], *, provider: Provider) -> list[Pair]:
    """Report outcomes to the breakers; returns the outcomes to settle, in the same order."""
    by_key: dict[HealthKey, list[Pair]] = defaultdict(list)
    for pair in pairs:
        claimed, result = pair
        if claimed.delivery.mode is Mode.LIVE and not isinstance(result.outcome, NotStarted):
            by_key[key_of(claimed, provider)].append(pair)
            if provider.capabilities.endpoint_of:
                over_all = HealthKey(provider.name, claimed.delivery.channel, EVERY_ENDPOINT)
                by_key[over_all].append(pair)
    return_capacity(
        (claimed for claimed, result in pairs if isinstance(result.outcome, NotStarted)), provider
    )
    verdicts = circuit_breakers.record_calls({
        key: call_stats(together) for key, together in by_key.items()
    })
    doubted: dict[UUID, Misconfigured] = {}
    for key, verdict in verdicts.items():
        if verdict.is_open:
            for claimed, result in by_key[key]:
                claimed.is_probe |= isinstance(result.outcome, Unavailable)
        in_doubt = _rejections_in_doubt(by_key[key], verdict)
        _alert(HealthKey(*key.pair), {outcome.code for outcome in in_doubt.values()})
        doubted |= in_doubt
    return [
        (claimed, replace(result, outcome=doubted.get(result.delivery_id, result.outcome)))
        for claimed, result in pairs
    ]


def return_capacity(deliveries: Iterable[ClaimedDelivery], provider: Provider) -> None:
    """Release the endpoint capacity of calls that did not begin."""
    if provider.capabilities.endpoint_of is None:
        return
    uncalled = Counter(
        key_of(claimed, provider) for claimed in deliveries if claimed.delivery.mode is Mode.LIVE
    )
    circuit_breakers.record_calls({
        key: CallStats(returned=count) for key, count in uncalled.items()
    })


def call_stats(pairs: Iterable[Pair]) -> CallStats:
    """Count the outcomes of calls, in the order in which the calls ended."""
    counts: Counter[str] = Counter()
    dead: set[int] = set()
    fault = failure = ""
    probe = Probe.NONE
    for claimed, result in pairs:
        outcome = result.outcome
        field, answer = COUNTED_AS[type(outcome)]
        counts[field] += 1
        counts["calls"] += 1
        if answer is not Probe.FAILED:
            counts["last_failures"] = counts["faults"] = 0
        elif isinstance(outcome, Misconfigured):
            fault = fault_of(outcome)
        else:
            counts["last_failures"] += 1
            failure = failure_of(outcome)
        if isinstance(outcome, Accepted):
            dead.clear()
        elif isinstance(outcome, Rejected) and outcome.contact_is_dead:
            dead.add(claimed.delivery.contact_id)
        if claimed.is_probe:
            probe = max(probe, answer, key=list(Probe).index)
    return CallStats(**counts, last_dead=len(dead), fault=fault, failure=failure, probe=probe)


def fault_of(outcome: Misconfigured) -> str:
    """Return the answer of a provider that blames our account, in words."""
    return f"the provider answers {outcome.code}, our credentials or account are refused"


def failure_of(outcome: Outcome) -> str:
    """Return the answer of a failed call in a few words, such as `503` or `no answer`."""
    code = getattr(outcome, "code", "")
    if isinstance(outcome, Unanswered):
        return f"no answer, {code}" if code else "no answer"
    return code or "unavailable"


COUNTED_AS: Final[Mapping[type[Outcome], tuple[str, Probe]]] = {
    Accepted: ("accepted", Probe.ACCEPTED),
    Rejected: ("rejected", Probe.ANSWERED),
    Throttled: ("throttled", Probe.ANSWERED),
    Unavailable: ("unavailable", Probe.FAILED),
    Unanswered: ("unanswered", Probe.FAILED),
    Misconfigured: ("faults", Probe.FAILED),
}
"""Outcome -> field of the counts, and the result of a probe. NotStarted is not counted."""


def _rejections_in_doubt(
    pairs: Iterable[Pair], verdict: BreakerReport
) -> dict[UUID, Misconfigured]:
    refused = [
        (claimed.delivery.id, result.outcome)
        for claimed, result in pairs
        if isinstance(result.outcome, Rejected)
    ]
    return {
        delivery_id: Misconfigured(code=outcome.code, detail=NOT_BELIEVED)
        for delivery_id, outcome in refused[verdict.believed :]
    }


def _alert(health: HealthKey, codes: Collection[str]) -> None:
    """Raise the alert for codes. Without Postgres, log the failure, so that the settle goes on."""
    if not codes:
        return
    detail = f"refusals that are not believed: {', '.join(sorted(codes))}; their deliveries wait"
    try:
        alerts.raise_once(AlertKind.REFUSALS_NOT_BELIEVED, health.label, detail)
    except Error as error:
        _log.warning("alert_not_raised", provider=health.provider, error=type(error).__name__)
