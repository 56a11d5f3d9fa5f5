"""The manifest of cancel jobs."""

from notifications.core import feature


class CancelJobsConfig(feature.Feature):
    """Cancellation of many notifications by a filter: docs/api-guide.md."""

    name = "notifications.features.cancel_jobs"
    urls = "notifications.features.cancel_jobs.api.urls"
    openapi = "notifications.features.cancel_jobs.api"
    sweeps = (
        feature.FeatureSweep(
            name="cancel_jobs",
            run="notifications.features.cancel_jobs.sweep.run_once",
            seconds=2,
            limit=20,
            stops="Cancel jobs stop.",
            work="work_cancel_jobs",
        ),
    )
    menu = (
        feature.MenuEntry(
            "Repair", "Cancel jobs", symbol="cancel", model="canceljob", is_folded=True
        ),
    )
