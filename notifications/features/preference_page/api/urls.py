"""The URL path of the preference page."""

from __future__ import annotations

from django.urls import path

from notifications.features.preference_page.api import page

urlpatterns = [path("preferences/<str:token>", page.page, name="preferences")]
