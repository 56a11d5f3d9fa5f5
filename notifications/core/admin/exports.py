"""Lists as CSV files: the action "Export as CSV" of each list, for selected rows or the filter.

A file is streamed. Rows are read in pages by primary key, newest first, so an export of a million
rows needs the memory of one page, keeps no transaction open (an open transaction holds the change
feed back) and works behind a transaction pooler. The columns are those of the list. Addresses are
masked unless the operator may see addresses. Each export has an audit entry.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote_plus

from django.contrib import admin
from django.contrib.admin.utils import label_for_field, lookup_field
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.html import strip_tags

from notifications.core import clock
from notifications.core.admin import addresses, own_writes
from notifications.core.admin.audited import name_of
from notifications.core.rules import csv_lines, masking
from notifications.core.store.postgres import audit

ROWS_PER_READ: Final = 1_000
_SELF: Final = "__str__"
_BOX: Final = "action_checkbox"


def stream(
    request: HttpRequest, name: str, header: Sequence[str], rows: Iterable[Iterable[object]]
) -> StreamingHttpResponse:
    """Return a CSV file, and write the audit entry; `name` is the list, such as `deadletter`."""
    selected = len(request.POST.getlist("_selected_action"))
    is_selection = bool(selected) and request.POST.get("select_across") != "1"
    chosen: dict[str, object] = (
        {"selected": selected}
        if is_selection
        else {"filter": masking.mask_text(unquote_plus(request.GET.urlencode()))}
    )
    facts = {"list": name, **chosen}
    audit.record_about(name_of(request), "export_list", object_type="list", name=name, after=facts)
    lines = (csv_lines.safe_line(row) for row in _with_header(header, rows))
    answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    day = clock.now().strftime("%Y-%m-%d")
    answer["Content-Disposition"] = f'attachment; filename="{name}-{day}.csv"'
    answer["Cache-Control"] = "no-store"
    return answer


@admin.action(description="Export as CSV", permissions=["view"])
def export_csv(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]
) -> StreamingHttpResponse:
    """Return the rows with the columns of the list.

    Raises:
        PermissionDenied: the operator may not export lists.
    """
    if not request.user.has_perm("notifications.export_list"):
        raise PermissionDenied
    listed = map(str, model_admin.get_list_display(request))
    columns = [name for name in listed if name not in {_BOX, _SELF}] or [_SELF]
    header = [str(label_for_field(name, queryset.model, model_admin)) for name in ["pk", *columns]]
    read = _reader(model_admin, columns, plain=addresses.may_see(request))
    rows = ([row.pk, *read(row)] for row in pages(request, queryset))
    return stream(request, str(queryset.model._meta.model_name), header, rows)  # noqa: SLF001 - Django's public name


def pages(request: HttpRequest, queryset: QuerySet[Any]) -> Iterator[Any]:
    """Yield all rows, newest first, with a query for each page (see `own_writes`)."""
    ordered = queryset.order_by("-pk")
    page = _page(request, ordered)
    while page:
        yield from page
        page = _page(request, ordered.filter(pk__lt=page[-1].pk))


def _page(request: HttpRequest, rows: QuerySet[Any]) -> list[Any]:
    return own_writes.read(request, lambda: list(rows[:ROWS_PER_READ]))


def _with_header(
    header: Sequence[str], rows: Iterable[Iterable[object]]
) -> Iterator[Iterable[object]]:
    yield header
    yield from rows


def _reader(
    model_admin: admin.ModelAdmin[Any], columns: Sequence[str], *, plain: bool
) -> Callable[[Model], list[object]]:
    def read(row: Model) -> list[object]:
        return [
            row.address  # type: ignore[attr-defined]  # pages with masked addresses have the field
            if plain and name == "masked_address"
            else _value(model_admin, row, name)
            for name in columns
        ]

    return read


def _value(model_admin: admin.ModelAdmin[Any], row: Model, name: str) -> object:
    try:
        field, _, value = lookup_field(name, row, model_admin)
    except ObjectDoesNotExist:
        return ""
    if field is not None and field.choices:
        return getattr(row, f"get_{field.name}_display")()
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | float):
        return value
    return strip_tags(str(value))


admin.site.add_action(export_csv, "export_csv")
