"""Retry presets: the shipped presets, with the changes and additions made in admin."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from notifications.core.models import RetryPreset
from notifications.core.rules import retries
from notifications.core.rules.lane import Priority
from notifications.core.rules.retries import PRESETS, Jitter, Preset
from notifications.core.store.cached.ttl_cache import Fresh
from providers.contract import Channel


@Fresh
def every() -> Mapping[str, Preset]:
    """Return all presets by name. A shipped preset without a row has the shipped values."""
    return {**PRESETS, **{row.name: preset_of(row) for row in RetryPreset.objects.all()}}


forget = every.forget


def preset_for(priority: Priority, channel: Channel, *, chosen: str) -> Preset:
    """Return the preset of a lane, or the preset that the notification's type has `chosen`."""
    return retries.preset_for(priority, channel, chosen=chosen, presets=every())


def preset_of(row: RetryPreset) -> Preset:
    """Return the rule of a row."""
    return Preset(
        name=row.name,
        base=dt.timedelta(seconds=row.base_seconds),
        multiplier=row.multiplier,
        cap=dt.timedelta(seconds=row.cap_seconds),
        attempts=row.attempts,
        jitter=Jitter(row.jitter),
        drops=row.drops,
    )


def columns_of(preset: Preset) -> dict[str, object]:
    """Return the columns of a preset's row, without the name."""
    return {
        "base_seconds": preset.base.total_seconds(),
        "multiplier": preset.multiplier,
        "cap_seconds": preset.cap.total_seconds(),
        "attempts": preset.attempts,
        "jitter": preset.jitter.value,
        "drops": preset.drops,
    }
