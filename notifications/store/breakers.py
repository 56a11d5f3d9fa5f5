"""Breakers: what calls came to, told to all processes; and what each breaker says now.

The state is one JSON object a breaker in the state Redis, changed by Lua alone. Each trip, probe
and close of a provider's own breaker leaves a `BreakerEvent`, a count, a log line, and an alert
while it lasts. Endpoints are too many for that: a log line each, and one list of those that rest.
While Redis is away every breaker counts as closed.

Asking whether deliveries may leave is `departures`; this module tells and forces; `standings`
shows.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import threading
from collections.abc import Mapping
from typing import Final, assert_never, cast

import orjson
import structlog
from django.db import Error
from django.db.models import F

from notifications import clock, conf
from notifications.models import Breaker as Row
from notifications.models import BreakerEvent
from notifications.rules import breaker as rules
from notifications.rules import bucket
from notifications.rules.alerts import AlertKind
from notifications.rules.breaker import (
    EVERY_ENDPOINT,
    OF_ENDPOINT,
    OVER_ENDPOINTS,
    REFUSALS_BELIEVED,
    Change,
    Forced,
    HealthKey,
    Tally,
    Thresholds,
    Verdict,
    thresholds_of,
)
from notifications.store import alerts, controls, state
from notifications.store.controls import Pair
from providers.contract import Channel

_log = structlog.get_logger(__name__)
Kind = BreakerEvent.Kind

MILLISECOND: Final = dt.timedelta(milliseconds=1)
KEPT_OPEN: Final = dt.timedelta(hours=1)
"""A breaker that nobody has probed for so long is forgotten: nobody uses its provider any more."""
CLOSED: Final = "breakers:closed"
"""The keys of breakers that closed and whose waiting rows `sweeps.resume` has yet to release."""
_TELL_EVERY: Final = 1.0
"""Seconds between two tellings of nothing but success: they only weigh what failed."""
_AT_ONCE: Final = 100
"""Endpoints of one Lua call: some ten milliseconds, in which Redis serves nobody else."""
_COUNTED: Final = {Kind.TRIPPED: "trips", Kind.PROBED: "probes", Kind.CLOSED: "closes"}
_SHARED: Final = orjson.dumps({
    "believed": REFUSALS_BELIEVED,
    "endpoint_calls": rules.ENDPOINT_CALLS,
    "fault_alone": rules.FAULT_ALONE // MILLISECOND,
    "faults": rules.FAULTS,
    "first_urgent": rules.FIRST_URGENT_PROBE // MILLISECOND,
    "kept_open": KEPT_OPEN // MILLISECOND,
    "least_base": bucket.LEAST_BASE,
    "listed": rules.ENDPOINTS_LISTED,
    "most_endpoint_calls": rules.MOST_ENDPOINT_CALLS,
    "probe_every": rules.PROBE_EVERY // MILLISECOND,
    "recover": bucket.RECOVERS_IN // MILLISECOND,
    "sample": rules.REFUSAL_SAMPLE,
    "slow_every": bucket.SLOWED_EVERY // MILLISECOND,
    "slowest": bucket.SLOWEST,
})


class _Mine:
    """Successes that this process has not told yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.untold: dict[HealthKey, int] = {}
        self.told_at: dict[HealthKey, float] = {}


_mine = _Mine()


def forget() -> None:
    """Forget what this process knows."""
    _mine.clear()


def key(health: HealthKey) -> str:
    """Where a breaker is kept."""
    return _key("breaker", health)


def health_of(name: str) -> HealthKey:
    """Whose breaker is kept there: the other way round than `key`."""
    _, channel, provider, *endpoint = name.split(":", 3)
    return HealthKey(provider, Channel.from_label(channel), "".join(endpoint))


def bucket_key(health: HealthKey) -> str:
    """Where a bucket is kept: one for all channels of a provider, or one for each endpoint."""
    return ":".join(filter(None, ("bucket", health.provider, health.endpoint)))


def pace_key(health: HealthKey) -> str:
    """Where it is kept by how much throttling lowers the pace."""
    return ":".join(filter(None, ("pace", health.provider, health.endpoint)))


def resting_key(pair: Pair) -> str:
    """Where the endpoints of a provider that rest are listed."""
    return f"resting:{pair[1].label}:{pair[0]}"


def _key(kind: str, health: HealthKey) -> str:
    place = f"{kind}:{health.channel.label}:{health.provider}"
    return f"{place}:{health.endpoint}" if health.endpoint else place


def report(told: Mapping[HealthKey, Tally]) -> dict[HealthKey, Verdict]:
    """Take in what live calls came to; returns what each breaker says then. Raises nothing.

    Accepted calls of a provider are told once a second, anything else at once; a tally that waits
    has no verdict. Endpoints are told at once, because their calls under way are counted.
    """
    due: dict[HealthKey, Tally] = {}
    for health, tally in told.items():
        waited = _untold(health, tally)
        if waited is not None:
            due[health] = tally.after_accepted(waited)
    verdicts = {health: _while_away(tally) for health, tally in due.items()}
    with contextlib.suppress(state.Away):
        for start in range(0, len(due), _AT_ONCE):
            verdicts |= _told(dict(itertools.islice(due.items(), start, start + _AT_ONCE)))
    for health, verdict in verdicts.items():
        _note_change(health, verdict)
    return verdicts


