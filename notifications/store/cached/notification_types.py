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
    tracks_opens: bool = False
    """E-mails have a tracking pixel."""
    tracks_clicks: bool = False
    """Links of e-mails are rewritten, and clicks on links of e-mails and SMS are recorded."""


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
            tracks_opens=row.tracks_opens,
            tracks_clicks=row.tracks_clicks,
        )
        for row in NotificationType.objects.all()
    }


forget = every.forget
