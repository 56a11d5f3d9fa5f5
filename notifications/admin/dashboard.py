"""The overview: open dead letters, alerts, queues and sweeps. All counts are bounded."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from notifications import clock, conf
from notifications.models import Alert, SweepRun
from notifications.store.postgres import backlog


def environment(_request: HttpRequest) -> list[str] | None:
    """Return the label at the top of all pages for dry run or allow-list."""
    settings = conf.current()
    if settings.dry_run:
        return ["Dry run: nothing is sent", "warning"]
    return ["Allow-list: others are suppressed", "info"] if settings.allowed else None


def add_figures(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the figures to unfold's index page, if the operator may view dead letters."""
    if not request.user.has_perm("notifications.view_deadletter"):
        return context
    now = clock.now()
    letters = backlog.dead_letters()
    return context | {
        "title": "Overview",
        "letters": sorted(letters.items(), key=lambda pair: -pair[1]),
        "letters_total": sum(letters.values()),
        "alerts": Alert.objects.filter(resolved_at=None)[:20],
        "lanes": backlog.of_lanes(),
        "sweeps": [
            (run, round((now - run.started_at).total_seconds()))
            for run in SweepRun.objects.order_by("name")
        ],
    }
