"""Names and pages of the groups of a plot: the stored value of a dimension in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from notifications.core.admin.monitoring.links import subject_page
from notifications.core.models import Producer
from notifications.core.rules.lane import Priority
from notifications.core.rules.rollups import Dimension
from providers.contract import Channel


@dataclass(frozen=True, slots=True)
class GroupNames:
    """Names of producers, read once for a page."""

    producers: Mapping[int, str] = field(
        default_factory=lambda: dict(Producer.objects.values_list("id", "name"))
    )

    def name(self, dimension: Dimension, value: int | str) -> str:
        """Return a stored value in words."""
        match dimension:
            case Dimension.CHANNEL:
                return Channel(int(value)).label
            case Dimension.PRIORITY:
                return Priority(int(value)).name
            case Dimension.PRODUCER if value:
                return self.producers.get(int(value), f"producer {value}")
            case Dimension.VERSION if value:
                return f"v{value}"
            case _:
                return str(value or _WITHOUT.get(dimension, "none"))

    def url(self, dimension: Dimension, value: int | str) -> str:
        """Return the page of a producer, provider, template or type; empty without a page."""
        return subject_page(dimension.value, value) if value and dimension in _PAGES else ""


_WITHOUT: Final = {
    Dimension.PRODUCER: "other producers",
    Dimension.TYPE: "other types",
    Dimension.TEMPLATE: "no template",
    Dimension.VERSION: "no template",
    Dimension.REASON: "no reason",
}
_PAGES: Final = frozenset({
    Dimension.PRODUCER,
    Dimension.PROVIDER,
    Dimension.TEMPLATE,
    Dimension.TYPE,
})
