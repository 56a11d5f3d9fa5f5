"""The kinds of the defined attributes, read again each second."""

from __future__ import annotations

from collections.abc import Mapping

from notifications.core.models import Attribute
from notifications.core.rules.attributes import AttributeKind
from notifications.core.store.cached.ttl_cache import Fresh


@Fresh
def kinds() -> Mapping[str, AttributeKind]:
    """Return name -> kind of each defined attribute."""
    rows = Attribute.objects.values_list("name", "kind")
    return {name: AttributeKind(kind) for name, kind in rows}
