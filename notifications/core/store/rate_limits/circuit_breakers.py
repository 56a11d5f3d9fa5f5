"""Circuit breakers: record outcomes of calls for all processes, and force breakers.

The state of a breaker is a JSON object in the state Redis; only the Lua scripts change the state.
Each trip, probe and close of a provider's breaker inserts a `BreakerEvent`, counts, and writes a
log line. An alert stays open while the breaker is open. An endpoint's breaker writes a log line and
an entry in the list of open endpoints. While Redis is away every breaker counts as closed.
`send_admission` checks breakers; `breaker_status` reads the status.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import threading
from collections.abc import Mapping
from typing import Final, NamedTuple, cast

import orjson
import structlog
from django.db import Error
from django.db.models import F

from notifications.core import clock, conf
from notifications.core.models import Breaker, BreakerEvent
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits import token_bucket
from notifications.core.rules.rate_limits.circuit_breaker import (
    ENDPOINT_CALLS,
    ENDPOINTS_LISTED,
    EVERY_ENDPOINT,
    FAULT_ALONE,
    FAULTS,
    FIRST_URGENT_PROBE,
    MOST_ENDPOINT_CALLS,
    OF_ENDPOINT,
    OVER_ENDPOINTS,
    PROBE_EVERY,
    REFUSAL_SAMPLE,
    REFUSALS_BELIEVED,
    SUSPECTS,
    BreakerChange,
    BreakerOverride,
    BreakerReport,
    CallStats,
    HealthKey,
    Suspect,
    Thresholds,
    thresholds_of,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.cached.provider_overrides import Pair
from notifications.core.store.postgres import alerts
from notifications.core.store.redis import state
from providers.contract import Channel

_log = structlog.get_logger(__name__)
Kind = BreakerEvent.Kind

MILLISECOND: Final = dt.timedelta(milliseconds=1)
KEPT_OPEN: Final = dt.timedelta(hours=1)
"""Lifetime of a breaker without a probe; after an hour the provider is probably no longer in use.
"""
CLOSED: Final = "breakers:closed"
"""Redis set: keys of closed breakers whose held deliveries `sweeps.resume` has yet to release."""
RELEASED: Final = "breakers:released"
"""Redis sorted set: keys of closed breakers by the time of the release of their held deliveries."""
_REPORT_EVERY: Final = 1.0
"""Batches with only accepted calls are reported at most once in so many seconds."""
AT_ONCE: Final = 100
"""Endpoints per Lua call; a call with this many takes about ten milliseconds."""
_COUNTED: Final = {Kind.TRIPPED: "trips", Kind.PROBED: "probes", Kind.CLOSED: "closes"}
_SHARED: Final = orjson.dumps({
    "believed": REFUSALS_BELIEVED,
    "endpoint_calls": ENDPOINT_CALLS,
    "fault_alone": FAULT_ALONE // MILLISECOND,
    "faults": FAULTS,
    "first_urgent": FIRST_URGENT_PROBE // MILLISECOND,
    "kept_open": KEPT_OPEN // MILLISECOND,
    "least_base": token_bucket.LEAST_BASE,
    "listed": ENDPOINTS_LISTED,
    "most_endpoint_calls": MOST_ENDPOINT_CALLS,
    "probe_every": PROBE_EVERY // MILLISECOND,
    "recover": token_bucket.RECOVERS_IN // MILLISECOND,
    "sample": REFUSAL_SAMPLE,
    "slow_every": token_bucket.SLOWED_EVERY // MILLISECOND,
    "slowest": token_bucket.SLOWEST,
    "suspects": SUSPECTS,
})


_Answer = tuple[int, int, int, bytes, bytes]
"""Answer of `health_told.lua` for one result."""


class _Unreported:
    """Accepted calls of the process, before the report to Redis."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.calls: dict[HealthKey, int] = {}
        self.reported_at: dict[HealthKey, float] = {}


