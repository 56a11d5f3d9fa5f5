"""The URL path of the preference page."""

from __future__ import annotations

from django.urls import path

from notifications.core.rules import access
from notifications.core.rules.access import AccessRule, Entry
from notifications.features.preference_page.api import page

access.add(
    AccessRule(f"{method} /preferences/{{token}}", Entry.SIGNED) for method in ("GET", "POST")
)
urlpatterns = [path("preferences/<str:token>", page.page, name="preferences")]
