"""The filter of the list of templates for texts that were written for one bulk job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest

from notifications.core.admin.base import ChoiceFilter
from notifications.core.models import Template
from notifications.core.store.templates.rows import ONE_OFF


class OneOffFilter(ChoiceFilter):
    """Leaves out the texts of single bulk jobs, unless the operator asks for them."""

    title = "texts of bulk jobs"
    parameter_name = "one_off"
    offered = (("only", "only these"), ("with", "with these"))

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield the choices; the first one is the list without a filter."""
        first, *others = super().choices(changelist)
        yield first | {"display": "without these"}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[Template]) -> QuerySet[Template]:  # noqa: ARG002 - Django's signature
        """Return the versions of the choice."""
        if self.value() == "with":
            return queryset
        return queryset.filter(ONE_OFF) if self.value() == "only" else queryset.exclude(ONE_OFF)
