"""The URL paths of bulk jobs."""

from __future__ import annotations

from django.urls import path

from notifications.features.bulk_jobs.api import bulk_jobs, dry_run

_BULK_JOB = "v1/bulk-jobs/<uuid:bulk_job_id>"

urlpatterns = [
    path("v1/bulk-jobs", bulk_jobs.BulkJobListView.as_view()),
    path("v1/bulk-jobs/dry-run", dry_run.BulkJobDryRunView.as_view()),
    path(_BULK_JOB, bulk_jobs.BulkJobDetailView.as_view()),
    path(f"{_BULK_JOB}/pause", bulk_jobs.BulkJobPauseView.as_view()),
    path(f"{_BULK_JOB}/resume", bulk_jobs.BulkJobResumeView.as_view()),
    path(f"{_BULK_JOB}/cancel", bulk_jobs.BulkJobCancelView.as_view()),
]
