"""The manifest of bulk jobs."""

from types import MappingProxyType

from notifications.core import feature
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import EXPAND


class BulkJobsConfig(feature.Feature):
    """One message to an audience: docs/bulk-jobs.md."""

    name = "notifications.features.bulk_jobs"
    needs = ("audiences", "cancel_jobs")
    urls = "notifications.features.bulk_jobs.api.urls"
    openapi = "notifications.features.bulk_jobs.api"
    sweeps = (
        feature.FeatureSweep(
            name="bulk_jobs",
            run="notifications.features.bulk_jobs.sweep.run_once",
            seconds=5,
            limit=1_000,
            stops="Abort limits of bulk jobs have no effect; test groups and samples do not end;"
            " rates are missing.",
            work="work_bulk_jobs",
        ),
        feature.FeatureSweep(
            name="expand",
            run="notifications.features.bulk_jobs.expand_sweep.run_once",
            seconds=1,
            limit=5_000,
            stops="Bulk jobs create no further messages.",
            queue=EXPAND,
            work="work_expand",
        ),
    )
    deletions = (
        "notifications.features.bulk_jobs.rows.forget_addresses",
        "notifications.features.bulk_jobs.progress.forget",
    )
    menu = (feature.MenuEntry("Send", "Bulk jobs", symbol="campaign", model="bulkjob"),)
    alert_pages = ((AlertKind.BULK_JOB_ABORTED, "/admin/notifications/bulkjob/{subject}/change/"),)
    releases = MappingProxyType({"bulk_job": "notifications.features.bulk_jobs.held.release"})
