"""The manifest of brands."""

from notifications.core import feature


class BrandsConfig(feature.Feature):
    """The look of mails and pages, and the sender of e-mails: docs/brands.md."""

    name = "notifications.features.brands"
    urls = "notifications.features.brands.api.urls"
    openapi = "notifications.features.brands.api"
    brands = ("notifications.features.brands.rows.of",)
    menu = (feature.MenuEntry("Texts", "Brands", symbol="palette", model="brand"),)
