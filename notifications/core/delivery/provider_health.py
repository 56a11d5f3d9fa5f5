"""Provider health: report the outcomes of a batch to circuit breakers, before the settle.

    Accepted                        success
    Rejected                        an answer; many rejections in a row are doubted; after a
                                    suspect call (`Suspect`) the contact stays
    Rejected with a `refused_part`  an answer to a probe, else not counted: the refusal is about the
                                    sender, template or address of one message (`refused_parts`)
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

import datetime as dt
import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeGuard
from uuid import UUID

import structlog
from django.db import Error

from notifications.core.delivery import attached, refused_parts
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode
from notifications.core.rules.rate_limits.circuit_breaker import (
    EVERY_ENDPOINT,
    REFUSALS_BELIEVED,
    BreakerReport,
    CallStats,
    HealthKey,
    Probe,
    Suspect,
)
from notifications.core.store.postgres import alerts, dead_contacts
from notifications.core.store.postgres.dead_contacts import DeadReport
from notifications.core.store.rate_limits import circuit_breakers
from providers.contract import (
    Accepted,
    Channel,
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
    if name is None:
        return _key_of_all(provider.name, claimed.delivery.channel)
    return HealthKey(provider.name, claimed.delivery.channel, name(claimed.destination.address))


_key_of_all = functools.cache(HealthKey)


def record(pairs: Sequence[Pair], *, provider: Provider) -> list[Pair]:
    """Report outcomes to the breakers; returns the outcomes to settle, in the same order."""
    by_key = _by_key(pairs, provider)
    return_capacity(
        [claimed for claimed, result in pairs if isinstance(result.outcome, NotStarted)], provider
    )
    refused_parts.record(pairs, provider=provider)
    verdicts = circuit_breakers.record_calls({
        key: _with_suspects(call_stats(together), key, together) for key, together in by_key.items()
    })
    changed: dict[UUID, Outcome] = {}
    for key, verdict in verdicts.items():
        if verdict.is_open:
            for claimed, result in by_key[key]:
                claimed.is_probe |= isinstance(result.outcome, Unavailable)
        in_doubt = _rejections_in_doubt(by_key[key], verdict)
        _alert(HealthKey(*key.pair), {outcome.code for outcome in in_doubt.values()})
        if not verdict.is_ignored:
            changed |= {
                result.delivery_id: keep_contact(outcome)
                for _, result, outcome in _suspect_calls(key, by_key[key])
            }
        changed |= in_doubt
        _end_confirmed(verdict.confirmed, provider)
    return _with_outcomes(pairs, changed)


def _by_key(pairs: Iterable[Pair], provider: Provider) -> Mapping[HealthKey, Sequence[Pair]]:
    """Group the calls of live mode by breaker; a call to an endpoint has two breakers."""
    by_channel: dict[Channel, list[Pair]] = defaultdict(list)
    for pair in pairs:
        claimed, result = pair
        if claimed.delivery.mode is Mode.LIVE and not isinstance(result.outcome, NotStarted):
            by_channel[claimed.delivery.channel].append(pair)
    if provider.capabilities.endpoint_of is None:
        return {HealthKey(provider.name, each): calls for each, calls in by_channel.items()}
    by_key: dict[HealthKey, list[Pair]] = defaultdict(list)
    for channel, calls in by_channel.items():
        for pair in calls:
            by_key[key_of(pair[0], provider)].append(pair)
            by_key[HealthKey(provider.name, channel, EVERY_ENDPOINT)].append(pair)
    return by_key


def _with_outcomes(pairs: Sequence[Pair], changed: Mapping[UUID, Outcome]) -> list[Pair]:
    if not changed:
        return list(pairs)
    return [
        (claimed, replace(result, outcome=changed[result.delivery_id]))
        if result.delivery_id in changed
        else (claimed, result)
        for claimed, result in pairs
    ]


def return_capacity(uncalled: Iterable[ClaimedDelivery], provider: Provider) -> None:
    """Release the endpoint capacity, and the memory of attachments, of unstarted calls."""
    deliveries = list(uncalled)
    attached.release(deliveries)
    if provider.capabilities.endpoint_of is None:
        return
    counts = Counter(
        key_of(claimed, provider) for claimed in deliveries if claimed.delivery.mode is Mode.LIVE
    )
    circuit_breakers.record_calls({key: CallStats(returned=count) for key, count in counts.items()})


def call_stats(pairs: Iterable[Pair]) -> CallStats:
    """Count the outcomes of calls, in the order in which the calls ended."""
    counts: Counter[str] = Counter()
    dead: set[int] = set()
    fault = failure = ""
    probe = Probe.NONE
    for claimed, result in pairs:
        outcome = result.outcome
        field, answer = COUNTED_AS[type(outcome)]
        if claimed.is_probe:
            probe = max(probe, answer, key=list(Probe).index)
        if isinstance(outcome, Rejected) and is_of_one_message(outcome):
            counts["returned"] += 1
            continue
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
    return CallStats(
        **counts,
        last_dead=len(dead),
        fault=fault,
        failure=failure,
        probe=probe,
        suspects=(),
        confirms=False,
    )


def is_of_one_message(outcome: Outcome) -> TypeGuard[Rejected]:
    """Return True for a refusal of a part of the message, which says nothing of the provider."""
    return isinstance(outcome, Rejected) and bool(outcome.refused_part)


def keep_contact(outcome: Rejected) -> Rejected:
    """Return a refusal that ends no contact, because a setting may be wrong."""
    detail = f"the contact stays until the provider accepts a message: {outcome.detail}"
    return replace(outcome, contact_is_dead=False, detail=detail)


def fault_of(outcome: Misconfigured) -> str:
    """Return a provider's answer about our account, in words."""
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


