"""The monitoring pages and the addresses that the pages load figures from.

    /admin/           Overview (unfold's index)
    /admin/system/    System
    .../live          the figures of a page as JSON

A page is a frame with parts; `page.js` loads the JSON every five seconds. The JSON has an ETag, so
an unchanged answer is 304 without a body.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import quote_etag

from notifications.core import clock, conf
from notifications.core.admin.monitoring import answer, current, plots, tables
from notifications.core.admin.monitoring.answer import Figures, Part
from notifications.core.admin.monitoring.current import Now
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Scope
from notifications.core.models import SweepRun
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.times import time_range
from notifications.core.rules.times.time_range import TimeRange
from notifications.core.store.cached import shared_answers
from notifications.core.store.postgres import partitions

RIGHT = "view_delivery"
"""The right to see Overview, and Insights of the feature `analytics`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page with plots."""

    title: str
    template: str
    """Path of the template, which extends `admin/monitoring/page.html`."""
    right: str
    url: str
    """Path of the page."""
    read: Callable[[TimeRange], Figures]
    annotation_subject: str = ""
    """Subject whose annotations are drawn; empty: all annotations."""
    context: Mapping[str, Any]

    def show(self, request: HttpRequest) -> HttpResponse:
        """Answer with the frame of the page.

        Raises:
            PermissionDenied: the operator lacks the right.
            BadRequest: the time range is wrong.
        """
        self._check(request)
        context = admin.site.each_context(request) | self.frame(request)
        return TemplateResponse(request, self.template, context)

    def frame(self, request: HttpRequest) -> dict[str, Any]:
        """Return the context of the frame.

        Raises:
            BadRequest: the time range is wrong.
        """
        wanted = _read_range(request)
        frame = {"range": wanted, "ranges": time_range.LABELS, "live_url": f"{self.url}live"}
        return frame | {"title": self.title, **self.context}

    def figures(self, request: HttpRequest) -> HttpResponse:
        """Answer with the figures of the page as JSON.

        Raises:
            PermissionDenied: the operator lacks the right.
            BadRequest: the time range is wrong.
        """
        self._check(request)
        found = answer.build(
            request,
            _read_range(request),
            key=self.url,
            read=self.read,
            subject=self.annotation_subject,
        )
        return _as_json(request, found)

    def _check(self, request: HttpRequest) -> None:
        if not request.user.has_perm(f"notifications.{self.right}"):
            raise PermissionDenied


def may_see_overview(request: HttpRequest) -> bool:
    """Return True if the operator may see the figures of Overview."""
    return bool(request.user.has_perm(f"notifications.{RIGHT}"))


def overview_frame(request: HttpRequest) -> dict[str, Any]:
    """Return the context of Overview, with the parts about the present.

    Raises:
        BadRequest: the time range is wrong.
    """
    frame = _overview().frame(request)
    parts = answer.first_parts(request, frame["range"], _now_parts())
    return frame | {"parts": parts}


def urls(wrap: Callable[..., Any]) -> list[URLPattern]:
    """Return the paths below `/admin/`; `wrap` is `admin_view` of the site."""
    return [
        path("live", wrap(view_of(_overview)), {"is_live": True}),
        path("system/", wrap(_system), name="monitoring_system"),
    ]


def view_of(make: Callable[..., Page]) -> Callable[..., HttpResponse]:
    """Return the view of a page, and of the page's JSON if the URL has `is_live`.

    Args:
        make: makes the page from the parts of the URL.
    """

    def view(request: HttpRequest, *, is_live: bool = False, **of_url: str) -> HttpResponse:
        page = make(**of_url)
        return page.figures(request) if is_live else page.show(request)

    return view


def _overview() -> Page:
    url = reverse("admin:index")
    return Page(
        title="Overview",
        template="admin/index.html",
        right=RIGHT,
        url=url,
        read=_read_overview,
        context={},
    )


def _read_range(request: HttpRequest) -> TimeRange:
    try:
        return time_range.read(request.GET, now=clock.now())
    except ValueError as error:
        raise BadRequest(str(error)) from error


def _as_json(request: HttpRequest, found: Mapping[str, Any]) -> HttpResponse:
    """Answer with JSON, or with 304 if the reader has the same figures."""
    figures = orjson.dumps({name: value for name, value in found.items() if name != "at"})
    etag = quote_etag(hashlib.blake2b(figures, digest_size=12).hexdigest())
    kept = request.headers.get("If-None-Match") == etag
    body = b"" if kept else orjson.dumps(found)
    response = HttpResponseNotModified() if kept else HttpResponse(body, "application/json")
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _read_overview(time_range: TimeRange) -> Figures:
    """Read the figures."""
    scope, names = Scope(range=time_range, now=clock.now()), GroupNames()
    return Figures(
        plots={
            "traffic": plots.traffic(scope),
            "latency": plots.latency(scope),
            "failures": plots.share_by(scope, "failure_rate", Dimension.CHANNEL, names),
            "calls": plots.share_by(scope, "call_failure_rate", Dimension.PROVIDER, names),
            "call_latency": plots.percentile_by(
                scope, "call_to_answer_p95", Dimension.PROVIDER, names
            ),
        },
        parts=[
            *_now_parts(),
            Part(name="tiles", right="", context={"tiles": tables.tiles(scope)}),
            Part(name="reach", right="", context=tables.reach()),
            Part(name="failing", right="", context={"rows": tables.failures(scope, names)}),
        ],
    )


def _now_parts() -> list[Part]:
    """Return the parts about the present, which a page shows at once."""
    return list(
        _overview_parts(shared_answers.get("now", current.read, seconds=answer.NOW_SECONDS))
    )


def _overview_parts(now: Now) -> Iterator[Part]:
    yield Part(name="verdict", right="", context={"state": now})
    yield Part(name="alerts", right="view_alert", context={"alerts": now.alerts})
    yield Part(name="providers", right="view_providerroute", context={"providers": now.providers})
    yield Part(name="lanes", right="view_delivery", context={"lanes": now.lanes})
    yield Part(name="waits", right="view_delivery", context={"waits": now.waits})
    yield Part(
        name="letters",
        right="view_deadletter",
        context={"letters": now.letters, "total": now.letters_total},
    )
    first = {"is_first": not now.has_notifications, "public_url": conf.current().public_url}
    yield Part(name="first", right="", context=first)


def _system(request: HttpRequest) -> HttpResponse:
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
