"""Filters of the list of dead letters.

All filters offer choices; `StateFilter` applies all filters.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from notifications.core import clock
from notifications.core.admin import dead_letter_selection
from notifications.core.admin.base import RECENT, ChoiceFilter
from notifications.core.models import DeadLetter, Producer
from notifications.core.models.choices import CHANNELS, MODES
from notifications.core.store.postgres import dead_letters

Choices = list[tuple[str, str]]


def _ages() -> Choices:
    return [(name, f"One {name}") for name in RECENT]


class _Choice(admin.SimpleListFilter):
    offered: ClassVar[staticmethod[[], Choices]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Return None: `StateFilter` applies all parameters at once."""

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> Choices:  # noqa: ARG002 - Django's signature
        return self.offered()


class StateFilter(ChoiceFilter):
    """Filter for open (default) or resolved dead letters, which cannot be replayed."""

    title = "state"
    parameter_name = "state"
    offered = (("open", "Open"), ("resolved", "Resolved"))
    default = "open"

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[DeadLetter]
    ) -> QuerySet[DeadLetter]:
        """Apply all filters of the list."""
        is_open = self.value() != "resolved"
        try:
            wanted = dead_letter_selection.read(request.GET, now=clock.now())
        except ValueError:
            return queryset.none()
        return dead_letters.narrow(queryset, wanted).filter(resolved_at__isnull=is_open)


class ReasonFilter(_Choice):
    """Filter by the reasons of open dead letters (uses the index `dead_letter_open`)."""

    title = parameter_name = "reason"
    offered = staticmethod(lambda: _values("reason"))


class ProviderFilter(_Choice):
    """Filter by the providers of open dead letters."""

    title = parameter_name = "provider"
    offered = staticmethod(lambda: _values("provider"))


class ChannelFilter(_Choice):
    """Filter by channel."""

    title = parameter_name = "channel"
    offered = staticmethod(lambda: [(str(value), label) for value, label in CHANNELS])


class NewerFilter(_Choice):
    """Filter for dead letters created within a time span."""

    title = "greatest age"
    parameter_name = "within"
    offered = staticmethod(_ages)


class OlderFilter(_Choice):
    """Filter for dead letters created before a time span."""

    title = "least age"
    parameter_name = "before"
    offered = staticmethod(_ages)


class ProducerFilter(_Choice):
    """Filter by producer."""

    title = parameter_name = "producer"
    offered = staticmethod(
        lambda: [(str(producer.pk), producer.name) for producer in Producer.objects.all()]
    )


class ModeFilter(_Choice):
    """Filter by mode."""

    title = parameter_name = "mode"
    offered = staticmethod(lambda: [(str(value), label) for value, label in MODES])


FILTERS = (
    *(StateFilter, ReasonFilter, ChannelFilter, ProviderFilter),
    *(NewerFilter, OlderFilter, ProducerFilter, ModeFilter),
)


def _values(column: str) -> Choices:
    found = DeadLetter.objects.filter(resolved_at=None).exclude(**{column: ""})
    return [
        (value, value) for value in found.order_by(column).values_list(column, flat=True).distinct()
    ]
