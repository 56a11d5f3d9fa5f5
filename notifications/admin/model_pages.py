"""Addresses of pages of models that a feature shows.

Without the feature no admin is registered for its models, and the address is empty: a page of the
core then shows no link.
"""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model
from django.urls import reverse


def list_page(model: type[Model]) -> str:
    """Return the address of the list of a model; empty without an admin of the model."""
    if not admin.site.is_registered(model):
        return ""
    return reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")  # noqa: SLF001 - Django's public name


def change_page(row: Model) -> str:
    """Return the address of the page of a row; empty without an admin of its model."""
    if not admin.site.is_registered(type(row)):
        return ""
    name = row._meta.label_lower.replace(".", "_")  # noqa: SLF001 - Django's public name
    return reverse(f"admin:{name}_change", args=[row.pk])
