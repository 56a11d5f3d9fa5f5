"""The page System: periodic work and storage, for the operators of this service's machines."""

from __future__ import annotations

import datetime as dt

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from notifications.core import clock
from notifications.core.models import SweepRun
from notifications.core.store.postgres import partitions


def view(request: HttpRequest) -> HttpResponse:
    """Show the last run of each sweep, and the days that have partitions.

    Raises:
        PermissionDenied: the operator may not view sweep runs.
    """
    if not request.user.has_perm("notifications.view_sweeprun"):
        raise PermissionDenied
    now, days = clock.now(), partitions.existing()
    sweeps = [
        (run, round((now - run.started_at).total_seconds()))
        for run in SweepRun.objects.order_by("name")
    ]
    ahead = (max(days) - now.date()) // dt.timedelta(days=1) if days else None
    context = {
        **admin.site.each_context(request),
        "title": "System",
        "sweeps": sweeps,
        "days": days,
        "days_ahead": ahead,
    }
    return TemplateResponse(request, "admin/monitoring/system.html", context)
