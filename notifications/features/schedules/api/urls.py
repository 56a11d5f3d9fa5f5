"""The URL paths of schedules."""

from __future__ import annotations

from django.urls import path

from notifications.features.schedules.api import schedules

urlpatterns = [
    path("v1/schedules", schedules.ScheduleListView.as_view()),
    path("v1/schedules/<int:schedule_id>", schedules.ScheduleDetailView.as_view()),
]
