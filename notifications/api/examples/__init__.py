"""Examples of every operation: the OpenAPI document shows them, a test sends each of them.

They are written for the demo's world (`management.demo_data`): its recipients, types and templates.
Numbers and ids stand for those that the reader got from the service.
"""

from __future__ import annotations

from typing import Final

from notifications.api.examples.people import RECIPIENTS, SUPPRESSIONS
from notifications.api.examples.running import OPERATIONS, TEMPLATES
from notifications.api.examples.sending import KEYS, NOTIFICATIONS, RECEIPTS, SCHEDULES
from notifications.api.examples.shape import Example, Examples

__all__ = ["EXAMPLES", "Example"]

EXAMPLES: Final[Examples] = {
    **NOTIFICATIONS,
    **SCHEDULES,
    **RECIPIENTS,
    **SUPPRESSIONS,
    **TEMPLATES,
    **RECEIPTS,
    **OPERATIONS,
    **KEYS,
}
"""operationId -> the example's name -> the example; the first one is minimal."""
