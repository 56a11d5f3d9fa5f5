"""The URL paths of attachments."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.attachments.api import attachments

urlpatterns = operation.routes(attachments)
