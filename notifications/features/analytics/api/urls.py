"""The URL path of the figures of a producer."""

from __future__ import annotations

from django.urls import path

from notifications.features.analytics.api import analytics

urlpatterns = [path("v1/analytics", analytics.AnalyticsView.as_view())]
