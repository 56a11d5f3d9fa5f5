"""`/v1/me`: properties, permissions and remaining limits of the caller's key."""

from __future__ import annotations

import datetime as dt

from notifications.core.api import throttle
from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.schemas import ModeWord, PriorityWord, ResponseModel
from notifications.core.models import Schedule
from notifications.core.rules.access import Entry
from notifications.core.rules.lane import Mode
from notifications.core.rules.schedule_limits import MAX_SCHEDULES
from notifications.core.store.cached import sms_countries
from notifications.core.store.rate_limits import producer_limits


class RateAnswer(ResponseModel):
    """The producer's rate limit, shared by all keys of the mode."""

    per_second: int
    """Writes per second. A notification is a write."""
    burst: int
    """Maximum writes at once after a pause."""
    remaining: int
    """Writes left now."""
    full_in_s: float
    """Seconds until the full burst is available again."""


class SchedulesLimit(ResponseModel):
    """The producer's limit of schedules in this mode."""

    limit: int
    used: int


class MeAnswer(ResponseModel):
    """The key of the request."""

    producer: str
    mode: ModeWord
    key_prefix: str
    """The visible part of the key."""
    scopes: list[str]
    expires_at: dt.datetime | None
    """null: the key does not expire."""
    priorities: list[PriorityWord]
    """Priorities which the producer may use."""
    may_send_content: bool
    """True if the producer may send raw content instead of a template."""
    sms_countries: list[str]
    """Countries to which the producer may send SMS, such as DE. Empty: every country."""
    rate: RateAnswer
    schedules: SchedulesLimit


@operation(
    "GET v1/me",
    "Read the key's properties, permissions and limits",
    Access(Entry.KEY),
    answers={200: MeAnswer},
    tag="Keys",
    examples={
        "minimal": Example("With a live key"),
        "test": Example("With a test key", mode=Mode.TEST),
    },
)
def get_me(call: Call) -> MeAnswer:
    """Return the properties, permissions and remaining limits of the key.

    The call works with a key of any scope.
    """
    key = call.key
    [quota] = producer_limits.take([throttle.charge_of(call.request, cost=0)])
    mine = Schedule.objects.filter(producer_id=key.producer_id, mode=key.mode)
    return MeAnswer(
        producer=key.producer_name,
        mode=key.mode,
        key_prefix=key.prefix,
        scopes=sorted(key.scopes),
        expires_at=key.expires_at,
        priorities=sorted(key.priorities),
        may_send_content=key.may_send_content,
        sms_countries=sorted(sms_countries.by_producer().get(key.producer_id, ())),
        rate=RateAnswer(
            per_second=key.rate_per_second,
            burst=key.rate_burst,
            remaining=quota.remaining,
            full_in_s=quota.full_in.total_seconds(),
        ),
        schedules=SchedulesLimit(limit=MAX_SCHEDULES, used=mine.count()),
    )
