"""The admin pages of brands."""

from notifications.features.brands.admin import brands as brands
