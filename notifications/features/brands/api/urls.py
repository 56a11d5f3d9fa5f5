"""The URL path of the brand."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.brands.api import brand

urlpatterns = operation.routes(brand)
