"""The values of the composer for a copy of a bulk job; the sender chooses the start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from notifications.core.models import BulkJob
from notifications.core.rules.lane import Priority
from notifications.features.bulk_jobs.admin.compose_form import (
    HOUR,
    LIMITS,
    MINUTE,
    PERCENT,
    VARIANTS,
)
from providers.contract import Channel

_DIGITS: Final = 6
"""Digits after the point of a number of hours, a rate or a percentage."""


def values_of(job: BulkJob) -> dict[str, Any]:
    """Return field of the form -> value; the start time and encrypted variables are left out."""
    return {
        "name": job.name,
        "producer": job.producer_id,
        "mode": job.mode,
        "audience": _json(job.audience),
        "type": job.type,
        "priority": Priority(job.priority).name,
        "template_id": job.template_id,
        "variables": _json(job.variables),
        "channels": [Channel(each).label for each in job.channels],
        "delivery": job.spread,
        "unique_by": job.unique_by,
        "ttl_hours": _in_units(job.ttl_seconds, HOUR),
        "weight": job.weight,
        "holdout_percent": job.holdout_percent or None,
        "metadata": _json(job.metadata),
        **_pace(job),
        **_variants(job),
        **_limits(job),
    }


def _pace(job: BulkJob) -> dict[str, Any]:
    if job.rate_per_second:
        return {"pace": "rate", "pace_number": _plain(job.rate_per_second * HOUR)}
    if job.spread_seconds:
        return {"pace": "spread", "pace_number": _in_units(job.spread_seconds, HOUR)}
    return {}


def _variants(job: BulkJob) -> dict[str, Any]:
    parts = (("name", "name"), ("template", "template_id"), ("percent", "percent"))
    found: dict[str, Any] = {
        f"variant_{letter}_{part}": each[name]
        for letter, each in zip(VARIANTS, job.variants, strict=False)
        for part, name in parts
    }
    if rule := job.winner_rule:
        found |= {
            "winner_metric": rule["metric"],
            "winner_sample": rule["sample_percent"],
            "winner_minutes": _in_units(rule["after_seconds"], MINUTE),
        }
    return found


def _limits(job: BulkJob) -> dict[str, Any]:
    limits: Mapping[str, Any] = job.abort_limits
    found: dict[str, Any] = {
        f"abort_{name}": _plain(limits[name] * PERCENT)
        for name in LIMITS
        if limits.get(name) is not None
    }
    if found:
        found["abort_minimum"] = limits.get("minimum")
    if job.test_group_size:
        found["test_group_size"] = job.test_group_size
        found["test_group_minutes"] = _in_units(job.test_group_seconds, MINUTE)
    return found


def _in_units(seconds: int | None, unit: int) -> float | int | None:
    return None if seconds is None else _plain(seconds / unit)


def _plain(number: float) -> float | int:
    """Return a number as people write it: `5` instead of `5.0`."""
    rounded = round(number, _DIGITS)
    return int(rounded) if rounded.is_integer() else rounded


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) if value else ""
