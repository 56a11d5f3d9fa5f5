"""Members of an audience in the order of their recipient ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Max, Min, QuerySet

from notifications.models import Recipient
from notifications.rules.lane import Mode


class Member(NamedTuple):
    """A recipient of an audience."""

    recipient_id: int
    variables: Mapping[str, Any] | None = None
    """Columns of an upload."""


def page(
    audience: Mapping[str, Any],
    *,
    mode: Mode,
    after: int,
    until: int,
    limit: int,
    zones: Sequence[str] | None = None,
) -> list[Member]:
    """Return members with an id above `after`, up to `until`, ascending, at most `limit`."""
    found = _recipients(audience, mode).filter(id__gt=after, id__lte=until)
    if zones is not None:
        found = found.filter(timezone__in=zones)
    return [Member(each) for each in found.order_by("id").values_list("id", flat=True)[:limit]]


def bounds(audience: Mapping[str, Any], *, mode: Mode) -> tuple[int, int]:
    """Return the lowest and the highest recipient id of an audience; (0, 0) without members."""
    found = _recipients(audience, mode).aggregate(first=Min("id"), last=Max("id"))
    return found["first"] or 0, found["last"] or 0


def _recipients(audience: Mapping[str, Any], mode: Mode) -> QuerySet[Recipient]:
    found = Recipient.objects.filter(mode=mode)
    if "user_ids" in audience:
        return found.filter(user_id__in=audience["user_ids"])
    return found
