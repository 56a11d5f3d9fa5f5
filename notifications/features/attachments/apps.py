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
        "template_files_kept": "notifications.features.attachments.of_templates.keep",
        "template_files_found": "notifications.features.attachments.of_templates.find",
        "template_files_copied": "notifications.features.attachments.of_templates.copy",
        "template_file_stored": "notifications.features.attachments.of_templates.store",
    })
    erasures = ("notifications.features.attachments.rows.erase",)
    deletions = ("notifications.features.attachments.rows.delete_expired",)
