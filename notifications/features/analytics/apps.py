"""The manifest of analytics."""

from notifications.core import feature


class AnalyticsConfig(feature.Feature):
    """Figures for producers and owners of products: docs/analytics.md."""

    name = "notifications.features.analytics"
    urls = "notifications.features.analytics.api.urls"
    admin_urls = "notifications.features.analytics.admin.urls"
    sweeps = (
        feature.FeatureSweep(
            name="daily_reports",
            run="notifications.features.analytics.sweep.run_once",
            seconds=600,
            limit=500,
            stops="Operators get no daily report by e-mail.",
        ),
    )
    menu = (
        feature.MenuEntry(
            "Watch",
            "Insights",
            symbol="insights",
            model="delivery",
            page="admin:monitoring_insights",
        ),
    )
