"""Alerts about refusals of a part of a message: its sender, template, or an address in a sandbox.

The circuit breakers do not count such a refusal, so the alert is what tells an operator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import structlog
from django.db import Error

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.models import Producer
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import alerts
from providers.contract import Channel, Provider, Rejected, Result
from providers.refused_parts import RefusedPart

_log = structlog.get_logger(__name__)

Pair = tuple[ClaimedDelivery, Result]

_NAMED: Final = 3
"""Producers, types and codes that an alert names."""


def alert(pairs: Sequence[Pair], *, provider: Provider) -> None:
    """Raise an alert for each channel and refused part. Without Postgres, log the failure."""
    refused: dict[tuple[Channel, RefusedPart], list[ClaimedDelivery]] = defaultdict(list)
    codes: dict[tuple[Channel, RefusedPart], set[str]] = defaultdict(set)
    for claimed, result in pairs:
        outcome = result.outcome
        if (
            isinstance(outcome, Rejected)
            and outcome.refused_part
            and claimed.delivery.mode is Mode.LIVE
        ):
            key = claimed.delivery.channel, RefusedPart(outcome.refused_part)
            refused[key].append(claimed)
            codes[key].add(outcome.code)
    for key in sorted(refused):
        channel, part = key
        try:
            detail = f"{_cause(part, refused[key])} ({_some(codes[key])})"
            subject = f"{provider.name} {channel.label} {part}"
            alerts.raise_once(AlertKind.MESSAGES_REFUSED, subject, detail)
        except Error as error:
            _log.warning("alert_not_raised", provider=provider.name, error=type(error).__name__)


def _cause(part: RefusedPart, deliveries: Collection[ClaimedDelivery]) -> str:
    if part is RefusedPart.SENDER:
        producers = {each.notification.producer_id for each in deliveries}
        names = Producer.objects.filter(id__in=producers).values_list("name", flat=True)
        return f"the provider refuses the sender of the brand of {_some(names)}"
    if part is RefusedPart.TEMPLATE:
        types = {each.notification.type for each in deliveries}
        return f"the provider refuses the template of messages of type {_some(types)}"
    return "our account is in the vendor's sandbox or a trial and sends to listed addresses only"


def _some(names: Collection[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:_NAMED]) + (" ..." if len(listed) > _NAMED else "")
