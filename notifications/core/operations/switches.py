"""Switches: set and resume kill switches, and count held deliveries, also before the switch.

A switch holds matching deliveries within two seconds. New requests of a held source are accepted
and wait. The time to live of a waiting delivery goes on. `resume` ends the hold, and the sweep
`release` brings the waiting rows forward. After an expiry, the waiting rows come due by themselves.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import Producer, Switch, Template
from notifications.core.rules.lane import LANES, Mode, Priority
from notifications.core.rules.problems import FieldError, Kind, Problem, Refused
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.cached import switches
from notifications.core.store.cached.provider_overrides import Pair
from notifications.core.store.postgres import db, id_ranges
from providers.contract import Channel

COUNTED: Final = 10_000
"""Upper bound of a count: per priority of a switch, and per lane and status of a forecast."""
_SOON: Final = dt.timedelta(hours=1)
"""A forecast counts scheduled deliveries that are due within this time."""
_LIVE_LANES: Final = [lane for lane in LANES if lane.mode is Mode.LIVE]


class SwitchRefused(Refused):
    """The switch cannot be set."""

    def __init__(self, field: str, detail: str) -> None:
        """Build the problem for a field of the request."""
        super().__init__(Problem(Kind.INVALID, detail, (FieldError(f"/{field}", detail),)))
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchTarget:
    """The deliveries that a switch holds."""

    kind: SwitchKind
    value: str
    channel: Channel | None = None
    """Only for a provider; None: every channel of the provider."""


@dataclass(frozen=True, slots=True)
class Held:
    """Held deliveries of a switch, of one priority."""

    count: int
    """At most COUNTED."""
    first_due: dt.datetime
    """The first due time: the expiry of the switch, or the end of a time to live."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Deliveries that a new switch would hold, of one priority."""

    count: int
    is_lower_bound: bool
    """True if more deliveries wait than were counted."""


def set_switch(
    target: SwitchTarget, *, reason: str, expires_at: dt.datetime | None, by: str
) -> Switch:
    """Set a switch; every process holds matching deliveries within two seconds.

    Args:
        target: the deliveries to hold.
        reason: a sentence for operators; shown on each held delivery.
        expires_at: the end of the pause; None: until an operator resumes.
        by: the operator, or the API key.

    Raises:
        SwitchRefused: the target does not exist, or the expiry has passed.
    """
    producer = check(target)
    if expires_at is not None and expires_at <= clock.now():
        raise SwitchRefused("expires_at", "must be in the future")
    row = Switch.objects.create(
        kind=target.kind,
        value=target.value,
        channel=target.channel,
        producer=producer,
        reason=reason,
        expires_at=expires_at,
        set_by=by[:150],
    )
    switches.forget()
    return row


def resume(rows: QuerySet[Switch], *, by: str) -> int:
    """End switches now; returns the number of ended switches. Safe to run twice."""
    ended = rows.filter(resumed_at=None).update(resumed_at=clock.now(), resumed_by=by[:150])
    switches.forget()
    return ended


def active() -> QuerySet[Switch]:
    """Return the switches that hold deliveries now."""
    return Switch.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=clock.now()), resumed_at=None
    )


def switches_by_pair(pairs: Iterable[Pair]) -> dict[Pair, Switch]:
    """Return the active switch of each held provider and channel; the latest switch wins."""
    found: dict[Pair, Switch] = {}
    wanted = list(pairs)
    for row in active().filter(kind=SwitchKind.PROVIDER).order_by("pk"):
        found |= {
            pair: row for pair in wanted if pair[0] == row.value and row.channel in {None, pair[1]}
        }
    return found


def check(target: SwitchTarget) -> Producer | None:
    """Check that the target exists; return the producer of a producer's switch.

    Raises:
        SwitchRefused: the target does not exist.
    """
    if target.channel is not None:
        _check_channel(target.kind, target.value, target.channel)
    producer = None
    if target.kind is SwitchKind.BULK_JOB:
        raise SwitchRefused("kind", "cannot be bulk_job; pause the bulk job")
    if target.kind is SwitchKind.PRODUCER:
        producer = Producer.objects.filter(name=target.value).first()
    if not (producer or _exists(target)):
        raise SwitchRefused("value", f"there is no {target.kind} with this name")
    return producer


