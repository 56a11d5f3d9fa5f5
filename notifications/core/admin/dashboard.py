"""Overview: unfold's index page with the figures of `monitoring.views`."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from notifications.core import conf
from notifications.core.admin.monitoring import views


def environment(_request: HttpRequest) -> list[str] | None:
    """Return the label at the top of all pages for dry run or allow-list."""
    settings = conf.current()
    if settings.dry_run:
        return ["Dry run: nothing is sent", "warning"]
    return ["Allow-list: others are suppressed", "info"] if settings.allowed else None


def add_figures(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the figures to unfold's index page, if the operator may view deliveries."""
    if not views.may_see_overview(request):
        return context
    return context | views.overview_frame(request)
