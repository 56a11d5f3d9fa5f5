"""The groups of dead letters above the list: cause, counts by hour, and links to replay a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from notifications.core.admin import addresses
from notifications.core.admin.dead_letter_filters import FILTERS
from notifications.core.rules import reasons
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import dead_letter_causes
from notifications.core.store.postgres.dead_letter_causes import HOURS, Cause
from providers import graphemes

_HEIGHT: Final = 20
"""Height of a spark line in the units of its drawing; a bar takes 4 of width."""
_STEP: Final = 4
_EXAMPLE: Final = 120
"""Longest detail of an example, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HourBar:
    """An hour of a spark line."""

    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """A group with texts and links."""

    cause: Cause
    sentence: str
    detail: str
    bars: Sequence[HourBar]
    summary: str
    """The spark line in words."""
    list_url: str
    replay_url: str
    is_test: bool


def context(request: HttpRequest) -> dict[str, Any]:
    """Return the template context of the groups; empty if the list is filtered or searched."""
    names = {each.parameter_name for each in FILTERS} | {"q", "ids"}
    if any(request.GET.get(name) for name in names):
        return {}
    found = dead_letter_causes.causes()
    return {
        "groups": [_line(request, cause) for cause in found.groups],
        "groups_total": f"{found.letters:,}{'+' if found.is_capped else ''}",
        "may_replay": request.user.has_perm("notifications.replay_deadletter"),
    }


def _line(request: HttpRequest, cause: Cause) -> GroupLine:
    query = urlencode({
        "reason": cause.reason,
        "channel": cause.channel.value,
        "mode": cause.mode.value,
    })
    recent = sum(cause.by_hour)
    return GroupLine(
        cause=cause,
        sentence=reasons.sentence(cause.reason),
        detail=graphemes.cut(addresses.text_for(request, cause.detail), _EXAMPLE),
        bars=_bars(cause.by_hour),
        summary=f"{recent} in the last {HOURS} hours, {cause.by_hour[-1]} in the last hour",
        list_url=f"{reverse('admin:notifications_deadletter_changelist')}?{query}",
        replay_url=f"{reverse('admin:notifications_deadletter_replay')}?{query}",
        is_test=cause.mode is Mode.TEST,
    )


def _bars(counts: Sequence[int]) -> list[HourBar]:
    most = max(*counts, 1)
    heights = [_HEIGHT * count / most for count in counts]
    return [
        HourBar(x=_STEP * place, y=round(_HEIGHT - height, 2), height=round(height, 2))
        for place, height in enumerate(heights)
        if height
    ]