def _check_channel(kind: SwitchKind, value: str, channel: Channel) -> None:
    if kind is not SwitchKind.PROVIDER:
        raise SwitchRefused("channel", "is only for a switch of the kind provider")
    provider = routing.providers_by_name().get(value)
    if provider and channel not in provider.capabilities.channels:
        raise SwitchRefused("channel", f"{value} does not take this channel")


def _exists(target: SwitchTarget) -> bool:
    """Return True if the target exists; a producer is the caller's to find."""
    match target.kind:
        case SwitchKind.TEMPLATE:
            return Template.objects.filter(template_id=target.value).exists()
        case SwitchKind.CHANNEL:
            return target.value in {channel.label for channel in Channel}
        case SwitchKind.PROVIDER:
            return target.value in routing.providers_by_name()
        case SwitchKind.LANE:
            return target.value in {lane.name for lane in LANES}
        case _:  # a request with a priority may use a type without a row
            return target.kind is SwitchKind.TYPE


def by_switch(rows: Iterable[Switch]) -> dict[int, dict[Priority, Held]]:
    """Return the waiting deliveries by switch id and priority."""
    found: dict[int, dict[Priority, Held]] = defaultdict(dict)
    parameters = {
        "switches": [row.pk for row in rows],
        "priorities": [int(each) for each in Priority],
        "scheduled": Status.SCHEDULED,
        "counted": COUNTED,
    }
    for row in db.rows("switch_waiting", parameters):
        held = Held(row["held"], row["first_due"])
        found[row["switch_id"]][Priority(row["priority"])] = held
    return found


def forecast(target: SwitchTarget) -> dict[Priority, Forecast]:
    """Count the open deliveries that a switch would hold now, by priority.

    A delivery counts if it is queued, waits for a retry, or is due within the hour. For a provider,
    every delivery of its channels counts, because the provider is chosen later.
    """
    matching = dict.fromkeys(Priority, 0)
    capped = dict.fromkeys(Priority, False)
    for span in id_ranges.current():
        for row in db.rows("switch_forecast", {**span, **_forecast_parameters(target)}):
            priority = Priority(row["priority"])
            matching[priority] += row["matching"]
            capped[priority] |= row["examined"] >= COUNTED
    return {each: Forecast(matching[each], capped[each]) for each in Priority}


def _forecast_parameters(target: SwitchTarget) -> Mapping[str, object]:
    lanes = [lane for lane in _LIVE_LANES if _is_on(target, lane.name, lane.channel)]
    producer = versions = None
    if target.kind is SwitchKind.PRODUCER:
        producer = Producer.objects.filter(name=target.value).values_list("pk", flat=True).first()
    if target.kind is SwitchKind.TEMPLATE:
        pinned = Template.objects.filter(template_id=target.value)
        versions = list(pinned.values_list("pk", flat=True))
    return {
        "priorities": [lane.priority for lane in lanes],
        "channels": [lane.channel for lane in lanes],
        "statuses": [Status.SCHEDULED, Status.QUEUED, Status.RETRYING],
        "live": Mode.LIVE,
        "soon": _SOON,
        "producer": producer,
        "type": target.value if target.kind is SwitchKind.TYPE else None,
        "versions": versions,
        "counted": COUNTED,
    }


def _is_on(target: SwitchTarget, lane: str, channel: Channel) -> bool:
    match target.kind:
        case SwitchKind.CHANNEL:
            return channel.label == target.value
        case SwitchKind.LANE:
            return lane == target.value
        case SwitchKind.PROVIDER:
            provider = routing.providers_by_name().get(target.value)
            able = provider.capabilities.channels if provider else frozenset()
            return channel in able and target.channel in {None, channel}
        case _:
            return True
