"""The pages of one provider, template, producer or notification type.

All four have the same parts: tiles, traffic, latency, failures by reason, reactions, cost, and the
last failures. A provider has the plots of its calls, a template the plots of its versions.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404
from django.urls import reverse

from notifications.core import clock
from notifications.core.admin import model_pages
from notifications.core.admin.monitoring import plots, tables
from notifications.core.admin.monitoring.answer import Figures, Part, Plot
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Scope
from notifications.core.admin.monitoring.views import Page
from notifications.core.models import Attempt, NotificationType, Producer, RollupValue, Template
from notifications.core.rules import in_app
from notifications.core.rules.lane import Mode
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.states import Status
from notifications.core.rules.times.time_range import TimeRange
from notifications.core.store.postgres import activity
from notifications.core.store.postgres.activity import ActivityLine, ActivityQuery
from notifications.features.analytics.admin import reactions
from notifications.features.analytics.admin.plots import (
    FAILURE_COLOURS,
    call_latency,
    counts_by,
    reactions_of,
)
from providers import dry_run, registry
from providers.contract import Channel

_PROVIDERS: Final = frozenset({
    *(each.name for each in registry.VENDORS),
    in_app.PROVIDER,
    dry_run.NAME,
})
"""Each name that a delivery can have as its provider."""
_FAILURES: Final = 20
_LONGEST_SCAN: Final = dt.timedelta(days=7)
_STATUSES: Final = (Status.FAILED, Status.BOUNCED, Status.RETRYING)
_RIGHTS: Final[Mapping[str, str]] = {
    "provider": "view_providerroute",
    "template": "view_template",
    "producer": "view_producer",
    "type": "view_notificationtype",
}
"""Kind of page -> the right to see the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed delivery with the last call."""

    line: ActivityLine
    template: str
    producer: str
    call: Attempt | None

    @property
    def url(self) -> str:
        """The page of the message."""
        return reverse("admin:notifications_notification_change", args=[self.line.notification_id])


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A provider, template, producer or type."""

    kind: str
    value: str
    name: str
    change_url: str
    """The page that changes the subject; empty without one."""
    channel: Channel | None = None
    """Of a provider: only this channel."""

    @property
    def filters(self) -> dict[Dimension, int | str]:
        """The filters of the roll-ups."""
        dimension = Dimension(self.kind)
        value = int(self.value) if dimension is Dimension.PRODUCER else self.value
        found: dict[Dimension, int | str] = {dimension: value}
        return found if self.channel is None else found | {Dimension.CHANNEL: int(self.channel)}

    @property
    def annotation_subject(self) -> str:
        """The subject of annotations that are drawn; empty: all annotations."""
        match self.kind:
            case "provider":
                return self.name
            case "template":
                return self.value
            case _:
                return ""

    @property
    def activity_url(self) -> str:
        """The list of the subject's messages."""
        query = {self.kind: self.value}
        if self.channel is not None:
            query["channel"] = str(int(self.channel))
        return f"{reverse('admin:notifications_activity')}?{urlencode(query)}"


def page(kind: str, value: str, channel: str = "") -> Page:
    """Return the page of a subject.

    Raises:
        Http404: there is no such subject.
    """
    found = find(kind, value, channel)
    arguments = [kind, value, channel] if channel else [kind, value]
    name = "monitoring_provider_channel" if channel else "monitoring_subject"
    return Page(
        title=f"{kind.capitalize()} {found.name}",
        template="analytics/subject.html",
        right=_RIGHTS[kind],
        url=reverse(f"admin:{name}", args=arguments),
        read=functools.partial(read, found),
        annotation_subject=found.annotation_subject,
        context={"subject": found},
    )


def find(kind: str, value: str, channel: str = "") -> Subject:
    """Return the subject of a page.

    Raises:
        Http404: there is no such subject.
    """
    match kind:
        case "provider" if value in _PROVIDERS:
            return _provider(value, channel)
        case "template":
            if Template.objects.filter(template_id=value).exists():
                page = model_pages.list_page(Template)
                search = f"{page}?q={value}" if page else ""
                return Subject(kind=kind, value=value, name=value, change_url=search)
        case "producer" if value.isdecimal():
            row = Producer.objects.filter(pk=int(value)).first()
            if row is not None:
                page = reverse("admin:notifications_producer_change", args=[row.pk])
                return Subject(kind=kind, value=str(row.pk), name=row.name, change_url=page)
        case "type" if page := _type_page(value):
            return Subject(kind=kind, value=value, name=value, change_url=page)
        case _:
            pass
    raise Http404(f"there is no {kind} {value[:64]}")


