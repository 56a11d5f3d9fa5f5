"""Templates: drafts are edited, versions are published, and what was published never changes."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Max
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.admin import ModelAdmin, StackedInline
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications import clock
from notifications.admin import preview, reading
from notifications.admin.actions import action
from notifications.models import Template, TemplateText
from notifications.rules import locales, templating, variables
from notifications.store import texts

_SOURCES = ("title", "body", "html")


class TextForm(forms.ModelForm[TemplateText]):
    """A text whose sources could be rendered whatever their variables hold."""

    def clean_locale(self) -> str:
        """As BCP 47 spells it.

        Raises:
            forms.ValidationError: CLDR knows no such locale.
        """
        return _locale(self.cleaned_data["locale"])

    def clean(self) -> dict[str, Any]:
        """Every fault of every source becomes that field's error, with its line."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for source in _SOURCES:
            for fault in templating.check(cleaned.get(source) or ""):
                self.add_error(source, f"Line {fault.line}: {fault.detail}.")
        return cleaned


class TextInline(StackedInline):
    """The texts of a version, one for each channel and locale."""

    model = TemplateText
    form = TextForm
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only in a draft."""
        return _is_draft(obj) and super().has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only in a draft."""
        return _is_draft(obj) and super().has_add_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only in a draft."""
        return _is_draft(obj) and super().has_delete_permission(request, obj)


class TemplateForm(forms.ModelForm[Template]):
    """Refuses to save what somebody else has published since the page was opened."""

    def clean_default_locale(self) -> str:
        """As BCP 47 spells it.

        Raises:
            forms.ValidationError: CLDR knows no such locale.
        """
        return _locale(self.cleaned_data["default_locale"])

    def clean_variables(self) -> list[Any]:
        """Only what says a type for each name, and an example that is of it.

        Raises:
            forms.ValidationError: the first that does not.
        """
        declared = self.cleaned_data["variables"] or []
        try:
            variables.read(declared)
        except variables.MalformedDeclaration as error:
            raise forms.ValidationError(str(error)) from error
        return list(declared)

    class Meta:
        """A line is enough for a few names."""

        widgets = {"sensitive_variables": UnfoldAdminTextInputWidget}  # noqa: RUF012 - Django's way

    def clean(self) -> dict[str, Any]:
        """Look again.

        Raises:
            forms.ValidationError: the version is published by now.
        """
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if Template.objects.filter(pk=self.instance.pk).exclude(published_at=None).exists():
            raise forms.ValidationError("This version is published. Make a new draft from it.")
        return cleaned


@admin.register(Template)
class TemplateAdmin(ModelAdmin):
    """Versions of templates; the highest published one is what producers get."""

    form = TemplateForm
    list_display = ("template_id", "version", "state", "note", "updated_at")
    search_fields = ("template_id",)
    inlines = (TextInline,)
    fields = (
        *("template_id", "version", "published_at", "default_locale"),
        *("variables", "sensitive_variables", "note"),
    )
    actions_detail = ("preview", "publish", "new_draft")  # type: ignore[assignment]  # unfold types its default, an empty tuple

    def get_readonly_fields(
        self, request: HttpRequest, obj: Template | None = None
    ) -> tuple[str, ...]:
        """A draft keeps its name: accepted notifications pin the row."""
        del request
        return (
            ("version", "published_at")
            if obj is None
            else ("template_id", "version", "published_at")
        )

    def has_change_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only a draft."""
        return _is_draft(obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only a draft: a published version is pinned by what was accepted with it."""
        return obj is not None and _is_draft(obj) and super().has_delete_permission(request, obj)

    def has_write_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002 - unfold's signature
        """Who may change templates may publish them and begin new drafts."""
        return bool(request.user.has_perm("notifications.change_template"))

    @display(description="State", label={"published": "success", "draft": "warning"})
    def state(self, template: Template) -> str:
        """Published or draft."""
        return "published" if template.published_at else "draft"

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: Template, form: forms.Form, change: object
    ) -> None:
        """A new name begins at 1, a known one goes on after its last version."""
        if not change:
            obj.version = _next_version(obj.template_id)
        super().save_model(request, obj, form, change)

    @action("Preview", url_path="preview", permissions=["view"], icon="visibility")
    def preview(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """How it will look."""
        return preview.show(self, request, object_id)

    @action("Publish", url_path="publish", permissions=["write"], icon="publish")
    def publish(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """From now on producers get this version."""
        if request.method != "POST":
            return self._ask(
                request,
                object_id,
                verb="Publish",
                consequence="Producers get this version from now on; it cannot be edited any more.",
            )
        with transaction.atomic():
            template = Template.objects.select_for_update().get(pk=object_id)
            refusal = _reason_not_to_publish(template)
            if not refusal:
                template.published_at = clock.now()
                template.save(update_fields=("published_at", "updated_at"))
        self.message_user(
            request,
            refusal or f"{template} is published.",
            messages.ERROR if refusal else messages.SUCCESS,
        )
        return _to_page(template)

    @action("New draft from this", url_path="draft", permissions=["write"], icon="edit")
    def new_draft(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """A copy with the next version's number."""
        if request.method != "POST":
            return self._ask(
                request,
                object_id,
                verb="Make a draft",
                consequence="A copy with the next number; nothing changes until it is published.",
            )
        with transaction.atomic():
            source = Template.objects.select_for_update().get(pk=object_id)
            draft = Template.objects.create(
                template_id=source.template_id,
                version=_next_version(source.template_id),
                sensitive_variables=source.sensitive_variables,
                variables=source.variables,
                default_locale=source.default_locale,
                note=f"From version {source.version}",
            )
            TemplateText.objects.bulk_create(
                TemplateText(
                    template=draft,
                    channel=text.channel,
                    locale=text.locale,
                    title=text.title,
                    body=text.body,
                    html=text.html,
                    transliterate=text.transliterate,
                    max_segments=text.max_segments,
                    shorten_links=text.shorten_links,
                )
                for text in source.texts.all()
            )
        self.message_user(request, f"{draft} is a draft.", messages.SUCCESS)
        return _to_page(draft)

    def _ask(
        self, request: HttpRequest, object_id: int, *, verb: str, consequence: str
    ) -> HttpResponse:
        """A link must change nothing: it could stand in any page that the operator opens."""
        template = get_object_or_404(Template, pk=object_id)
        back = reverse("admin:notifications_template_change", args=[object_id])
        return reading.page(
            self,
            request,
            "admin/ask.html",
            title=f"{verb}: {template}",
            context={"verb": verb, "consequence": consequence, "back": back},
        )


def _is_draft(template: Template | None) -> bool:
    return template is None or template.published_at is None


def _next_version(template_id: str) -> int:
    highest = Template.objects.filter(template_id=template_id).aggregate(Max("version"))
    return (highest["version__max"] or 0) + 1


def _reason_not_to_publish(template: Template) -> str:
    if template.published_at:
        return f"{template} is published already."
    return "; ".join(texts.objections(template))


def _locale(typed: str) -> str:
    if not locales.is_known(typed):
        raise forms.ValidationError("CLDR knows no such locale; write one like en, pt-BR, zh-Hant.")
    return locales.normalised(typed)


def _to_page(template: Template) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:notifications_template_change", args=[template.pk]))
