"""The manifest of the inbox."""

from notifications.core import feature


class InboxConfig(feature.Feature):
    """In-app messages of each recipient: docs/inbox.md."""

    name = "notifications.features.inbox"
    urls = "notifications.features.inbox.api.urls"
    openapi = "notifications.features.inbox.api"
    sweeps = (
        feature.FeatureSweep(
            name="inbox_reports",
            run="notifications.features.inbox.reports_sweep.run_once",
            seconds=1,
            limit=2_000,
            stops="Seen and read in-app messages stay sent, and fallback chains go on.",
            work="work_inbox_reports",
        ),
        feature.FeatureSweep(
            name="inbox",
            run="notifications.features.inbox.sweep.run_once",
            seconds=2,
            limit=200,
            stops="Open clients do not see that a snooze has ended or that a message has expired.",
            work="work_inbox",
        ),
        feature.FeatureSweep(
            name="inbox_retention",
            run="notifications.features.inbox.sweep.purge",
            seconds=600,
            limit=500,
            stops="Messages stay in inboxes after the retention of the inbox.",
        ),
    )
    providers = ("notifications.features.inbox.provider.InboxProvider",)
    opened = ("notifications.features.inbox.opened.mark_read",)
    inbox_erasures = ("notifications.features.inbox.rows.writes.erase",)
    recipient_cards = ("notifications.features.inbox.admin.parts.card",)
    delivery_notes = ("notifications.features.inbox.admin.parts.note",)
