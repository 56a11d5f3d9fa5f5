"""Saved audiences with a live size, and topics."""

from __future__ import annotations

import json
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from notifications.core.admin import base, recipient_names
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.admin.fields import parse_object
from notifications.core.models import Audience, Recipient, Topic, TopicSubscriber
from notifications.core.models.choices import MODES
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError
from notifications.core.store.postgres import audit
from notifications.features.audiences import expressions
from notifications.features.audiences.admin import choices, name_search
from notifications.features.audiences.rows import estimates, topics
from notifications.features.audiences.rows.estimates import Estimate
from notifications.features.audiences.rules import nodes, wording
from notifications.features.audiences.rules.faults import ExpressionError

_LIST = "admin:notifications_audience_changelist"
_COMPOSE: Final = "notifications.add_bulkjob"

SUBSCRIBERS_SHOWN: Final = 50
"""Subscribers of a page."""
_MAX_ID: Final = 2**63 - 1


class AudienceForm(forms.Form):
    """A saved audience; the builder writes the expression."""

    name = forms.CharField(max_length=100, widget=UnfoldAdminTextInputWidget)
    mode = forms.TypedChoiceField(
        choices=MODES,
        coerce=lambda value: Mode(int(value)),
        initial=Mode.LIVE.value,
        widget=UnfoldAdminSelectWidget,
    )
    description = forms.CharField(max_length=300, required=False, widget=UnfoldAdminTextInputWidget)
    audience = forms.CharField(
        label="Expression",
        error_messages={"required": "Choose the audience."},
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "spellcheck": "false"}),
    )

    value: object = None
    sentence: str = ""
    estimate: Estimate | None = None
    faults: list[tuple[str, str]]
    """JSON pointer within the expression, and the sentence."""

    def clean(self) -> dict[str, Any]:
        """Check the expression and estimate the size.

        Raises:
            ValidationError: never; the faults are at the fields.
        """
        data = super().clean() or self.cleaned_data
        self.faults = []
        if "audience" not in data or "mode" not in data:
            return data
        try:
            self.value = parse_object(data["audience"])
            expression = expressions.check(self.value, mode=data["mode"])
            self.sentence = wording.describe(expression)
            self.estimate = estimates.estimate(expression, mode=data["mode"])
        except forms.ValidationError as error:
            self.add_error("audience", error)
        except ExpressionError as error:
            self.faults = [(error.error.pointer, error.error.detail)]
            self.add_error("audience", str(error))
        return data


