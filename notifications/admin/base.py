"""What the pages share: reading without changing, and without counting what cannot be counted."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, cast
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin

from notifications import clock
from notifications.admin.audited import AuditedAdmin
from notifications.rules import ids
from notifications.rules.states import Status

COUNTED: Final = 1_000
"""Rows that a list will page through; an operator who has not found it by then should narrow it."""

STATUS_COLOURS: Final = {
    **dict.fromkeys(("delivered", "read", "sent"), "success"),
    **dict.fromkeys(("failed", "bounced", "expired"), "danger"),
    **dict.fromkeys(("retrying", "unknown", "unconfirmed"), "warning"),
    **dict.fromkeys(("queued", "sending", "scheduled"), "info"),
}
"""Status -> colour of its label; the rest (suppressed, cancelled) are grey."""

RECENT: Final[Mapping[str, dt.timedelta]] = {
    "hour": dt.timedelta(hours=1),
    "day": dt.timedelta(days=1),
    "week": dt.timedelta(days=7),
    "quarter": dt.timedelta(days=90),
}


def colour_of(status: Status) -> str:
    """The colour of a status's label, in unfold's words."""
    return STATUS_COLOURS.get(status.label, "")


def link(address: str, text: object) -> SafeString:
    """A link in a read-only field, in the colours in which unfold shows its own."""
    shown = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
    return format_html(shown, address, text)


def page(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    template: str,
    *,
    title: str,
    context: Mapping[str, Any],
) -> TemplateResponse:
    """One of our own pages inside the admin's frame."""
    frame = model_admin.admin_site.each_context(request)
    return TemplateResponse(
        request, template, {**frame, "opts": model_admin.opts, "title": title, **context}
    )


class ReadOnlyAdmin(AuditedAdmin):
    """A model that the machine writes: to be looked at, never edited."""

    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    actions_on_top = True

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        """Nobody writes these by hand."""
        return False

    def has_change_permission(  # noqa: D102 - as above
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: Model | None = None,  # noqa: ARG002 - Django's signature
    ) -> bool:
        return False

    def has_delete_permission(  # noqa: D102 - as above
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: Model | None = None,  # noqa: ARG002 - Django's signature
    ) -> bool:
        return False


def own_page(show: Callable[[Any, HttpRequest, str], HttpResponse]) -> Callable[..., HttpResponse]:
    """Make a `change_view` that shows a row on a page of our own instead of a form.

    Who may not view the rows gets Django's PermissionDenied.
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
        """How many rows there are, or COUNTED."""
        rows = cast("QuerySet[Model]", self.object_list)
        return rows[:COUNTED].count()


class RecentFilter(admin.SimpleListFilter):
    """Rows by their birth, read from the id: what spares the partitions of other days."""

    title = "when"
    parameter_name = "within"

    def lookups(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        model_admin: admin.ModelAdmin[Any],  # noqa: ARG002 - Django's signature
    ) -> list[tuple[str, str]]:
        """The spans; a day is what an operator at work means."""
        return [(name, f"Last {name}") for name in RECENT]

    def choices(self, changelist: Any) -> Any:  # noqa: ANN401 - Django's types
        """Without `All`: there is no such list."""
        for name, label in self.lookup_choices:
            yield {
                "selected": (self.value() or "day") == name,
                "query_string": changelist.get_query_string({self.parameter_name: name}),
                "display": label,
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Bound to the span, unless a search has already found the rows by index."""
        if request.GET.get("q"):
            return queryset
        span = RECENT.get(self.value() or "day", RECENT["day"])
        return queryset.filter(pk__gte=_born_since(clock.now() - span))


def _born_since(instant: dt.datetime) -> UUID:
    return ids.notification_id(at_ms=int(instant.timestamp() * 1000), entropy=0)
