"""Examples of all operations, for the OpenAPI document; a test sends every example.

The examples use the recipients, types and templates of the demo (`management.demo_data`). Numbers
and ids stand for values from the service's responses. Each example is data with all its fields,
because a helper for pairs of the same shape would hide the request that a reader copies.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Final

from notifications.core import feature
from notifications.core.api.examples.people import ATTRIBUTES, RECIPIENTS, SUPPRESSIONS
from notifications.core.api.examples.running import OPERATIONS, TEMPLATES
from notifications.core.api.examples.sending import KEYS, NOTIFICATIONS, RECEIPTS
from notifications.core.api.examples.shape import Example, Examples
from notifications.core.api.examples.webhooks import WEBHOOKS

__all__ = ["Example", "of_all_operations"]

_CORE: Final[Examples] = {
    **NOTIFICATIONS,
    **RECIPIENTS,
    **SUPPRESSIONS,
    **ATTRIBUTES,
    **TEMPLATES,
    **RECEIPTS,
    **OPERATIONS,
    **WEBHOOKS,
    **KEYS,
}


@functools.cache
def of_all_operations() -> Examples:
    """Return operationId -> name of the example -> example. The first example is minimal."""
    examples = dict(_CORE)
    for each in feature.all_features():
        if each.openapi:
            examples |= import_module(each.openapi).EXAMPLES
    return examples
