"""The filters of the list of dead letters. Each offers choices; `StateFilter` applies them all."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from notifications.admin import dead_letter_selection
from notifications.admin.base import RECENT
from notifications.models import DeadLetter, Producer
from notifications.models.choices import CHANNELS, MODES
from notifications.store.postgres import dead_letters

Choices = list[tuple[str, str]]


class _Choice(admin.SimpleListFilter):
    offered: ClassVar[staticmethod[[], Choices]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Leaves the rows alone: `StateFilter` reads every parameter at once."""

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> Choices:  # noqa: ARG002 - Django's signature
        return self.offered()


class StateFilter(_Choice):
    """Open ones, which is the list that matters, or those that somebody has dealt with."""

    title = "state"
    parameter_name = "state"
    offered = staticmethod(lambda: [("open", "Open"), ("resolved", "Resolved")])

    def choices(self, changelist: Any) -> Any:  # noqa: ANN401 - Django's types
        """Without `All`: a resolved letter among open ones would be replayed in vain."""
        for value, label in self.lookup_choices:
            yield {
                "selected": (self.value() or "open") == value,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": label,
            }

    def queryset(  # type: ignore[override]  # this one does narrow
        self, request: HttpRequest, queryset: QuerySet[DeadLetter]
    ) -> QuerySet[DeadLetter]:
        """Apply this and every other filter of the list."""
        is_open = self.value() != "resolved"
        try:
            wanted = dead_letter_selection.read(request.GET)
        except ValueError:
            return queryset.none()
        return dead_letters.narrow(queryset, wanted).filter(resolved_at__isnull=is_open)


class ReasonFilter(_Choice):
    """Reasons that open letters have (by `dead_letter_open`)."""

    title = parameter_name = "reason"
    offered = staticmethod(lambda: _values("reason"))


class ProviderFilter(_Choice):
    """Providers that open letters name."""

    title = parameter_name = "provider"
    offered = staticmethod(lambda: _values("provider"))


class ChannelFilter(_Choice):
    """Every channel."""

    title = parameter_name = "channel"
    offered = staticmethod(lambda: [(str(value), label) for value, label in CHANNELS])


class NewerFilter(_Choice):
    """Died within this span."""

    title = "newer than"
    parameter_name = "within"
    offered = staticmethod(lambda: [(name, f"A {name}") for name in RECENT])


class OlderFilter(_Choice):
    """Died before this span."""

    title = "older than"
    parameter_name = "before"
    offered = staticmethod(lambda: [(name, f"A {name}") for name in RECENT])


class ProducerFilter(_Choice):
    """Whose letters."""

    title = parameter_name = "producer"
    offered = staticmethod(
        lambda: [(str(producer.pk), producer.name) for producer in Producer.objects.all()]
    )


class ModeFilter(_Choice):
    """Live or test."""

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
