"""Examples of all operations, for the OpenAPI document; a test sends every example.

The examples use the recipients, types and templates of the demo (`management.demo_data`). Numbers
and ids stand for values from the service's responses. Each example is data with all its fields,
because a helper for pairs of the same shape would hide the request that a reader copies.
"""

from __future__ import annotations

from typing import Final

from notifications.api.examples.audiences import ATTRIBUTES, AUDIENCES, TOPICS
from notifications.api.examples.campaigns import BULK_JOBS
from notifications.api.examples.inbox import INBOX
from notifications.api.examples.people import RECIPIENTS, SUPPRESSIONS
from notifications.api.examples.running import OPERATIONS, TEMPLATES
from notifications.api.examples.sending import KEYS, NOTIFICATIONS, RECEIPTS, SCHEDULES
from notifications.api.examples.series import SERIES_EXAMPLES
from notifications.api.examples.shape import Example, Examples
from notifications.api.examples.webhooks import WEBHOOKS

__all__ = ["EXAMPLES", "Example"]

EXAMPLES: Final[Examples] = {
    **NOTIFICATIONS,
    **SCHEDULES,
    **BULK_JOBS,
    **SERIES_EXAMPLES,
    **RECIPIENTS,
    **SUPPRESSIONS,
    **ATTRIBUTES,
    **TOPICS,
    **AUDIENCES,
    **INBOX,
    **TEMPLATES,
    **RECEIPTS,
    **OPERATIONS,
    **WEBHOOKS,
    **KEYS,
}
"""operationId -> name of the example -> example. The first example is minimal."""
