"""Base classes and helpers of admin pages: read-only models, bounded counts, filters."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.decorators import display

from notifications.core import clock
from notifications.core.admin import own_writes
from notifications.core.admin.actions import never
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.models import Producer
from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status

COUNTED: Final = 1_000
"""Maximum number of rows counted for a list; a search should narrow longer lists."""

STATUS_COLOURS: Final = {
    **dict.fromkeys(("delivered", "read", "sent"), "success"),
    **dict.fromkeys(("failed", "bounced", "expired"), "danger"),
    **dict.fromkeys(("retrying", "unknown", "unconfirmed"), "warning"),
    **dict.fromkeys(("queued", "sending", "scheduled"), "info"),
}
"""Status -> colour of the label; other statuses are grey."""

RECENT: Final[Mapping[str, dt.timedelta]] = {
    "hour": dt.timedelta(hours=1),
    "day": dt.timedelta(days=1),
    "week": dt.timedelta(days=7),
    "90 days": dt.timedelta(days=90),
}


PLANNED: Final = frozenset({"", Reason.SCHEDULED, Reason.RESCHEDULED})
"""Reasons of a scheduled delivery that waits for its planned time; with another one it is held."""


def colour_of(status: Status) -> str:
    """Return unfold's colour name for the label of a status."""
    return STATUS_COLOURS.get(status.label, "")


def label_of(status: Status, reason: str) -> tuple[str, str]:
    """Return text and colour of the label of a delivery.

    A scheduled delivery that waits for another reason than its planned time is `held`.
    """
    if status is Status.SCHEDULED and reason not in PLANNED:
        return "held", "warning"
    return status.label, colour_of(status)


def link(address: str, text: object) -> SafeString:
    """Return a link for a read-only field, with unfold's colours."""
    shown = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
    return format_html(shown, address, text)


def part(template: str, context: Mapping[str, Any]) -> SafeString:
    """Return the HTML of a part of a page, without spaces around it.

    `strip` alone returns a plain text, which the template of the page would escape.
    """
    return SafeString(render_to_string(template, dict(context)).strip())


def page(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    template: str,
    *,
    title: str,
    context: Mapping[str, Any],
    is_of_model: bool = True,
) -> TemplateResponse:
    """Render a custom page inside the admin's layout.

    Args:
        model_admin: the admin of the model.
        request: the request.
        template: name of the template.
        title: heading of the page.
        context: values for the template.
        is_of_model: the header names the model; False: the header has the title.
    """
    frame = model_admin.admin_site.each_context(request)
    head: dict[str, Any] = {"opts": model_admin.opts} if is_of_model else {"header_has_title": True}
    return TemplateResponse(request, template, {**frame, **head, "title": title, **context})


class ReadOnlyAdmin(AuditedAdmin):
    """A read-only ModelAdmin for tables written by the service."""

    show_full_result_count = False
    list_max_show_all = 0
    actions_on_top = True
    reads_replica = False
    """True: the list, of a large table, is read from the read replica."""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Show the list; a form is read from the primary."""
        show = functools.partial(super().changelist_view, request, extra_context)
        # The check reads the rights of the operator, which must be those of the primary.
        if request.method != "GET" or not (
            self.reads_replica and self.has_view_permission(request)
        ):
            return show()
        return own_writes.read(request, lambda: _render_now(show()))

    # Only the service writes the table.
    has_add_permission = never
    has_change_permission = never
    has_delete_permission = never


class OfProducerAdmin(ReadOnlyAdmin):
    """A read-only list with a `producer` column, for models with a `producer_id`."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Add the names of the producers."""
        named = Producer.objects.filter(pk=OuterRef("producer_id")).values("name")
        rows: QuerySet[Any] = super().get_queryset(request).annotate(producer_name=Subquery(named))
        return rows

    @display(description="Producer")
    def producer(self, row: Model) -> str:
        """Return the name of the producer."""
        return getattr(row, "producer_name", "") or "a deleted producer"


def _render_now(response: HttpResponse) -> HttpResponse:
    """Render a page now: its rows are read during the rendering."""
    return response.render() if isinstance(response, TemplateResponse) else response


def own_page(show: Callable[[Any, HttpRequest, str], HttpResponse]) -> Callable[..., HttpResponse]:
    """Return a `change_view` which renders a custom page instead of a form.

    An operator without view permission gets PermissionDenied.
    """

    @functools.wraps(show)
    def change_view(
        self: ModelAdmin, request: HttpRequest, object_id: str, *_form: object, **_more: object
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return show(self, request, object_id)

    return change_view


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # it is not subscriptable at run time
    """Counts at most COUNTED rows: a COUNT(*) over ninety partitions would take minutes."""

    @cached_property
    def count(self) -> int:
        """Return the number of rows, at most COUNTED."""
        rows = cast("QuerySet[Model]", self.object_list)
        # Without the annotations of the list, which each cost a subquery for a row.
        return rows.order_by().values("pk")[:COUNTED].count()

    @property
    def count_text(self) -> str:
        """Return the number for display: `1,000+` if more rows may exist."""
        return f"{self.count:,}{'+' if self.count >= COUNTED else ''}"


class ChoiceFilter(admin.SimpleListFilter):
    """A filter with constant choices."""

    offered: Sequence[tuple[str, str]]
    """Value and label of each choice."""
    default: str = ""
    """The choice of a list without the parameter; empty: the filter also offers `All`."""

    def lookups(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        model_admin: admin.ModelAdmin[Any],  # noqa: ARG002 - Django's signature
    ) -> list[tuple[str, str]]:
        """Return the choices."""
        return list(self.offered)

    def choices(self, changelist: Any) -> Any:  # noqa: ANN401 - Django's types
        """Return the links of the choices; with a default without `All`."""
        if not self.default:
            yield from super().choices(changelist)
            return
        for value, label in self.lookup_choices:
            yield {
                "selected": (self.value() or self.default) == value,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": label,
            }


class RecentFilter(ChoiceFilter):
    """Filter by creation time, read from the id: Postgres skips partitions of other days."""

    title = "when"
    parameter_name = "within"
    offered = tuple((name, f"Last {name}") for name in RECENT)
    default = "day"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Restrict the list to the time span, except for the results of a search."""
        if request.GET.get("q"):
            return queryset
        span = RECENT.get(self.value() or self.default, RECENT[self.default])
        return queryset.filter(pk__gte=_first_id_since(clock.now() - span))


def _first_id_since(instant: dt.datetime) -> UUID:
    return ids.notification_id(at_ms=int(instant.timestamp() * 1000), entropy=0)
