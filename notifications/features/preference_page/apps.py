"""The manifest of the preference page."""

from notifications.core import feature


class PreferencePageConfig(feature.Feature):
    """The page with all choices of a recipient: docs/preferences.md."""

    name = "notifications.features.preference_page"
    urls = "notifications.features.preference_page.api.urls"
