"""Templates: drafts are edited, versions are published, and what was published never changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.dataclasses import UnfoldAction
from unfold.decorators import display

from notifications.admin import base, template_archive, template_compare, template_editor
from notifications.admin.actions import action
from notifications.admin.audited import AuditedAdmin
from notifications.admin.template_forms import TemplateForm, TextInline, is_draft
from notifications.models import Template, TemplateEvent
from notifications.rules.templates.file_format import BrokenFiles
from notifications.store.postgres import audit
from notifications.store.templates import versions
from notifications.store.templates.versions import Verb

_LIFE = ("version", "created_by", "created_at", "published_by", "published_at")
"""What is shown of a version's life, and written by none of the form's fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One of a version's life, as its button says it."""

    operation: str
    """As OpenAPI names it."""
    verb: str
    consequence: str
    outcome: str
    """What is said of the version that came of it."""
    take: Callable[..., Template]


@admin.register(Template)
class TemplateAdmin(AuditedAdmin):
    """Versions of templates; the highest published one is what producers get."""

    form = TemplateForm
    list_display = (
        *("template_id", "version", "state", "note", "created_by"),
        *("published_by", "published_at"),
    )
    sortable_by = ()
    search_fields = ("template_id",)
    inlines = (TextInline,)
    fields = (
        *("template_id", "default_locale", "variables", "sensitive_variables"),
        *("no_longer_sensitive", "note"),
        *_LIFE,
    )
    actions_list = ("download", "upload")  # type: ignore[assignment]  # unfold types its default, an empty tuple
    actions_detail = ("editor", "compare", "publish", "roll_back", "new_draft")  # type: ignore[assignment]  # unfold types its default, an empty tuple

    def get_readonly_fields(
        self, request: HttpRequest, obj: Template | None = None
    ) -> tuple[str, ...]:
        """A draft keeps its name: accepted notifications pin the row."""
        del request
        return _LIFE if obj is None else ("template_id", *_LIFE)

    def has_change_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only a draft."""
        return is_draft(obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only a draft: a published version is pinned by what was accepted with it."""
        return obj is not None and is_draft(obj) and super().has_delete_permission(request, obj)

    def has_write_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - unfold's signature
        """Who may change templates may begin new drafts."""
        return bool(request.user.has_perm("notifications.change_template"))

    def has_publish_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - unfold's signature
        """Publishing is a right of its own: what is published goes to everybody."""
        return bool(request.user.has_perm("notifications.publish_template"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Template]:
        """With the version of each name that producers get."""
        published = Template.objects.filter(
            template_id=OuterRef("template_id"), published_at__isnull=False
        )
        newest = published.order_by("-version").values("version")[:1]
        rows: QuerySet[Template] = super().get_queryset(request)
        return rows.annotate(current=Subquery(newest))

    def get_actions_detail(self, request: HttpRequest, object_id: int) -> list[UnfoldAction]:
        """Without the buttons that could only be refused."""
        version = self.get_queryset(request).filter(pk=object_id).first()
        hidden = _refused(version) if version else ()
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
        """What producers get, what they once got, or a draft."""
        if template.published_at is None:
            return "draft"
        return "current" if _is_current(template) else "published before"

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: Template, form: forms.Form, change: object
    ) -> None:
        """A new name begins at 1, a known one goes on after its last version."""
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
        """With a line of who did it."""
        super().save_related(request, form, formsets, change)
        verb = Verb.EDITED if change else Verb.DRAFTED
        versions.record(form.instance, verb, by=_name(request))

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """With a line of who did it."""
        if isinstance(obj, Template):
            versions.record(obj, Verb.DELETED, by=_name(request))
        super().delete_model(request, obj)

    @action("Editor", url_path="editor", permissions=["view"], icon="edit_note")
    def editor(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Write, and see how it looks."""
        version = get_object_or_404(Template, pk=object_id)
        if request.method == "POST":
            return template_editor.answer(request, version)
        return template_editor.show(self, request, version)

    @action("Compare", url_path="compare", permissions=["view"], icon="difference")
    def compare(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """What changed since another version."""
        return template_compare.show(self, request, get_object_or_404(Template, pk=object_id))

    @action("Publish", url_path="publish", permissions=["publish"], icon="publish")
    def publish(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """From now on producers get this version."""
        step = _Step(
            operation="publish_template",
            verb="Publish",
            consequence="Producers get this version from now on; it cannot be edited any more.",
            outcome="is published",
            take=versions.publish,
        )
        return self._step(request, object_id, step)

    @action("Roll back to this", url_path="roll-back", permissions=["publish"], icon="history")
    def roll_back(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """From now on producers get these words again."""
        step = _Step(
            operation="roll_back_template",
            verb="Roll back",
            consequence="These words become a new version, published at once.",
            outcome="is published",
            take=versions.roll_back,
        )
        return self._step(request, object_id, step)

    @action("New draft from this", url_path="draft", permissions=["write"], icon="edit")
    def new_draft(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """A copy with the next version's number."""
        step = _Step(
            operation="create_template",
            verb="Make a draft",
            consequence="A copy with the next number; nothing changes until it is published.",
            outcome="is a draft",
            take=_copy,
        )
        return self._step(request, object_id, step)

    @action("Download all", url_path="download", permissions=["view"], icon="download")
    def download(self, request: HttpRequest) -> HttpResponse:  # noqa: ARG002 - unfold's signature
        """Every template's files in a zip."""
        answer = HttpResponse(template_archive.pack(), content_type="application/zip")
        answer["Content-Disposition"] = 'attachment; filename="templates.zip"'
        return answer

    @action("Upload", url_path="upload", permissions=["write"], icon="upload")
    def upload(self, request: HttpRequest) -> HttpResponse:
        """Take templates from a zip.

        Raises:
            BadRequest: the form came without one.
            PermissionDenied: it is to be published, and the operator may not publish.
        """
        if request.method != "POST":
            return base.page(
                self, request, "admin/template_upload.html", title="Upload templates", context={}
            )
        publish = bool(request.POST.get("publish"))
        if publish and not self.has_publish_permission(request):
            raise PermissionDenied
        given = request.FILES.get("archive")
        if not isinstance(given, UploadedFile):
            raise BadRequest("there is no archive in the form")
        try:
            with transaction.atomic():
                changes = template_archive.load(given, by=_name(request), publish=publish)
                audit.record(_name(request), "import_templates", Template(), after=changes)
        except BrokenFiles as error:
            self.message_user(request, f"Nothing was imported: {error}", messages.ERROR)
        else:
            told = "; ".join(f"{name}: {change}" for name, change in changes.items())
            self.message_user(request, told or "The zip has no template.", messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:notifications_template_changelist"))

    def _step(self, request: HttpRequest, object_id: int, step: _Step) -> HttpResponse:
        """Ask first: a link must change nothing, it could stand in any page that is opened."""
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
        except versions.NotPublishable as error:
            self.message_user(request, f"Not done: {error}.", messages.ERROR)
            return HttpResponseRedirect(_page_of(version))
        self.message_user(request, f"{made} {step.outcome}.", messages.SUCCESS)
        return HttpResponseRedirect(_page_of(made))


@admin.register(TemplateEvent)
class TemplateEventAdmin(base.ReadOnlyAdmin):
    """Who did what to which template."""

    list_display = ("at", "template_id", "version", "verb", "by", "detail")
    list_filter = ("verb",)
    search_fields = ("template_id",)
    sortable_by = ()


def _refused(version: Template) -> tuple[str, ...]:
    """The steps that a version cannot take: a draft goes nowhere back, the current one neither."""
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
