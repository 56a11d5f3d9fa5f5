"""The names with a typed text, for the boxes of the composer and of the audience builder.

A page has the first names of a kind. A box of more names asks for those with the typed text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse
from django.urls import reverse

from notifications.core.admin import names
from notifications.core.admin.names import Names
from notifications.core.models import Audience, Topic
from notifications.core.rules.lane import Mode

_LONGEST: Final = 255
"""Characters of a typed text that are read."""


def address(kind: str, mode: Mode) -> str:
    """Return the URL that answers with the names of a kind."""
    page = reverse("admin:notifications_audience_names")
    return f"{page}?kind={kind}&mode={mode.value}"


def answer(request: HttpRequest) -> JsonResponse:
    """Return name and label of the first names with the text: `?kind=topics&mode=1&part=new`.

    Raises:
        BadRequest: the kind or the mode is unknown.
    """
    search = _SEARCHES.get(request.GET.get("kind", ""))
    if search is None:
        raise BadRequest(f"kind must be one of {', '.join(_SEARCHES)}.")
    mode = next((each for each in Mode if str(each.value) == request.GET.get("mode")), None)
    if mode is None:
        raise BadRequest("mode must be 1 (live) or 2 (test).")
    part = request.GET.get("part", "").replace("\0", "")[:_LONGEST]
    return JsonResponse({"names": search(mode, part).options})


def topics(mode: Mode, part: str = "") -> Names:
    """Return the topics of a mode with a text in the name."""
    rows = Topic.objects.filter(mode=mode, deleted_at=None, name__icontains=part)
    return names.plain(rows.order_by("name").values_list("name", flat=True)[: names.MOST + 1])


def audiences(mode: Mode, part: str = "") -> Names:
    """Return the saved audiences of a mode with a text in the name."""
    rows = Audience.objects.filter(mode=mode, name__icontains=part)
    return names.plain(rows.order_by("name").values_list("name", flat=True)[: names.MOST + 1])


_SEARCHES: Final[Mapping[str, Callable[[Mode, str], Names]]] = {
    "topics": topics,
    "audiences": audiences,
    "types": lambda _, part: names.types(part),
    "templates": lambda _, part: names.templates(part, is_published=True),
}
