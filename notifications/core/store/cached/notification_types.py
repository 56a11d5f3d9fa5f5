"""Notification types: priority, category, retry preset and digest template by type name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from notifications.core.models import NotificationType
from notifications.core.rules import request_faults
from notifications.core.rules.fallback import FallbackOn
from notifications.core.rules.lane import Priority
from notifications.core.store.cached.ttl_cache import Fresh


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """The router's rule of a type."""

    priority: Priority
    category: str
    retry_preset: str
    digest_template: str = ""
    """Template of the digest that replaces several capped notifications; empty: no digest."""
    batch_window: dt.timedelta = dt.timedelta(0)
    """Time for which messages wait for the digest; zero: messages leave at once."""
    fallback_on: FallbackOn = FallbackOn.RECEIPT
    confirm_within: dt.timedelta | None = None
    """Confirm window; None: the default of the priority."""
    tracks_opens: bool = False
    """E-mails have a tracking pixel."""
    tracks_clicks: bool = False
    """Links of e-mails are rewritten, and clicks on links of e-mails and SMS are recorded."""
    is_mandatory: bool = False
    """Recipients cannot switch the type off."""
    is_listed: bool = True
    """Recipients see the type on the preference page."""

    def topics(self, type_: str) -> tuple[str, ...]:
        """Return the topics by which a recipient may decline the type; none of a mandatory type."""
        return () if self.is_mandatory else (self.category, type_)


@Fresh
def every() -> Mapping[str, TypeRule]:
    """Return the settings of all types by name."""
    return {
        row.name: TypeRule(
            priority=Priority(row.priority),
            category=row.category,
            retry_preset=row.retry_preset,
            digest_template=row.digest_template,
            batch_window=dt.timedelta(seconds=row.batch_window_seconds),
            fallback_on=FallbackOn(row.fallback_on),
            confirm_within=dt.timedelta(seconds=row.confirm_seconds)
            if row.confirm_seconds
            else None,
            tracks_opens=row.tracks_opens,
            tracks_clicks=row.tracks_clicks,
            is_mandatory=row.is_mandatory,
            is_listed=row.is_listed,
        )
        for row in NotificationType.objects.all()
    }


@Fresh
def with_batch_window() -> Mapping[str, TypeRule]:
    """Return the types whose messages wait for a digest for a batch window."""
    return {name: rule for name, rule in every().items() if rule.batch_window}


def unknown(type_: str) -> str:
    """Return the sentence about an unknown type, with a similar name if possible."""
    meant = request_faults.did_you_mean(type_, every())
    return f"unknown type {type_}; use a configured type or add a priority{meant}"


def is_mandatory(type_: str) -> bool:
    """Return True if recipients cannot switch a type off by the setting of the type."""
    rule = every().get(type_)
    return rule is not None and rule.is_mandatory


def topics(type_: str, category: str) -> tuple[str, ...]:
    """Return the topics by which a recipient may decline a notification."""
    return () if is_mandatory(type_) else (category, type_)


_CACHES: Final = (every, with_batch_window)


def forget() -> None:
    """Clear the cache."""
    for cache in _CACHES:
        cache.forget()
