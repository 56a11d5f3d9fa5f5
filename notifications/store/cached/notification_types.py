"""Notification types: priority, category, retry preset and digest template by type name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from notifications.models import NotificationType
from notifications.rules.fallback import FallbackOn
from notifications.rules.lane import Priority
from notifications.store.cached.ttl_cache import Fresh


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """The router's rule of a type."""

    priority: Priority
    category: str
    retry_preset: str
    digest_template: str = ""
    """Template of the digest that replaces several capped notifications; empty: no digest."""
    fallback_on: FallbackOn = FallbackOn.RECEIPT
    confirm_within: dt.timedelta | None = None
    """Confirm window; None: the default of the priority."""


@Fresh
def every() -> Mapping[str, TypeRule]:
    """Return the settings of all types by name."""
    return {
        row.name: TypeRule(
            priority=Priority(row.priority),
            category=row.category,
            retry_preset=row.retry_preset,
            digest_template=row.digest_template,
            fallback_on=FallbackOn(row.fallback_on),
            confirm_within=dt.timedelta(seconds=row.confirm_seconds)
            if row.confirm_seconds
            else None,
        )
        for row in NotificationType.objects.all()
    }


forget = every.forget
