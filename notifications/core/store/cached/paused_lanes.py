"""Lanes paused after failures of tasks, read once a second per process.

The open alert `lane_paused` is the pause: every process reads the same rows, and an operator who
resolves the alert resumes the lane.
"""

from __future__ import annotations

import structlog
from django.db import ProgrammingError

from notifications.core.models import Alert
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.cached.ttl_cache import Fresh

_log = structlog.get_logger(__name__)


@Fresh
def current() -> frozenset[str]:
    """Return the names of the paused lanes."""
    try:
        paused = Alert.objects.filter(kind=AlertKind.LANE_PAUSED, resolved_at=None)
        return frozenset(paused.values_list("subject", flat=True))
    except ProgrammingError:
        # Messages must leave while the table of the alerts alone is not the one of this release.
        _log.exception("pauses_not_read")
        return frozenset()


forget = current.forget
