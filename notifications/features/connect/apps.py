"""The manifest of connect."""

from notifications.core import feature


class ConnectConfig(feature.Feature):
    """Set-up of the accounts at providers: docs/connect.md."""

    name = "notifications.features.connect"