_unreported = _Unreported()


def forget() -> None:
    """Drop the unreported accepted calls."""
    _unreported.clear()


def key(health: HealthKey) -> str:
    """Return the Redis key of a breaker."""
    place = f"breaker:{health.channel.label}:{health.provider}"
    return f"{place}:{health.endpoint}" if health.endpoint else place


def health_of(name: str) -> HealthKey:
    """Parse the key of a breaker into provider, channel and endpoint."""
    _, channel, provider, *endpoint = name.split(":", 3)
    return HealthKey(provider, Channel.from_label(channel), "".join(endpoint))


def bucket_key(health: HealthKey) -> str:
    """Return the key of a token bucket: per endpoint, or per provider if there is no endpoint."""
    return ":".join(filter(None, ("bucket", health.provider, health.endpoint)))


def pace_key(health: HealthKey) -> str:
    """Return the key of the reduced rate of a throttling provider."""
    return ":".join(filter(None, ("pace", health.provider, health.endpoint)))


def open_endpoints_key(pair: Pair) -> str:
    """Return the key of the list of a provider's paused endpoints."""
    return f"resting:{pair[1].label}:{pair[0]}"


def record_calls(told: Mapping[HealthKey, CallStats]) -> dict[HealthKey, BreakerReport]:
    """Record outcomes of live calls; return the report of each breaker. Raises nothing.

    All-success batches of a provider are recorded at most once a second, because successes only
    feed the failure ratio; until then such a batch has no report. Failures and calls to endpoints
    are recorded immediately.
    """
    due: dict[HealthKey, CallStats] = {}
    for health, tally in told.items():
        waited = _unreported_calls(health, tally)
        if waited is not None:
            due[health] = tally.after_accepted(waited.calls, are_fresh=waited.are_fresh)
    verdicts = {health: judge_alone(tally) for health, tally in due.items()}
    with contextlib.suppress(state.Away, Error):  # Error: `controls` could not be read
        for start in range(0, len(due), AT_ONCE):
            verdicts |= _record_in_redis(
                dict(itertools.islice(due.items(), start, start + AT_ONCE))
            )
    for health, verdict in verdicts.items():
        _record_change(health, verdict)
    return verdicts


class _Waited(NamedTuple):
    """Accepted calls of a report."""

    calls: int
    are_fresh: bool
    """True if they ended within the last second."""


def _unreported_calls(health: HealthKey, tally: CallStats) -> _Waited | None:
    """Return the unreported accepted calls; None if these calls also stay unreported.

    After suspects, the next accepted call is reported at once.
    """
    if health.endpoint:
        return _Waited(0, are_fresh=False)
    with _unreported.lock:
        waited = _unreported.calls.pop(health, 0)
        due = _unreported.reported_at.get(health, 0.0) + _REPORT_EVERY <= clock.monotonic()
        if tally.is_plain_success and not due:
            _unreported.calls[health] = waited + tally.calls
            return None
        _unreported.reported_at[health] = -_REPORT_EVERY if tally.suspects else clock.monotonic()
        return _Waited(waited, are_fresh=not due)


def _record_in_redis(tallies: Mapping[HealthKey, CallStats]) -> dict[HealthKey, BreakerReport]:
    forced = provider_overrides.current().forced
    ignored = {each for each in tallies if forced.get(each.pair) is BreakerOverride.CLOSED}
    keys = [CLOSED]
    arguments: list[str | int | float | bytes] = [_SHARED]
    for health, said in tallies.items():
        # All is sent through a breaker that is forced closed, so any answer tells as a probe does.
        tally = said.as_probes() if health in ignored else said
        has_list = health.endpoint not in {"", EVERY_ENDPOINT}
        resting = open_endpoints_key(health.pair) if has_list else ""
        keys += [key(health), pace_key(health), resting]
        arguments += [orjson.dumps(thresholds(health)), orjson.dumps(tally), health.endpoint]
    answers = cast("list[_Answer]", state.call("health_told", keys, arguments))
    return {
        health: BreakerReport(
            change=BreakerChange(change),
            is_open=bool(is_open) and health not in ignored,
            believed=tally.rejected if health in ignored else believed,
            why=why.decode(),
            confirmed=tuple(Suspect(**each) for each in orjson.loads(confirmed))
            if confirmed
            else (),
            is_ignored=health in ignored,
        )
        for (health, tally), (change, is_open, believed, why, confirmed) in zip(
            tallies.items(), answers, strict=True
        )
    }


