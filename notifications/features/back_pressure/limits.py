"""The limits of the lag, as operators edit them."""

from __future__ import annotations

import datetime as dt

from notifications.features.back_pressure import rules
from notifications.features.back_pressure.models import LagLimits
from notifications.features.back_pressure.rules import Limits
from providers.contract import Channel


def by_channel() -> dict[Channel, Limits]:
    """Return the limits of the P3 lane of each channel."""
    edited = {Channel(row.channel): _limits(row) for row in LagLimits.objects.all()}
    return {channel: edited.get(channel, rules.DEFAULTS) for channel in Channel}


def _limits(row: LagLimits) -> Limits:
    return Limits(
        refuse_waiting=row.refuse_waiting,
        refuse_behind=dt.timedelta(seconds=row.refuse_behind_seconds),
        drop_waiting=row.drop_waiting,
        drop_behind=dt.timedelta(seconds=row.drop_behind_seconds),
        drop_older=dt.timedelta(seconds=row.drop_older_seconds),
    )
