"""The URL path of imports of recipients."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.moving.api import imports

urlpatterns = operation.routes(imports)
