"""Workers: the work of each lane, deliveries behind a hold, live processes, a link to Flower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from notifications.core import clock, conf
from notifications.core.admin import base
from notifications.core.rules import reasons
from notifications.core.rules.lane import Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.times.durations import duration
from notifications.core.store.postgres import backlog, lane_work
from notifications.core.store.postgres.lane_work import Held, LaneWork
from notifications.core.store.redis import live_processes, state
from notifications.core.store.redis.live_processes import LiveProcess

_BEHIND_PROVIDER: Final = frozenset({
    *(Reason.BREAKER, Reason.ENDPOINT, Reason.ENDPOINT_BUSY, Reason.NO_PROVIDER),
    *(Reason.PROVIDER_BUCKET, Reason.PROVIDER_MISCONFIGURED),
})
"""Holds that a provider causes; such a hold of P0 needs an operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLine:
    """A lane with texts."""

    work: LaneWork
    due: str
    behind: str
    in_flight: str
    oldest_call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLine:
    """A live process with its age in words."""

    process: LiveProcess
    age: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLine:
    """A group of waiting deliveries with texts."""

    held: Held
    sentence: str
    count: str
    age: str
    is_urgent: bool
    """A provider holds P0 or P1."""
    is_test: bool


def show(model_admin: Any, request: HttpRequest) -> HttpResponse:  # noqa: ANN401 - the ModelAdmin of another module
    """Show the page.

    Raises:
        PermissionDenied: the operator may not view deliveries.
    """
    if not request.user.has_perm("notifications.view_delivery"):
        raise PermissionDenied
    context = {
        "lanes": [_lane(work) for work in lane_work.of_lanes()],
        "held": [_waiting(each) for each in lane_work.holds_by_reason()],
        "flower": conf.current().flower_url,
        "live": _live_processes(),
        "live_url": conf.current().live_url,
    }
    return base.page(
        model_admin,
        request,
        "admin/workers.html",
        title="Workers",
        context=context,
        is_of_model=False,
    )


def _live_processes() -> list[LiveLine] | None:
    """Return the live processes; None: the state Redis does not answer."""
    try:
        found, now = live_processes.load(), clock.now()
    except state.Away:
        return None
    return [
        LiveLine(process=each, age=duration(max(0.0, (now - each.started_at).total_seconds())))
        for each in found
    ]


def _lane(work: LaneWork) -> LaneLine:
    return LaneLine(
        work=work,
        due=_count_text(work.due, backlog.COUNTED),
        behind=duration(work.behind.total_seconds()) if work.due else "",
        in_flight=_count_text(work.in_flight, lane_work.COUNTED),
        oldest_call=duration(work.oldest_call.total_seconds()) if work.oldest_call else "",
    )


def _waiting(held: Held) -> HeldLine:
    by_provider = held.reason in _BEHIND_PROVIDER
    return HeldLine(
        held=held,
        sentence=reasons.sentence(held.reason),
        count=f"{held.deliveries:,}{'+' if held.is_capped else ''}",
        age=duration(held.age.total_seconds()),
        is_urgent=by_provider and held.lane.priority.is_urgent,
        is_test=held.lane.mode is Mode.TEST,
    )


def _count_text(count: int, most: int) -> str:
    return f"{count:,}{'+' if count >= most else ''}"