def _type_page(value: str) -> str:
    """Return the page that changes a type; empty for a name that no message has.

    A request with a priority may name a type that no row configures: its page is the list.
    """
    if NotificationType.objects.filter(pk=value).exists():
        return reverse("admin:notifications_notificationtype_change", args=[value])
    if RollupValue.objects.filter(dimension="type", value=value).exists():
        return reverse("admin:notifications_notificationtype_changelist")
    return ""


def _provider(value: str, channel: str) -> Subject:
    try:
        wanted = Channel.from_label(channel) if channel else None
    except KeyError as error:
        raise Http404(f"there is no channel {channel[:20]}") from error
    page = reverse("admin:notifications_providers")
    name = f"{value} {channel}".strip()
    return Subject(kind="provider", value=value, name=name, change_url=page, channel=wanted)


def read(subject: Subject, time_range: TimeRange) -> Figures:
    """Read the figures of a page."""
    scope, names = Scope(range=time_range, now=clock.now(), filters=subject.filters), GroupNames()
    found = _plots(subject, scope, names)
    parts = [
        Part(name="tiles", right="", context={"tiles": tables.tiles(scope)}),
        Part(
            name="failures",
            template="analytics/parts/failures.html",
            right="view_notification",
            context={"failures": failures(subject, time_range, names), "subject": subject},
        ),
    ]
    if subject.kind != "template":
        dimension = Dimension.TYPE if subject.kind != "type" else Dimension.TEMPLATE
        rows = reactions.table(scope, dimension, names)
        parts.append(
            Part(
                name="reactions",
                template=reactions.TEMPLATE,
                right="",
                context={"rows": rows, "dimension": dimension.value},
            )
        )
    return Figures(plots=found, parts=parts)


def _plots(subject: Subject, scope: Scope, names: GroupNames) -> dict[str, Plot]:
    found = {
        "traffic": plots.traffic(scope),
        "latency": plots.latency(scope),
        "reasons": counts_by(scope, "failed", Dimension.REASON, names, colours=FAILURE_COLOURS),
        "reactions": reactions_of(scope),
        "cost": counts_by(scope, "cost", Dimension.CHANNEL, names, unit="money:USD"),
    }
    if subject.kind == "provider":
        calls = counts_by(scope, "failed_calls", Dimension.REASON, names, colours=FAILURE_COLOURS)
        return found | {"call_latency": call_latency(scope), "calls": calls}
    if subject.kind == "template":
        return found | {"versions": counts_by(scope, "sent", Dimension.VERSION, names)}
    return found | {"providers": counts_by(scope, "sent", Dimension.PROVIDER, names)}


def failures(subject: Subject, time_range: TimeRange, names: GroupNames) -> list[Failure]:
    """Return the last failed deliveries of a subject, newest first.

    Of the newest 10,000 deliveries, or fewer on a slow database, of the last seven days before the
    end of the range; a failure beyond is found in Activity.
    """
    since = max(time_range.since, time_range.until - _LONGEST_SCAN)
    end = activity.cursor_at(time_range.until)
    wanted = {"since": since, "mode": Mode.LIVE, "channel": subject.channel, **_filter_of(subject)}
    lines = [
        line
        for status in _STATUSES
        for line in activity.page(
            ActivityQuery(status=status, **wanted), limit=_FAILURES, before=end
        ).lines
    ]
    newest = sorted(lines, key=lambda line: line.delivery_id, reverse=True)[:_FAILURES]
    calls = _last_calls([line.delivery_id for line in newest])
    versions = {line.template for line in newest if line.template}
    templates = {row.pk: str(row) for row in Template.objects.filter(pk__in=versions)}
    return [
        Failure(
            line=line,
            template=templates.get(line.template or 0, ""),
            producer=names.name(Dimension.PRODUCER, line.producer_id),
            call=calls.get(line.delivery_id),
        )
        for line in newest
    ]


def _filter_of(subject: Subject) -> dict[str, Any]:
    match subject.kind:
        case "producer":
            return {"producer_id": int(subject.value)}
        case "template":
            rows = Template.objects.filter(template_id=subject.value)
            return {"templates": list(rows.values_list("pk", flat=True))}
        case _:
            return {subject.kind: subject.value}


def _last_calls(deliveries: list[UUID]) -> dict[UUID, Attempt]:
    rows = Attempt.objects.filter(delivery_id__in=deliveries).order_by("number")
    return {row.delivery_id: row for row in rows}