def _untold(health: HealthKey, tally: Tally) -> int | None:
    """Give the accepted calls that wait to be told; None when these are to wait with them."""
    if health.endpoint:
        return 0
    with _mine.lock:
        waited = _mine.untold.pop(health, 0)
        due = _mine.told_at.get(health, 0.0) + _TELL_EVERY <= clock.monotonic()
        if tally.is_plain_success and not due:
            _mine.untold[health] = waited + tally.calls
            return None
        _mine.told_at[health] = clock.monotonic()
        return waited


def _told(tallies: Mapping[HealthKey, Tally]) -> dict[HealthKey, Verdict]:
    forced = controls.current().forced
    ignored = {each for each in tallies if forced.get(each.pair) is Forced.CLOSED}
    keys = [CLOSED]
    arguments: list[str | int | float | bytes] = [_SHARED]
    for health, said in tallies.items():
        # All is sent through a breaker that is forced closed, so any answer tells as a probe does.
        tally = said.as_probes() if health in ignored else said
        has_list = health.endpoint not in {"", EVERY_ENDPOINT}
        resting = resting_key(health.pair) if has_list else ""
        keys += [key(health), pace_key(health), resting]
        arguments += [orjson.dumps(thresholds(health)), orjson.dumps(tally), health.endpoint]
    answers = cast("list[tuple[int, int, int, bytes]]", state.call("health_told", keys, arguments))
    return {
        health: Verdict(
            change=Change(change),
            is_open=bool(is_open) and health not in ignored,
            believed=tally.rejected if health in ignored else believed,
            why=why.decode(),
        )
        for (health, tally), (change, is_open, believed, why) in zip(
            tallies.items(), answers, strict=True
        )
    }


def thresholds(health: HealthKey) -> Thresholds:
    """What trips this breaker."""
    if health.endpoint == EVERY_ENDPOINT:
        return OVER_ENDPOINTS
    if health.endpoint:
        return OF_ENDPOINT
    return thresholds_of(conf.current().breaker_failures.get(health.channel))


def _while_away(tally: Tally) -> Verdict:
    """Without Redis a batch speaks for itself."""
    in_doubt = tally.rejected > tally.accepted
    believed = min(tally.rejected, REFUSALS_BELIEVED) if in_doubt else tally.rejected
    return Verdict(change=Change.NONE, is_open=False, believed=believed)


def note_probe(health: HealthKey) -> None:
    """One delivery leaves to see whether the provider is well."""
    _note(health, Kind.PROBED, "")


def _note_change(health: HealthKey, verdict: Verdict) -> None:
    match verdict.change:
        case Change.NONE:
            return
        case Change.TRIPPED:
            kind, detail = Kind.TRIPPED, verdict.why
        case Change.CLOSED:
            kind, detail = Kind.CLOSED, "a probe was answered"
        case _:
            assert_never(verdict.change)
    _note(health, kind, detail)


def _note(health: HealthKey, kind: Kind, detail: str) -> None:
    """Leave a trace. Without Postgres only the log has it: outcomes still wait to be settled."""
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
        _note_event(health.pair, kind, detail)
    except Error as error:
        _log.warning("breaker_not_noted", provider=health.provider, error=type(error).__name__)


def _note_event(pair: Pair, kind: Kind, detail: str) -> None:
    provider, channel = pair
    BreakerEvent.objects.create(provider=provider, channel=channel, kind=kind, detail=detail[:200])
    if column := _COUNTED.get(kind):
        row, _ = Row.objects.get_or_create(provider=provider, channel=channel)
        Row.objects.filter(pk=row.pk).update(**{column: F(column) + 1})
    subject = HealthKey(*pair).shown
    if kind is Kind.TRIPPED:
        alerts.raise_once(AlertKind.BREAKER_OPEN, subject, f"it rests: {detail}")
    elif kind is Kind.CLOSED:
        alerts.resolve(AlertKind.BREAKER_OPEN, subject)
        alerts.resolve(AlertKind.PROVIDER_MISCONFIGURED, provider)


def force(pair: Pair, forced: Forced, *, by: str) -> None:
    """An operator's word on a breaker; every process heeds it within two seconds."""
    provider, channel = pair
    Row.objects.update_or_create(provider=provider, channel=channel, defaults={"forced": forced})
    kind = {
        Forced.AUTO: Kind.AUTO,
        Forced.OPEN: Kind.FORCED_OPEN,
        Forced.CLOSED: Kind.FORCED_CLOSED,
    }[forced]
    _note(HealthKey(*pair), kind, f"by {by}")
    controls.forget()
    if forced is not Forced.OPEN:
        with contextlib.suppress(state.Away):  # then what waits comes due by itself, later
            state.add(CLOSED, key(HealthKey(*pair)))