def _suspect_calls(
    key: HealthKey, pairs: Sequence[Pair]
) -> list[tuple[ClaimedDelivery, Result, Rejected]]:
    """Return the suspect calls after the last accepted call."""
    if key.endpoint:
        return []
    found = []
    for claimed, result in reversed(pairs):
        outcome = result.outcome
        if isinstance(outcome, Accepted):
            break
        if isinstance(outcome, Rejected) and is_suspect(outcome):
            found.append((claimed, result, outcome))
    return found[::-1]


def is_suspect(outcome: Rejected) -> bool:
    """Return True if the refusal means a dead address or a wrong setting of ours."""
    return outcome.contact_is_dead and outcome.may_be_misconfigured


def _with_suspects(stats: CallStats, key: HealthKey, pairs: Sequence[Pair]) -> CallStats:
    if not stats.last_dead:
        return stats
    suspects = {
        claimed.delivery.contact_id: Suspect(
            claimed.delivery.contact_id,
            outcome.code,
            round(claimed.delivery.claimed_at.timestamp() * 1_000),
        )
        for claimed, _, outcome in _suspect_calls(key, pairs)
    }
    return replace(
        stats,
        suspects=tuple(suspects.values())[:REFUSALS_BELIEVED],
        last_dead=stats.last_dead - len(suspects),
    )


def _end_confirmed(suspects: Collection[Suspect], provider: Provider) -> None:
    """End the contacts of suspects. Without Postgres, the contacts stay until a later refusal."""
    reports = {
        each.contact_id: DeadReport(
            f"{provider.name}: {each.code}",
            dt.datetime.fromtimestamp(each.claimed_ms / 1_000, tz=dt.UTC),
        )
        for each in suspects
    }
    try:
        dead_contacts.invalidate(reports, provider=provider.name)
    except Error as error:
        _log.warning("contacts_not_ended", provider=provider.name, error=type(error).__name__)


def _rejections_in_doubt(
    pairs: Iterable[Pair], verdict: BreakerReport
) -> dict[UUID, Misconfigured]:
    refused = [
        (claimed.delivery.id, result.outcome)
        for claimed, result in pairs
        if isinstance(result.outcome, Rejected) and not is_of_one_message(result.outcome)
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
