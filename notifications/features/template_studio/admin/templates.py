"""Templates: edit drafts, publish versions. A published version never changes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.dataclasses import UnfoldAction
from unfold.decorators import display

from notifications.core.admin import base, confirmation
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.admin.monitoring.links import traffic_link
from notifications.core.models import Template, TemplateEvent
from notifications.core.rules.attachments import WrongFiles
from notifications.core.rules.templates import one_off
from notifications.core.store.postgres import audit
from notifications.core.store.templates import versions
from notifications.core.store.templates.versions import Verb
from notifications.features.template_studio.admin import (
    compare_page,
    editor_page,
    files_page,
    publish_page,
    translation_page,
    zip_files,
    zip_page,
)
from notifications.features.template_studio.admin.forms import (
    TemplateForm,
    TextInline,
    is_draft,
)
from notifications.features.template_studio.admin.one_off_filter import OneOffFilter

_LIFE = ("version", "created_by", "created_at", "published_by", "published_at")
"""Read-only fields for the history of a version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A confirmed action on a version."""

    operation: str
    """Operation id of the OpenAPI document."""
    verb: str
    consequence: str
    outcome: str
    """Message about the resulting version."""
    take: Callable[..., Template]


@admin.register(Template)
class TemplateAdmin(AuditedAdmin):
    """Versions of templates; the highest published version is the current version."""

    form = TemplateForm
    list_display = (
        *("template_id", "version", "state", "note", "created_by"),
        *("published_by", "published_at", "plots"),
    )
    sortable_by = ()
    list_filter = (OneOffFilter,)
    search_fields = ("template_id",)
    inlines = (TextInline,)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    *("template_id", "default_locale", "variables", "sensitive_variables", "note"),
                    *_LIFE,
                )
            },
        ),
        (
            "Advanced",
            {
                "classes": ["collapse"],
                "fields": ("no_longer_sensitive", "fallback_on", "confirm_seconds"),
            },
        ),
    )
    actions_list = ("download", "upload")  # type: ignore[assignment]  # unfold types its default, an empty tuple
    actions_detail = (
        "editor",
        "translate",
        "attachments",
        "compare",
        "publish",
        "roll_back",
        "new_draft",
    )  # type: ignore[assignment]  # unfold types its default, an empty tuple

    @display(description="Plots")
    def plots(self, row: Template) -> str:
        """Return the link to the page with plots."""
        return traffic_link("template", row.template_id)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Template | None = None
    ) -> tuple[str, ...]:
        """Return the read-only fields; the name of an existing draft cannot change."""
        del request
        return _LIFE if obj is None else ("template_id", *_LIFE)

    def has_change_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Return True for a draft."""
        return is_draft(obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Return True for a draft: accepted notifications refer to published versions."""
        return obj is not None and is_draft(obj) and super().has_delete_permission(request, obj)

    has_write_permission = requires("notifications.change_template")
    has_publish_permission = requires("notifications.publish_template")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Template]:
        """Add the current version of every template."""
        published = Template.objects.filter(
            template_id=OuterRef("template_id"), published_at__isnull=False
        )
        newest = published.order_by("-version").values("version")[:1]
        rows: QuerySet[Template] = super().get_queryset(request)
        return rows.annotate(current=Subquery(newest))

    def get_actions_detail(self, request: HttpRequest, object_id: int) -> list[UnfoldAction]:
        """Return the buttons of actions which are possible for the version."""
        version = self.get_queryset(request).filter(pk=object_id).first()
        hidden = _hidden_actions(version) if version else ()
        return [
            each
            for each in super().get_actions_detail(request, object_id)
            if each.action_name not in {f"notifications_template_{name}" for name in hidden}
        ]

    @display(
        description="State",
        label={"current": "success", "published before": "info", "draft": "warning"},
    )
    def state(self, template: Template) -> str:
        """Return `current`, `published before` or `draft`."""
        if template.published_at is None:
            return "draft"
        return "current" if _is_current(template) else "published before"

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: Template, form: forms.Form, change: object
    ) -> None:
        """Number a new version: 1 for a new template, else the next number."""
        if not change:
            versions.lock(obj.template_id)
            obj.version = versions.next_number(obj.template_id)
            obj.created_by = _name(request)
        super().save_model(request, obj, form, change)

    def save_related(
        self,
        request: HttpRequest,
        form: forms.ModelForm[Template],
        formsets: Any,  # noqa: ANN401 - Django's types
        change: object,
    ) -> None:
        """Save the texts and add an event to the history."""
        super().save_related(request, form, formsets, change)
        verb = Verb.EDITED if change else Verb.DRAFTED
        versions.record(form.instance, verb, by=_name(request))

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """Delete the draft and add an event to the history."""
        if isinstance(obj, Template):
            versions.record(obj, Verb.DELETED, by=_name(request))
        super().delete_model(request, obj)

    def response_add(
        self,
        request: HttpRequest,
        obj: Template,
        post_url_continue: str | None = None,
    ) -> HttpResponse:
        """Open the editor after a new version is saved."""
        if "_addanother" in request.POST or "_popup" in request.POST:
            return super().response_add(request, obj, post_url_continue)
        self.message_user(request, f"{obj} is a draft. Add texts here.", messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:notifications_template_editor", args=[obj.pk]))

    @action("Editor", url_path="editor", permissions=["view"], icon="edit_note")
    def editor(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Open the editor, or answer a request of the editor."""
        version = get_object_or_404(Template, pk=object_id)
        if request.method == "POST":
            return editor_page.answer(request, version)
        return editor_page.show(self, request, version)

    @action("Translate", url_path="translate", permissions=["view"], icon="translate")
    def translate(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Return a file for translators, or import a translated file."""
        version = get_object_or_404(Template, pk=object_id)
        may_write = self.has_write_permission(request)
        return translation_page.answer(self, request, version, may_write=may_write)

    @action("Attachments", url_path="attachments", permissions=["view"], icon="attach_file")
    def attachments(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the attachments of the version, or change those of a draft."""
        return files_page.answer(self, request, get_object_or_404(Template, pk=object_id))

    @action("Compare", url_path="compare", permissions=["view"], icon="difference")
    def compare(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the differences from another version."""
        return compare_page.show(self, request, get_object_or_404(Template, pk=object_id))

    @action("Publish", url_path="publish", permissions=["publish"], icon="publish")
    def publish(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the changes and the effect, then publish the version."""
        step = _Step(
            operation="publish_template",
            verb="Publish",
            consequence="New notifications use this version. A published version cannot be edited.",
            outcome="is published",
            take=functools.partial(
                publish_page.publish,
                declares="declare" in request.POST,
                seen=request.POST.get(confirmation.STAMP, ""),
            ),
        )
        if request.method == "POST":
            try:
                return self._step(request, object_id, step)
            except publish_page.NotAsShown as error:
                said = f"Nothing is published: {error}. Read the changes again."
                self.message_user(request, said, messages.ERROR)
        version = get_object_or_404(Template, pk=object_id)
        return publish_page.show(self, request, version, consequence=step.consequence)

    @action("Roll back to this", url_path="roll-back", permissions=["publish"], icon="history")
    def roll_back(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Publish a copy of the version."""
        step = _Step(
            operation="roll_back_template",
            verb="Roll back",
            consequence="The texts are copied to a new version, which is published at once.",
            outcome="is published",
            take=versions.roll_back,
        )
        return self._step(request, object_id, step)

    @action("New draft from this", url_path="draft", permissions=["write"], icon="edit")
    def new_draft(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Create a draft as a copy of the version."""
        step = _Step(
            operation="create_template",
            verb="Make a draft",
            consequence="The draft is a copy with the next number, used after publishing.",
            outcome="is a draft",
            take=_copy,
        )
        return self._step(request, object_id, step)

    @action("Download all", url_path="download", permissions=["view"], icon="download")
    def download(self, request: HttpRequest) -> HttpResponse:  # noqa: ARG002 - unfold's signature
        """Return all templates as a zip file."""
        answer = HttpResponse(zip_files.pack(), content_type="application/zip")
        answer["Content-Disposition"] = 'attachment; filename="templates.zip"'
        return answer

    @action("Upload", url_path="upload", permissions=["write"], icon="upload")
    def upload(self, request: HttpRequest) -> HttpResponse:
        """Show the page, or import templates from a zip file."""
        may_publish = self.has_publish_permission(request)
        return zip_page.answer(self, request, may_publish=may_publish)

    def _step(self, request: HttpRequest, object_id: int, step: _Step) -> HttpResponse:
        """Ask for confirmation by POST, because any page could contain a link to the action."""
        version = get_object_or_404(Template, pk=object_id)
        if request.method != "POST":
            return base.page(
                self,
                request,
                "admin/ask.html",
                title=f"{step.verb}: {version}",
                context={
                    "verb": step.verb,
                    "consequence": step.consequence,
                    "back": _page_of(version),
                },
            )
        own = Template.objects.filter(pk=version.pk)
        try:
            with audit.changes(_name(request), step.operation, own) as news:
                made = step.take(version, by=_name(request))
                news.extend([made] * (made.pk != version.pk))
        except (versions.NotPublishable, WrongFiles) as error:
            self.message_user(request, f"Not done: {error}.", messages.ERROR)
            return HttpResponseRedirect(_page_of(version))
        self.message_user(request, f"{made} {step.outcome}.", messages.SUCCESS)
        if is_draft(made):
            return HttpResponseRedirect(
                reverse("admin:notifications_template_editor", args=[made.pk])
            )
        return HttpResponseRedirect(_page_of(made))


@admin.register(TemplateEvent)
class TemplateEventAdmin(base.ReadOnlyAdmin):
    """Read-only history of templates."""

    list_display = ("at", "template_id", "version", "verb", "by", "detail")
    list_filter = ("verb",)
    search_fields = ("template_id",)
    sortable_by = ()


def _hidden_actions(version: Template) -> tuple[str, ...]:
    """Return the impossible actions: roll back needs an earlier version, publish needs a draft.

    A one-off template has one version, without files.
    """
    if one_off.is_one_off(version.template_id):
        return ("publish", "roll_back", "new_draft", "translate", "attachments")
    if version.published_at is None:
        return ("roll_back",)
    return ("publish", "roll_back") if _is_current(version) else ("publish",)


def _is_current(version: Template) -> bool:
    newest: int | None = version.current  # type: ignore[attr-defined]  # annotated by the admin
    return version.version == newest


def _page_of(template: Template) -> str:
    return reverse("admin:notifications_template_change", args=[template.pk])


def _copy(version: Template, *, by: str) -> Template:
    return versions.draft(
        version.template_id,
        versions.content_of(version),
        by=by,
        note=f"From version {version.version}",
    )


def _name(request: HttpRequest) -> str:
    return str(request.user.get_username())
