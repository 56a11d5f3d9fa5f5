"""Activity: one list of all messages, with search and filters.

    find     a term that an index serves: an address, user id, provider's message id, idempotency
             key, or an id or its beginning; shows all deliveries of the notifications
    scan     no hit by an index: the newest rows are read for a type, an idempotency key, or a whole
             value of a variable or of metadata, such as an order number
    filters  status, channel, type, template, producer, provider, reason, priority, mode, time

A page reads a bounded number of rows. The page names the instant at which the scan ended, and a
link continues there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    QueryDict,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.urls import reverse

from notifications.core import clock
from notifications.core.admin import base, exports, model_pages, own_writes, recipient_names
from notifications.core.delivery import routing
from notifications.core.models import CancelJob, NotificationType, Producer, Template
from notifications.core.rules import masking, reasons
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.templates import one_off
from notifications.core.store.postgres import activity, search
from notifications.core.store.postgres.activity import ActivityLine, ActivityPage, ActivityQuery
from notifications.core.store.templates.rows import ONE_OFF
from providers.contract import Channel

Value = TypeVar("Value")
PER_PAGE: Final = 50
_COLUMNS: Final = (
    *("accepted", "user_id", "type", "priority", "mode", "producer", "channel", "status"),
    *("reason", "provider", "notification_id", "delivery_id"),
)
_DEFAULT_SPAN: Final = "90 days"
_MOST_OPTIONS: Final = 1_000
"""Options of a filter."""
_CANCELS: Final = {
    "producer": "producer",
    "type": "type",
    "template": "template_id",
    "priority": "priority",
}
"""Filter of the list -> field of the form that cancels many messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A value of a filter."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter with its options."""

    name: str
    label: str
    options: Sequence[Option]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An active filter; `without` is the query string without the filter."""

    label: str
    value: str
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the list, with texts for display."""

    row: ActivityLine
    label: tuple[str, str]
    """Text and colour of the status."""
    reason: str
    text: str
    """Name of the template, or the title of the producer's text."""
    producer: str
    person: str
    """The name of the recipient."""


def show(model_admin: Any, request: HttpRequest) -> HttpResponseBase:  # noqa: ANN401 - the ModelAdmin of another module
    """Show the list.

    Raises:
        PermissionDenied: the operator may not view notifications and deliveries.
    """
    may = request.user.has_perm
    if not (may("notifications.view_notification") and may("notifications.view_delivery")):
        raise PermissionDenied
    term = request.GET.get("q", "").strip()
    producers = dict(Producer.objects.values_list("pk", "name")[:_MOST_OPTIONS])
    found, is_scan = own_writes.read(request, lambda: _search(request.GET, term))
    if "export" in request.GET:
        return _export(request, term, producers)
    filters = _filters(request.GET, producers)
    cancel = model_pages.add_page(CancelJob) if may("notifications.cancel_notification") else ""
    context = {
        "cancel": cancel,
        "cancel_all": _cancel_all(cancel, request.GET),
        "may_export": may("notifications.export_list"),
        "export": _query(request.GET, export="csv"),
        "term": term,
        "filters": filters,
        "chips": _chips(request.GET, filters),
        "lines": list(_lines(found.lines, producers)),
        "older": _query(request.GET, before=str(found.before)) if found.before else "",
        "scanned_to": found.scanned_to,
        "scanned": f"{found.scanned:,}",
        "is_scan": is_scan,
        "is_cut": not is_scan and len(found.lines) >= PER_PAGE,
        "today": clock.now().date(),
    }
    return base.page(
        model_admin,
        request,
        "admin/activity.html",
        title="Activity",
        context=context,
        is_of_model=False,
    )


def redirect_list(model_admin: Any, request: HttpRequest) -> HttpResponse:  # noqa: ANN401 - as above
    """Redirect from the list of a model to the activity with the same filters.

    Raises:
        PermissionDenied: the operator may not view the model.
    """
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    filters = {name.removesuffix("__exact"): value for name, value in request.GET.items() if value}
    page = reverse("admin:notifications_activity")
    return HttpResponseRedirect(f"{page}?{urlencode(filters)}" if filters else page)


def _search(query: QueryDict, term: str) -> tuple[ActivityPage, bool]:
    """Return a page, and whether the page is the result of a scan."""
    before = _parse(UUID, query.get("before", ""))
    if term and before is None:
        hits = search.find_any(term, limit=PER_PAGE)
        if hits:
            return ActivityPage(lines=activity.of([hit.delivery_id for hit in hits])), False
    return activity.page(_read(query, term), limit=PER_PAGE, before=before), True


def _export(request: HttpRequest, term: str, producers: Mapping[int, str]) -> StreamingHttpResponse:
    """Stream all messages of the filter, or of the term, as CSV.

    Raises:
        PermissionDenied: the operator may not export lists.
    """
    if not request.user.has_perm("notifications.export_list"):
        raise PermissionDenied
    rows = (
        (
            *(line.row.created_at.isoformat(), line.row.user_id, line.row.type),
            *(line.row.priority.name, line.row.mode.label, line.producer, line.row.channel.label),
            *(line.row.status.label, line.row.reason, line.row.provider),
            *(line.row.notification_id, line.row.delivery_id),
        )
        for line in _all_lines(request, term, producers)
    )
    return exports.stream(request, "activity", _COLUMNS, rows)


