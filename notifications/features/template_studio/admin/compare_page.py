"""The page that compares two versions of a template."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from notifications.core.admin import base
from notifications.core.models import Template
from notifications.core.rules.templates import diff
from notifications.core.store.templates import versions

_OFFERED_VERSIONS: Final = 100
"""Versions to choose from, newest first."""


def show(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, version: Template
) -> HttpResponse:
    """Show the page; `?with=` is the other version, by default the previous version."""
    rows = Template.objects.filter(template_id=version.template_id).order_by("-version")
    others = list(rows.exclude(pk=version.pk)[:_OFFERED_VERSIONS])
    before = next((each for each in others if each.version < version.version), None)
    named = next((each for each in others if str(each.version) == request.GET.get("with")), None)
    other = named or before or (others[0] if others else None)
    pair = sorted(filter(None, (other, version)), key=lambda each: each.version)
    contents = [versions.content_of(each) for each in pair]
    return base.page(
        model_admin,
        request,
        "template_studio/compare.html",
        title=f"{version}: what changed",
        context={
            "template": version,
            "others": others,
            "other": other,
            "pair": pair,
            "changes": diff.side_by_side(*contents) if other else [],
        },
    )
