"""The manifest of the template studio."""

from notifications.core import feature


class TemplateStudioConfig(feature.Feature):
    """Pages of the admin on which people edit templates: docs/templates.md."""

    name = "notifications.features.template_studio"
    menu = (
        feature.MenuEntry("Texts", "Templates", symbol="description", model="template"),
        feature.MenuEntry(
            "Texts", "Template history", symbol="history", model="templateevent", is_folded=True
        ),
    )
