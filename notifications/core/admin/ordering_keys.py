"""Ordering keys with the deliveries that wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from unfold.decorators import display

from notifications.core.admin import addresses, base
from notifications.core.models import OrderedDelivery, OrderingKey
from notifications.core.rules import masking


@admin.register(OrderingKey)
class OrderingKeyAdmin(base.OfProducerAdmin):
    """Read-only list of ordering keys with the number of queued deliveries.

    A producer may use an address as a key: an operator without the right to see addresses gets the
    key with masked addresses.
    """

    list_display = ("key", "producer", "mode", "priority", "used_at", "waiting")
    search_fields = ("key__exact",)
    search_help_text = "The whole ordering key."
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderingKey]:
        """Add the lengths of the queues."""
        queue = OrderedDelivery.objects.filter(key=OuterRef("pk")).order_by().values("key")
        queued = Subquery(queue.annotate(queued=Count("pk")).values("queued"))
        rows: QuerySet[OrderingKey] = super().get_queryset(request).annotate(queued=queued)
        return rows

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns, with the masked key for most operators."""
        return self._with_visible_key(request, super().get_list_display(request))

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """Return the fields of the page, with the masked key for most operators."""
        return self._with_visible_key(request, super().get_fields(request, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401 - Django's signature
        """Add the masked key."""
        return (*super().get_readonly_fields(request, obj), "masked_key")

    @display(description="Key")
    def masked_key(self, key: OrderingKey) -> str:
        """Return the key with masked addresses."""
        return masking.mask_text(key.key)

    def _with_visible_key(self, request: HttpRequest, names: Iterable[Any]) -> tuple[str, ...]:
        others = [name for name in names if name not in {"key", "masked_key"}]
        return ("key" if addresses.may_see(request) else "masked_key", *others)

    @display(description="Queued")
    def waiting(self, key: OrderingKey) -> int:
        """Return the number of deliveries in the key's queue."""
        return getattr(key, "queued", 0) or 0