def thresholds(health: HealthKey) -> Thresholds:
    """Return the thresholds of a breaker."""
    if health.endpoint == EVERY_ENDPOINT:
        return OVER_ENDPOINTS
    if health.endpoint:
        return OF_ENDPOINT
    return thresholds_of(conf.current().breaker_failures.get(health.channel))


def judge_alone(tally: CallStats) -> BreakerReport:
    """Judge a batch by itself: Redis is away, or the calls are those of a dead worker."""
    in_doubt = tally.rejected > tally.accepted
    believed = min(tally.rejected, REFUSALS_BELIEVED) if in_doubt else tally.rejected
    return BreakerReport(change=BreakerChange.NONE, is_open=False, believed=believed)


def record_probe(health: HealthKey) -> None:
    """Record a delivery as a probe."""
    _record(health, Kind.PROBED, "")


def _record_change(health: HealthKey, verdict: BreakerReport) -> None:
    if verdict.change is BreakerChange.TRIPPED:
        _record(health, Kind.TRIPPED, verdict.why)
    elif verdict.change is BreakerChange.CLOSED:
        _record(health, Kind.CLOSED, "a probe was answered")


def _record(health: HealthKey, kind: Kind, detail: str) -> None:
    """Log a change and insert an event. While Postgres is away, only the log has the change."""
    _log.warning(
        "breaker",
        provider=health.provider,
        channel=health.channel.label,
        endpoint=health.endpoint,
        kind=kind.value,
        why=detail,
    )
    if health.endpoint:
        return
    try:
        _insert_event(health.pair, kind, detail)
    except Error as error:
        _log.warning("breaker_not_noted", provider=health.provider, error=type(error).__name__)


def _insert_event(pair: Pair, kind: Kind, detail: str) -> None:
    provider, channel = pair
    BreakerEvent.objects.create(provider=provider, channel=channel, kind=kind, detail=detail[:200])
    if column := _COUNTED.get(kind):
        row, _ = Breaker.objects.get_or_create(provider=provider, channel=channel)
        Breaker.objects.filter(pk=row.pk).update(**{column: F(column) + 1})
    subject = HealthKey(*pair).label
    if kind is Kind.TRIPPED:
        alerts.raise_once(AlertKind.BREAKER_OPEN, subject, f"paused: {detail}")
    elif kind is Kind.CLOSED:
        alerts.resolve(AlertKind.BREAKER_OPEN, subject)
        alerts.resolve(AlertKind.PROVIDER_MISCONFIGURED, subject)


def force(pair: Pair, forced: BreakerOverride, *, by: str) -> None:
    """Set or clear the override of a breaker; processes follow within two seconds."""
    provider, channel = pair
    Breaker.objects.update_or_create(
        provider=provider, channel=channel, defaults={"forced": forced}
    )
    kind = {
        BreakerOverride.AUTO: Kind.AUTO,
        BreakerOverride.CLOSED: Kind.FORCED_CLOSED,
    }[forced]
    _record(HealthKey(*pair), kind, f"by {by}")
    provider_overrides.forget()
    # While Redis is away the waiting rows come due by themselves, later.
    with contextlib.suppress(state.Away), state.connection() as redis:
        redis.sadd(CLOSED, key(HealthKey(*pair)))
