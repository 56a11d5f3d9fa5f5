"""The manifest of the preference page."""

from notifications.core import feature
from notifications.core.rules import access
from notifications.core.rules.access import AccessRule, Entry


class PreferencePageConfig(feature.Feature):
    """The page with all choices of a recipient: docs/preferences.md."""

    name = "notifications.features.preference_page"
    urls = "notifications.features.preference_page.api.urls"

    def ready(self) -> None:
        """Add the rules of the page in each process, because workers write links to the page."""
        super().ready()
        access.add(
            AccessRule(f"{method} /preferences/{{token}}", Entry.SIGNED)
            for method in ("GET", "POST")
        )
