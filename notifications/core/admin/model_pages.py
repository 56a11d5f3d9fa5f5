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
    return _page(model, "changelist")


def add_page(model: type[Model]) -> str:
    """Return the address of the form that adds a row; empty without an admin of the model."""
    return _page(model, "add")


def change_page(row: Model) -> str:
    """Return the address of the page of a row; empty without an admin of its model."""
    return _page(type(row), "change", row.pk)


def _page(model: type[Model], name: str, *arguments: object) -> str:
    if not admin.site.is_registered(model):
        return ""
    options = model._meta  # noqa: SLF001 - Django's public name
    return reverse(f"admin:{options.app_label}_{options.model_name}_{name}", args=arguments)
