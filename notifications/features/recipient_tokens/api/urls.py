"""The URL paths of recipient tokens."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.recipient_tokens.api import client_tokens

urlpatterns = operation.routes(client_tokens)
