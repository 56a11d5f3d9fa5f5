"""The manifest of attachments."""

from types import MappingProxyType

from notifications.core import feature


class AttachmentsConfig(feature.Feature):
    """Files that are sent with e-mails: docs/api-guide.md."""

    name = "notifications.features.attachments"
    urls = "notifications.features.attachments.api.urls"
    openapi = "notifications.features.attachments.api"
    gates = MappingProxyType({
        "attachments_kept": "notifications.features.attachments.rows.keep",
        "attachments_limit": "notifications.features.attachments.limits.most_bytes",
        "attachments_used": "notifications.features.attachments.rows.link",
        "attachment_contents": "notifications.features.attachments.rows.contents",
    })
    erasures = ("notifications.features.attachments.rows.erase",)
    deletions = ("notifications.features.attachments.rows.delete_expired",)
