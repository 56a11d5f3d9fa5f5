"""The manifest of series."""

from notifications.core import feature


class SeriesConfig(feature.Feature):
    """Several messages to a recipient over days: docs/series.md."""

    name = "notifications.features.series"
    urls = "notifications.features.series.api.urls"
    openapi = "notifications.features.series.api"
    sweeps = (
        feature.FeatureSweep(
            name="series",
            run="notifications.features.series.sweep.run_once",
            seconds=2,
            limit=200,
            stops="Custom events have no effect, and the steps of series wait.",
            work="work_series",
        ),
    )
    deletions = (
        "notifications.features.series.event_rows.forget",
        "notifications.features.series.rows.forget",
    )
    menu = (
        feature.MenuEntry("Send", "Series", symbol="conversion_path", model="series"),
        feature.MenuEntry(
            "Send", "Enrolments", symbol="steps", model="seriesenrolment", is_folded=True
        ),
    )