@admin.register(Audience)
class AudienceAdmin(AuditedAdmin):
    """Audiences by name; a bulk job reads the audience when the job is expanded."""

    list_display = ("name", "mode", "description", "changed_by", "changed_at")
    list_filter = ("mode",)
    search_fields = ("name__icontains", "description__icontains")
    paginator = base.BoundedPaginator
    show_full_result_count = False
    ordering = ("name",)
    sortable_by = ()

    def get_urls(self) -> list[URLPattern]:
        """Add the search of names."""
        view = self.admin_site.admin_view(self.names)
        theirs: list[URLPattern] = super().get_urls()
        return [path("names/", view, name="notifications_audience_names"), *theirs]

    def names(self, request: HttpRequest) -> HttpResponse:
        """Return the names with a typed text.

        Raises:
            PermissionDenied: the operator may neither view audiences nor add bulk jobs.
        """
        if not (self.has_view_permission(request) or request.user.has_perm(_COMPOSE)):
            raise PermissionDenied
        return name_search.answer(request)

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Show the builder for a new audience; store the audience.

        Raises:
            PermissionDenied: the operator may not add audiences.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        return self._answer(request, None)

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the builder for an audience; store changes.

        Raises:
            Http404: the audience does not exist.
        """
        found = self.get_object(request, object_id)
        return self._answer(request, get_object_or_404(Audience, pk=found and found.pk))

    def _answer(self, request: HttpRequest, row: Audience | None) -> HttpResponse:
        may_save = self._may_save(request, row)
        form = AudienceForm(request.POST if request.method == "POST" else None, initial=_of(row))
        if form.is_bound and form.is_valid() and request.POST.get("do") == "save":
            if not may_save:
                raise PermissionDenied
            if self._save(request, form, row):
                return HttpResponseRedirect(reverse(_LIST))
        shown: dict[str, Any] = {}
        if form.is_bound:
            shown = {"estimate": form.estimate, "sentence": form.sentence, "faults": form.faults}
        parts = {"audience": base.part("audiences/size.html", shown)}
        if request.headers.get("Accept") == "application/json":
            given = {name for name in form.fields if form[name].value()}
            errors = {
                name: " ".join(map(str, each))
                for name, each in form.errors.items()
                if name in given
            }
            return JsonResponse({"parts": parts, "errors": errors, "audience": form.faults})
        context = {
            "form": form,
            "parts": parts,
            "may_save": may_save,
            "row": row,
            "may_compose": request.user.has_perm("notifications.add_bulkjob"),
            "may_delete": row is not None and self.has_delete_permission(request, row),
            **choices.context(form["mode"].value()),
        }
        title = row.name if row else "New audience"
        return base.page(self, request, "audiences/audience.html", title=title, context=context)

    def delete_model(self, request: HttpRequest, obj: Audience) -> None:  # type: ignore[override]  # unfold forgets the type of the model
        """Delete an audience without use in other audiences."""
        try:
            with audit.changes(
                name_of(request), "delete_audience", Audience.objects.filter(pk=obj.pk)
            ):
                expressions.delete(obj)
        except expressions.AudienceRefused as error:
            self.message_user(request, f"Not deleted: {error.problem.detail}.", messages.ERROR)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the actions without the deletion of several audiences."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def _may_save(self, request: HttpRequest, row: Audience | None) -> bool:
        if row is None:
            return self.has_add_permission(request)
        return bool(self.has_change_permission(request, row))

    def _save(self, request: HttpRequest, form: AudienceForm, row: Audience | None) -> bool:
        """Store the audience; False if another audience has the name."""
        by = name_of(request)
        made = row or Audience(created_by=by)
        for name in ("name", "mode", "description"):
            setattr(made, name, form.cleaned_data[name])
        rows = Audience.objects.filter(pk=made.pk)
        try:
            with audit.changes(by, f"{'change' if row else 'add'}_audience", rows) as new:
                expressions.save(made, form.value, by=by)
                if row is None:
                    new.append(made)
        except expressions.AudienceRefused as error:
            for fault in error.problem.errors or (FieldError("/name", error.problem.detail),):
                form.add_error(fault.pointer.strip("/"), fault.detail)
            return False
        self.message_user(request, f"The audience {made.name} is saved.", messages.SUCCESS)
        return True


def _of(row: Audience | None) -> dict[str, Any]:
    if row is None:
        return {}
    return {
        "name": row.name,
        "mode": row.mode,
        "description": row.description,
        "audience": json.dumps(row.expression, ensure_ascii=False, indent=2),
    }


@admin.register(Topic)
class TopicAdmin(base.ReadOnlyAdmin):
    """Topics by name; producers change the subscribers through the API.

    The page has the number of subscribers, a search and a part of the list. The number is exact or
    an estimate, within a second for any size.
    """

    list_display = ("name", "mode", "created_by", "created_at")
    list_filter = ("mode",)
    search_fields = ("name__istartswith",)
    paginator = base.BoundedPaginator
    ordering = ("name",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Topic]:
        """Leave out deleted topics."""
        rows: QuerySet[Topic] = super().get_queryset(request).filter(deleted_at=None)
        return rows

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the size of a topic, and the subscribers behind `?after=` or the one of `?q=`.

        Raises:
            Http404: the topic does not exist.
        """
        found = self.get_object(request, object_id)
        topic = get_object_or_404(Topic, pk=found and found.pk)
        may_see = request.user.has_perm("notifications.view_recipient")
        after, term = request.GET.get("after", ""), request.GET.get("q", "").strip()
        start = min(int(after), _MAX_ID) if after.isdecimal() and after.isascii() else 0
        rows = (
            topics.subscribers(topic, after=start, limit=SUBSCRIBERS_SHOWN + 1) if may_see else []
        )
        context = {
            "topic": topic,
            "size": estimates.estimate(nodes.InTopic(topic.name), mode=Mode(topic.mode)),
            "may_see": may_see,
            "rows": list(recipient_names.names(dict(rows[:SUBSCRIBERS_SHOWN])).items()),
            "following": rows[SUBSCRIBERS_SHOWN - 1][0] if len(rows) > SUBSCRIBERS_SHOWN else None,
            "term": term,
            "answer": _search_subscriber(topic, term) if term and may_see else "",
        }
        return base.page(self, request, "audiences/topic.html", title=topic.name, context=context)


def _search_subscriber(topic: Topic, user_id: str) -> str:
    person = Recipient.objects.filter(mode=topic.mode, user_id=user_id[:255]).first()
    if person is None:
        return f"No recipient has the user id {user_id}."
    subscribed = TopicSubscriber.objects.filter(topic_id=topic.pk, recipient_id=person.pk)
    return f"{user_id} is {'' if subscribed.exists() else 'not '}subscribed."
