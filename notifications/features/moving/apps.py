"""The manifest of moving."""

from notifications.core import feature


class MovingConfig(feature.Feature):
    """Imports from files of other systems: docs/moving.md."""

    name = "notifications.features.moving"
    needs = ("audiences",)
    urls = "notifications.features.moving.api.urls"
    openapi = "notifications.features.moving.api"
    admin_urls = "notifications.features.moving.admin.urls"
    menu = (
        feature.MenuEntry(
            "Send",
            "Import recipients",
            symbol="upload_file",
            model="recipient",
            page="admin:moving_recipients",
            right="change_recipient",
            is_folded=True,
        ),
    )