def _all_lines(request: HttpRequest, term: str, producers: Mapping[int, str]) -> Iterator[Line]:
    found, is_scan = own_writes.read(request, lambda: _search(request.GET, term))
    yield from _lines(found.lines, producers)
    while is_scan and found.before is not None:
        next_page = functools.partial(
            activity.page,
            _read(request.GET, term),
            limit=exports.ROWS_PER_READ,
            before=found.before,
        )
        found = own_writes.read(request, next_page)
        yield from _lines(found.lines, producers)


def _read(query: QueryDict, term: str) -> ActivityQuery:
    """Read the filters; an invalid value counts as no filter."""
    template = query.get("template", "")
    versions = Template.objects.filter(template_id=template).values_list("pk", flat=True)
    span = base.RECENT.get(query.get("within", ""), base.RECENT[_DEFAULT_SPAN])
    return ActivityQuery(
        since=clock.now() - span,
        status=_parse(lambda text: Status(int(text)), query.get("status", "")),
        channel=_parse(lambda text: Channel(int(text)), query.get("channel", "")),
        provider=query.get("provider", ""),
        reason=query.get("reason", ""),
        type=query.get("type", ""),
        templates=list(versions) if template else None,
        producer_id=_parse(int, query.get("producer", "")),
        mode=_parse(lambda text: Mode(int(text)), query.get("mode", "")),
        priority=_parse(lambda text: Priority(int(text)), query.get("priority", "")),
        word=term,
    )


def _parse(read: Callable[[str], Value], text: str) -> Value | None:
    try:
        return read(text) if text else None
    except ValueError:
        return None


def _cancel_all(form: str, query: QueryDict) -> str:
    """Return the address of the form for the filters; empty if the form lacks one of them."""
    given = {name for name, value in query.items() if value} - {"within", "before"}
    if not form or not given or given - _CANCELS.keys():
        return ""
    return f"{form}?{urlencode({_CANCELS[name]: query[name] for name in given})}"


def _filters(query: QueryDict, producers: Mapping[int, str]) -> list[Filter]:
    types = NotificationType.objects.values_list("name", flat=True)[:_MOST_OPTIONS]
    listed = Template.objects.exclude(ONE_OFF).order_by("template_id")
    templates = listed.values_list("template_id", flat=True)
    choices: list[tuple[str, str, Iterable[tuple[object, str]]]] = [
        ("status", "Status", ((each.value, each.label) for each in Status)),
        ("channel", "Channel", ((each.value, each.label) for each in Channel)),
        ("type", "Type", ((name, name) for name in types)),
        ("template", "Template", ((name, name) for name in templates.distinct()[:_MOST_OPTIONS])),
        ("producer", "Producer", producers.items()),
        ("provider", "Provider", ((name, name) for name in sorted(routing.providers_by_name()))),
        ("reason", "Reason", ((each.value, each.value) for each in Reason)),
        ("priority", "Priority", ((each.value, each.name) for each in Priority)),
        ("mode", "Mode", ((each.value, each.label) for each in Mode)),
        ("within", "Time", ((name, f"Last {name}") for name in base.RECENT)),
    ]
    return [
        Filter(
            name=name,
            label=label,
            options=[
                Option(value=str(value), label=text, is_chosen=query.get(name) == str(value))
                for value, text in options
            ],
        )
        for name, label, options in choices
    ]


def _chips(query: QueryDict, filters: Sequence[Filter]) -> list[Chip]:
    found = [
        Chip(
            label=each.label,
            value=next(
                (one.label for one in each.options if one.is_chosen), query.get(each.name, "")
            ),
            without=_query(query, **{each.name: ""}),
        )
        for each in filters
        if query.get(each.name)
    ]
    if not query.get("within") and not query.get("q"):
        label = f"Last {_DEFAULT_SPAN}"
        found.append(Chip(label="Time", value=label, without=""))
    return found


def _query(query: QueryDict, **changes: str) -> str:
    """Return the query string with changes; an empty value removes the parameter."""
    changed = query.copy()
    changed.pop("before", None)
    for name, value in changes.items():
        changed[name] = value
        if not value:
            del changed[name]
    return f"?{changed.urlencode()}"


def _lines(rows: Sequence[ActivityLine], producers: Mapping[int, str]) -> Iterable[Line]:
    wanted = {row.template for row in rows if row.template is not None}
    templates = dict(Template.objects.filter(pk__in=wanted).values_list("pk", "template_id"))
    named = recipient_names.names({row.recipient_id: row.user_id for row in rows})
    for row in rows:
        yield Line(
            row=row,
            label=base.label_of(row.status, row.reason),
            reason=reasons.sentence(row.reason),
            text=one_off.label(templates.get(row.template or 0, ""))
            or masking.mask_text(row.title or ""),
            producer=producers.get(row.producer_id, "a deleted producer"),
            person=named[row.recipient_id],
        )
