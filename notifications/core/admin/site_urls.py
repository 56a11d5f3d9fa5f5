"""Addresses of admin pages without a model."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern

from notifications.core import feature
from notifications.core.admin import second_factor
from notifications.core.admin.monitoring import views


def _urls() -> list[URLPattern]:
    wrap = admin.site.admin_view
    features = (found for each in feature.all_features() for found in each.admin_url_patterns())
    return [*second_factor.urls(wrap), *views.urls(wrap), *features]


admin.site.extra_urls = _urls  # type: ignore[attr-defined]  # unfold's site asks for it
