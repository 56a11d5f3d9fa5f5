"""Switches: the kinds of kill switches, and which active switch holds a delivery.

    producer  type  template     the messages of a source wait
    bulk_job                     the messages of a bulk job wait; set by the pause of the job
    channel   lane  provider     a way of sending waits: urgent members of a fallback chain go on
                                 to the next channel, as for an open circuit breaker

A switch of a provider lets a delivery with another provider go there. Switches hold live
deliveries; only a switch of a lane or a bulk job holds test deliveries. A hold by a switch spends
no attempt, and the time to live goes on.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from notifications.core.rules.lane import Lane, Mode
from notifications.core.rules.reasons import Reason
from providers.contract import Channel

REASONS: Final = (Reason.PAUSED, Reason.CHANNEL_PAUSED)
"""Reasons of holds by switches."""
SETTLED_AFTER: Final = dt.timedelta(minutes=2)
"""Time after the resume in which a late hold can still be stored: longer than the longest lease."""


class SwitchKind(StrEnum):
    """The kind of a switch: the property of a delivery that the switch compares."""

    PRODUCER = "producer"
    TYPE = "type"
    TEMPLATE = "template"
    BULK_JOB = "bulk_job"
    """Set and ended by the pause, resume and cancellation of the bulk job only."""
    CHANNEL = "channel"
    PROVIDER = "provider"
    LANE = "lane"

    @property
    def reason(self) -> Reason:
        """The reason of a hold by such a switch."""
        is_way = self in {SwitchKind.CHANNEL, SwitchKind.PROVIDER, SwitchKind.LANE}
        return Reason.CHANNEL_PAUSED if is_way else Reason.PAUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSwitch:
    """An active switch."""

    id: int
    kind: SwitchKind
    value: str
    reason: str
    """The operator's reason."""
    until: dt.datetime | None = None
    """End of the pause; None: until an operator resumes."""
    channel: Channel | None = None
    """Only for a provider: the channel; None: every channel of the provider."""
    producer_id: int | None = None
    versions: frozenset[int] = frozenset()
    """Only for a template: the rows of its versions."""

    @property
    def detail(self) -> str:
        """The text of the event of a hold."""
        return f"switch {self.id}, {self.kind} {self.value}: {self.reason}"


@dataclass(frozen=True, slots=True)
class MessageSource:
    """The properties of a message that switches compare."""

    producer_id: int
    type: str
    template: int | None
    bulk_job_id: UUID | None = None


class SwitchBoard:
    """The active switches."""

    def __init__(self, switches: Iterable[ActiveSwitch] = ()) -> None:
        """Sort the switches: the switch with the latest end comes first."""
        forever = dt.datetime.max.replace(tzinfo=dt.UTC)
        self._switches = sorted(switches, key=lambda each: each.until or forever, reverse=True)

    def __bool__(self) -> bool:
        """Return True if a switch is set."""
        return bool(self._switches)

    def of_message(
        self, source: MessageSource, lane: Lane, *, now: dt.datetime
    ) -> ActiveSwitch | None:
        """Return the switch that holds a message for all providers, with the latest end."""
        for each in self._switches:
            if _is_set(each, now) and _holds(each, source, lane):
                return each
        return None

    def holds_lane(self, lane: Lane, *, now: dt.datetime) -> bool:
        """Return True if a switch holds the whole lane."""
        return any(
            each.kind is SwitchKind.LANE and each.value == lane.name and _is_set(each, now)
            for each in self._switches
        )

    def of_provider(self, provider: str, lane: Lane, *, now: dt.datetime) -> ActiveSwitch | None:
        """Return the switch of a provider on a lane."""
        if lane.mode is not Mode.LIVE:
            return None
        for each in self._switches:
            is_named = each.kind is SwitchKind.PROVIDER and each.value == provider
            if is_named and each.channel in {None, lane.channel} and _is_set(each, now):
                return each
        return None


def _is_set(switch: ActiveSwitch, now: dt.datetime) -> bool:
    return switch.until is None or switch.until > now


def _holds(switch: ActiveSwitch, source: MessageSource, lane: Lane) -> bool:
    if switch.kind is SwitchKind.LANE:
        return switch.value == lane.name
    if switch.kind is SwitchKind.BULK_JOB:
        return source.bulk_job_id is not None and switch.value == str(source.bulk_job_id)
    return lane.mode is Mode.LIVE and _is_of(switch, source, lane)


def _is_of(switch: ActiveSwitch, source: MessageSource, lane: Lane) -> bool:
    match switch.kind:
        case SwitchKind.PRODUCER:
            return switch.producer_id == source.producer_id
        case SwitchKind.TYPE:
            return switch.value == source.type
        case SwitchKind.TEMPLATE:
            return source.template in switch.versions
        case _:
            return switch.kind is SwitchKind.CHANNEL and switch.value == lane.channel.label
