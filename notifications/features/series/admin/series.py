"""Series: the list with the number of enrolments, the page of a series, and its changes.

`page` has the parts of the page, `editor` the editor, `enrolments` the enrolments of a recipient.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.decorators import display
from unfold.views import ChangeList

from notifications.core.admin import base
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.rules.problems import Problem
from notifications.core.store.postgres import audit
from notifications.features.series import figures, versions
from notifications.features.series.admin import editor, page
from notifications.features.series.figures import Figures
from notifications.features.series.models import Series
from notifications.features.series.rules.states import EnrolmentState, SeriesState

STATE_COLOURS: Final = {
    SeriesState.ACTIVE.value: "success",
    SeriesState.PAUSED.value: "warning",
    SeriesState.DRAFT.value: "info",
}
_CONSEQUENCES: Final = {
    "pause": "A batch that runs now ends; then no further step runs. Messages that were accepted"
    " before are still sent. The series still takes enrolments and events, and due steps wait until"
    " the series is resumed.",
    "publish": "New enrolments take the version. Running enrolments stay on the version of their"
    " entry. A published version cannot be changed; the editor makes the next one.",
    "resume": "The steps that came due during the pause run now. The lanes limit the rate of the"
    " messages.",
}
_TARGETS: Final = {"pause": SeriesState.PAUSED, "resume": SeriesState.ACTIVE}


class SeriesList(ChangeList):
    """The list of a page of series, with the figures of all series of the page by one query."""

    def get_results(self, request: HttpRequest) -> None:
        """Load the page, and then the figures."""
        super().get_results(request)
        self.result_list = list(self.result_list)
        found = figures.of_series([each.pk for each in self.result_list])
        for series in self.result_list:
            series.shown_figures = found[series.pk]


@admin.register(Series)
class SeriesAdmin(base.ReadOnlyAdmin):
    """Series, newest first; operators edit series here, and producers through the API."""

    list_display = (
        *("name", "label", "version", "in_progress", "ends", "exits"),
        *("producer", "mode", "created_at"),
    )
    list_filter = ("state", "mode", "producer")
    list_select_related = ("producer", "current")
    search_fields = ("name__icontains",)
    search_help_text = "A part of the name."
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    actions_detail = ("editor", "publish", "pause", "resume")  # type: ignore[assignment]  # unfold types its default, an empty tuple

    def get_changelist(  # type: ignore[override]  # unfold annotates the class as an instance
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        **_more: object,
    ) -> type[ChangeList]:
        """Return the list with figures."""
        return SeriesList

    has_add_permission = requires("notifications.add_series")
    has_steer_permission = requires("notifications.change_series")

    @display(description="State", label=STATE_COLOURS)
    def label(self, series: Series) -> str:
        """Return the state."""
        return series.state

    @display(description="Version")
    def version(self, series: Series) -> str:
        """Return the number of the version of new enrolments; empty before the publication."""
        return str(series.current.number) if series.current else ""

    @display(description="In progress")
    def in_progress(self, series: Series) -> str:
        """Return the number of running enrolments."""
        return f"{_figures_of(series).by_state[EnrolmentState.RUNNING]:,}"

    @display(description="Finished")
    def ends(self, series: Series) -> str:
        """Return the number of enrolments after the last step."""
        return f"{_figures_of(series).by_state[EnrolmentState.FINISHED]:,}"

    @display(description="Exits")
    def exits(self, series: Series) -> str:
        """Return the number of enrolments that ended before the last step."""
        return f"{_figures_of(series).by_state[EnrolmentState.EXITED]:,}"

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Show the editor for a new series; store the series.

        Raises:
            PermissionDenied: the operator may not create series.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        return _edit(self, request, None)

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the page of a series.

        Raises:
            Http404: the series does not exist.
        """
        found = self.get_object(request, object_id)
        rows = Series.objects.select_related("producer", "current")
        series = get_object_or_404(rows, pk=found and found.pk)
        context = {
            **page.context(
                series,
                asked=request.GET.get("version", ""),
                may_see_people=request.user.has_perm("notifications.view_seriesenrolment"),
            ),
            "may_edit": self.has_steer_permission(request) and series.state != SeriesState.ARCHIVED,
            "buttons": _buttons(series) if self.has_steer_permission(request) else [],
            "colour": STATE_COLOURS.get(series.state, ""),
        }
        return base.page(self, request, "series/series.html", title=series.name, context=context)

    @action("Editor", permissions=["steer"], url_path="editor", icon="edit_note")
    def editor(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the editor of the draft, or answer a request of the editor."""
        series = _find(object_id)
        if series.state == SeriesState.ARCHIVED:
            messages.error(request, "An archived series has no new versions.")
            return HttpResponseRedirect(_page_of(series))
        return _edit(self, request, series)

    @action("Publish", permissions=["steer"], url_path="publish", icon="publish")
    def publish(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then publish the draft that `?seen=` marks; a refusal leads to the editor."""
        series = _find(object_id)
        back = reverse("admin:notifications_series_editor", args=[series.pk])
        if request.method != "POST":
            if "seen" not in request.GET:
                return HttpResponseRedirect(f"?seen={versions.mark_of(series)}")
            return self._ask(request, series, "publish", back=back)
        by, caller = name_of(request), versions.caller_of(series.producer, series.mode)
        drafts = series.versions.filter(published_at=None)
        seen = request.GET.get("seen", "")
        with audit.changes(by, "publish_series", Series.objects.filter(pk=series.pk), drafts):
            done = versions.publish(caller, series, by=by, seen=seen)
        if isinstance(done, Problem):
            for line in editor.sentences(done):
                self.message_user(request, f"Not published. {line}.", messages.ERROR)
            return HttpResponseRedirect(back)
        self.message_user(request, f"{done.name} is published.", messages.SUCCESS)
        return HttpResponseRedirect(_page_of(series))

    @action("Pause", permissions=["steer"], url_path="pause", icon="pause")
    def pause(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then pause the series."""
        return self._steer(request, object_id, "pause")

    @action("Resume", permissions=["steer"], url_path="resume", icon="play_arrow")
    def resume(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then resume the series."""
        return self._steer(request, object_id, "resume")

    def _steer(self, request: HttpRequest, object_id: str, verb: str) -> HttpResponse:
        series = _find(object_id)
        if request.method == "POST":
            self._change(request, series, verb)
            return HttpResponseRedirect(_page_of(series))
        return self._ask(request, series, verb, back=_page_of(series))

    def _ask(self, request: HttpRequest, series: Series, verb: str, *, back: str) -> HttpResponse:
        context = {
            "verb": f"{verb.capitalize()} the series",
            "consequence": _CONSEQUENCES[verb],
            "back": back,
        }
        title = f"{verb.capitalize()} {series.name}?"
        return base.page(self, request, "admin/steer.html", title=title, context=context)

    def _change(self, request: HttpRequest, series: Series, verb: str) -> None:
        by = name_of(request)
        with audit.changes(by, f"{verb}_series", Series.objects.filter(pk=series.pk)):
            done = versions.change_state(series, _TARGETS[verb], by=by)
        if isinstance(done, Problem):
            self.message_user(request, f"{done.detail}.", messages.ERROR)
        else:
            self.message_user(request, f"{done.name} is {done.state}.", messages.SUCCESS)


def _edit(model_admin: SeriesAdmin, request: HttpRequest, series: Series | None) -> HttpResponse:
    if request.method == "POST":
        return editor.answer(model_admin, request, series)
    return editor.show(model_admin, request, series)


def _find(object_id: str) -> Series:
    return get_object_or_404(Series.objects.select_related("producer", "current"), pk=object_id)


def _page_of(series: Series) -> str:
    return reverse("admin:notifications_series_change", args=[series.pk])


def _buttons(series: Series) -> list[tuple[str, str]]:
    """Return verb and title of the permitted buttons."""
    match series.state:
        case SeriesState.ACTIVE:
            return [("pause", "Pause")]
        case SeriesState.PAUSED:
            return [("resume", "Resume")]
        case _:
            return []


def _figures_of(series: Series) -> Figures:
    found: Figures = series.shown_figures  # type: ignore[attr-defined]  # `SeriesList` sets the figures
    return found
