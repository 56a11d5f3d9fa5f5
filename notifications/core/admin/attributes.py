"""The definitions of attributes of recipients."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.validators import RegexValidator
from django.db.models import Model
from django.http import HttpRequest

from notifications.core.admin.actions import never
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.models import Attribute
from notifications.core.rules.attributes import BUILT_IN, MAX_ATTRIBUTES, NAME_PATTERN


class AttributeForm(forms.ModelForm[Attribute]):
    """The definition of an attribute."""

    def clean_name(self) -> str:
        """Return the name.

        Raises:
            ValidationError: every recipient has an attribute of this name, or too many exist.
        """
        name: str = self.cleaned_data["name"]
        RegexValidator(NAME_PATTERN, "Use 1 to 64 letters, digits and the characters _ . -")(name)
        if name in BUILT_IN:
            raise forms.ValidationError("Every recipient has this attribute already.")
        if Attribute.objects.count() >= MAX_ATTRIBUTES:
            raise forms.ValidationError(f"At most {MAX_ATTRIBUTES} attributes.")
        return name


@admin.register(Attribute)
class AttributeAdmin(AuditedAdmin):
    """Definitions of attributes; the kind never changes, because conditions rely on it."""

    form = AttributeForm
    fields = ("name", "kind", "description", "created_by", "created_at")
    list_display = ("name", "kind", "description", "created_by", "created_at")
    search_fields = ("name__icontains",)
    sortable_by = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401, ARG002 - Django's signature
        """Return the fields that cannot be edited; of an existing definition all but one."""
        fixed = ("created_by", "created_at")
        return fixed if obj is None else ("name", "kind", *fixed)

    has_delete_permission = never  # recipients and audiences have values of the attribute

    def save_model(  # type: ignore[override]  # unfold forgets the type of the model
        self, request: HttpRequest, obj: Attribute, form: forms.Form, change: object
    ) -> None:
        """Store the definition with the operator."""
        if not obj.pk:
            obj.created_by = name_of(request)
        super().save_model(request, obj, form, change)
