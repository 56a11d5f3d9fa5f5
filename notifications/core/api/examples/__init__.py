"""Examples of the operations without a declaration, for the OpenAPI document; tests send them.

The examples use the recipients, types and templates of the demo (`management.demo_data`). Numbers
and ids stand for values from the service's responses. Each example is data with all its fields,
because a helper for pairs of the same shape would hide the request that a reader copies.
"""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.sending import NOTIFICATIONS
from notifications.core.api.examples.shape import Example, Examples

__all__ = ["CORE", "Example", "Examples"]

CORE: Final[Examples] = NOTIFICATIONS
