"""The manifest of audiences."""

from notifications.core import feature


class AudiencesConfig(feature.Feature):
    """Groups of recipients: docs/audiences.md."""

    name = "notifications.features.audiences"
    urls = "notifications.features.audiences.api.urls"
    openapi = "notifications.features.audiences.api"
    sweeps = (
        feature.FeatureSweep(
            name="audiences",
            run="notifications.features.audiences.sweep.run_once",
            seconds=5,
            limit=10_000,
            stops="Snapshots of audiences stay loading; deleted topics and uploads keep their"
            " rows.",
            work="work_audiences",
        ),
    )
    menu = (
        feature.MenuEntry("Send", "Audiences", symbol="group_work", model="audience"),
        feature.MenuEntry("Send", "Topics", symbol="rss_feed", model="topic", is_folded=True),
        feature.MenuEntry(
            "Send", "Recipient lists", symbol="upload_file", model="recipientlist", is_folded=True
        ),
    )
