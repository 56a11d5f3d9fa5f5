"""The URL paths of cancel jobs."""

from __future__ import annotations

from django.urls import path

from notifications.features.cancel_jobs.api import cancel_jobs

urlpatterns = [
    path("v1/notifications/cancel", cancel_jobs.NotificationCancelListView.as_view()),
    path("v1/cancel-jobs", cancel_jobs.CancelJobListView.as_view()),
    path("v1/cancel-jobs/<int:job_id>", cancel_jobs.CancelJobDetailView.as_view()),
    path("v1/cancel-jobs/<int:job_id>/stop", cancel_jobs.CancelJobStopView.as_view()),
]
