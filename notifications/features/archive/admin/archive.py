"""The archive: days past retention with state, rows and size, and a search for messages."""

from __future__ import annotations

from typing import Final

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from unfold.decorators import display

from notifications.core.admin import base
from notifications.core.admin.actions import action, requires
from notifications.core.models import ArchiveDay, ArchiveState

_FILES_LEFT: Final = "expired; files stay elsewhere"


@admin.register(ArchiveDay)
class ArchiveDayAdmin(base.ReadOnlyAdmin):
    """Read-only list of days; the sweep `archive` and `manage.py archive` change days."""

    list_display = ("day", "progress", "rows", "size", "dropped_at", "expired_at", "problem")
    list_display_links = None
    list_filter = ("state",)
    ordering = ("-day",)
    sortable_by = ()
    actions_list = ("search",)  # type: ignore[assignment]  # unfold types its default, an empty tuple

    has_read_permission = requires("notifications.read_archive")

    @action("Search the archive", permissions=["read"], url_path="search", icon="search")
    def search(self, request: HttpRequest) -> HttpResponse:
        """Show the search form, and the archived messages of a search."""
        from notifications.features.archive.admin.search import show  # noqa: PLC0415 - loads pyarrow, 37 MB

        return show(self, request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ArchiveDay]:
        """Return the days with the sums of the files."""
        days: QuerySet[ArchiveDay] = super().get_queryset(request)
        return days.annotate(file_rows=Sum("files__rows"), file_bytes=Sum("files__bytes"))

    @display(
        description="State",
        label={
            ArchiveState.WAITING.label: "warning",
            ArchiveState.ARCHIVED.label: "success",
            ArchiveState.NOT_ARCHIVED.label: "danger",
            _FILES_LEFT: "danger",
        },
    )
    def progress(self, day: ArchiveDay) -> str:
        """Return the state in words."""
        if day.state == ArchiveState.EXPIRED and day.problem:
            return _FILES_LEFT
        return str(ArchiveState(day.state).label)

    @display(description="Rows")
    def rows(self, day: ArchiveDay) -> str:
        """Return the number of rows of all files, the key index included."""
        count: int | None = getattr(day, "file_rows", None)
        return "" if count is None else f"{count:,}"

    @display(description="Size")
    def size(self, day: ArchiveDay) -> str:
        """Return the size of all files."""
        size: int | None = getattr(day, "file_bytes", None)
        return "" if size is None else filesizeformat(size)
