"""`/v1/me`: what the caller's key is, may do, and has left of its limits."""

from __future__ import annotations

import datetime as dt

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api import throttle
from notifications.api.authentication import key_of
from notifications.api.base_view import Door
from notifications.api.schemas import Answer, ModeWord, PriorityWord
from notifications.models import Schedule
from notifications.scheduling.schedule_changes import MAX_SCHEDULES
from notifications.store.rate_limits import producer_limits


class RateAnswer(Answer):
    """The producer's rate limit, over all its keys of this mode."""

    per_second: int
    """Writes a second; a notification is one."""
    burst: int
    """Writes at once after a pause."""
    remaining: int
    """How many are left now."""
    full_in_s: float
    """Seconds until the burst is whole again."""


class SchedulesLimit(Answer):
    """How many schedules the producer may have in this mode."""

    limit: int
    used: int


class MeAnswer(Answer):
    """The key that the request came with."""

    producer: str
    mode: ModeWord
    key_prefix: str
    """The visible part of the key."""
    scopes: list[str]
    expires_at: dt.datetime | None
    """null: the key does not expire."""
    priorities: list[PriorityWord]
    """Those that the producer may use."""
    may_send_content: bool
    """Whether the producer may send raw text instead of a template."""
    rate: RateAnswer
    schedules: SchedulesLimit


class Me(Door):
    """The caller."""

    permission_classes = ()  # any key may ask what it is

    @extend_schema(
        operation_id="get_me",
        summary="Read what this key is, may do, and has left",
        responses={200: MeAnswer},
        tags=["Keys"],
    )
    def get(self, request: Request) -> Response:
        """Needs no scope."""
        key = key_of(request)
        [quota] = producer_limits.take([throttle.charge_of(request, cost=0)])
        mine = Schedule.objects.filter(producer_id=key.producer_id, mode=key.mode)
        told = MeAnswer(
            producer=key.producer_name,
            mode=key.mode,
            key_prefix=key.prefix,
            scopes=sorted(key.scopes),
            expires_at=key.expires_at,
            priorities=sorted(key.priorities),
            may_send_content=key.may_send_content,
            rate=RateAnswer(
                per_second=key.rate_per_second,
                burst=key.rate_burst,
                remaining=quota.remaining,
                full_in_s=quota.full_in.total_seconds(),
            ),
            schedules=SchedulesLimit(limit=MAX_SCHEDULES, used=mine.count()),
        )
        return Response(told.wire())
