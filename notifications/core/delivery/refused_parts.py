"""Refusals of a part of a message: its sender, template, or an address in a sandbox.

The circuit breakers do not count such a refusal. An alert tells an operator. The first refusals of
a brand's sender, of a type's template or of the sandbox become dead letters; of many in five
minutes, the others wait (`store.rate_limits.refusal_counts`), but for members of a fallback chain,
which have another channel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import structlog
from django.db import Error

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.models import Producer
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import alerts
from notifications.core.store.rate_limits import refusal_counts
from providers.contract import Channel, Provider, Rejected, Result
from providers.refused_parts import RefusedPart

_log = structlog.get_logger(__name__)

Pair = tuple[ClaimedDelivery, Result]
_Place = tuple[Channel, RefusedPart]

_NAMED: Final = 3
"""Producers, types and codes that an alert names."""


def record(pairs: Sequence[Pair], *, provider: Provider) -> None:
    """Mark the deliveries that wait as one of many, and raise the alerts."""
    refused: dict[_Place, list[ClaimedDelivery]] = defaultdict(list)
    codes: dict[_Place, set[str]] = defaultdict(set)
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
    for place, deliveries in refused.items():
        _mark(place, deliveries, provider)
    _alert(refused, codes, provider)


def _mark(place: _Place, deliveries: Iterable[ClaimedDelivery], provider: Provider) -> None:
    """Mark the deliveries beyond those whose refusal is believed."""
    channel, part = place
    by_subject: dict[str, list[ClaimedDelivery]] = defaultdict(list)
    for each in deliveries:
        each.is_one_of_many = False
        if not each.delivery.falls_back:
            by_subject[_subject(part, each)].append(each)
    for subject, together in by_subject.items():
        refused = f"{provider.name}:{channel:d}:{part}:{subject}"
        for each in together[refusal_counts.believed(refused, len(together)) :]:
            each.is_one_of_many = True


def _subject(part: RefusedPart, claimed: ClaimedDelivery) -> str:
    """Return what the refusals of a wave have in common; empty: the account."""
    if part is RefusedPart.SENDER:
        return str(claimed.notification.producer_id)
    return claimed.notification.type if part is RefusedPart.TEMPLATE else ""


def _alert(
    refused: Mapping[_Place, Sequence[ClaimedDelivery]],
    codes: Mapping[_Place, Collection[str]],
    provider: Provider,
) -> None:
    """Raise an alert for each channel and refused part. Without Postgres, log the failure."""
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
