"""The timeline of a message's page: one row for a wait, however often the delivery was claimed.

A delivery behind a paused provider is claimed each few seconds. A row for each claim made the page
of an outage of an hour hundreds of rows long. A wait is a hold or a retry followed by
claims which end in further holds or retries; the row of a wait says how often the provider was
called meanwhile and what the provider answered, and has the events of the wait folded.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from uuid import UUID

from notifications.core.admin import base
from notifications.core.models import Attempt, Event
from notifications.core.rules import reasons
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres.timelines import Timeline

_PROBED: Final = frozenset({
    *(Reason.BREAKER, Reason.ENDPOINT, Reason.PROVIDER_MISCONFIGURED),
})
"""Reasons of holds after which a call is a probe."""
_BACK: Final = frozenset({
    *(Reason.HOLD_OVER, Reason.RETRY_DUE, Reason.RELEASED, Reason.CLAIM_RETURNED),
})
"""Reasons of the status `queued` within a wait. Other reasons, such as a worker's death or a
replay, are shown as rows of their own."""
_FEWEST_CLAIMS: Final = 2
"""Claims of a wait shown as one row."""
_FEWEST_CALLS: Final = 3
"""Calls of a run shown as one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """An event, or a wait of one delivery."""

    event: Event
    """Of a wait the first event, which began the wait."""
    label: tuple[str, str] | None
    """Text and colour of the status; None for an event without a status."""
    sentence: str
    """The reason in words; of a wait all reasons, in the order of their first events."""
    summary: str = ""
    """The calls of a wait in words; empty: the row is one event."""
    folded: Sequence[TimelineRow] = ()
    """The events of a wait."""


@dataclass(frozen=True, slots=True)
class CallRun:
    """Provider calls in a row with the same answer, which the page shows as one line."""

    calls: Sequence[Attempt]
    """At least one."""

    @property
    def first(self) -> Attempt:
        """Return the earliest call."""
        return self.calls[0]

    @property
    def last(self) -> Attempt:
        """Return the latest call."""
        return self.calls[-1]


def rows(timeline: Timeline) -> list[TimelineRow]:
    """Return the rows in the order of their first events."""
    by_delivery: dict[UUID | None, list[Event]] = defaultdict(list)
    for event in timeline.events:
        by_delivery[event.delivery_id].append(event)
    attempts = {each.id: each.attempts for each in timeline.deliveries}
    # A claim has the number of the event beside it, so the numbers give no order.
    places = {id(event): place for place, event in enumerate(timeline.events)}
    found = (
        row
        for delivery_id, events in by_delivery.items()
        for row in _rows_of(events, attempts.get(delivery_id, ()) if delivery_id else ())
    )
    return sorted(found, key=lambda row: places[id(row.event)])


def runs(attempts: Sequence[Attempt]) -> list[CallRun]:
    """Return the calls of a delivery; three and more in a row with the same answer are one run."""
    found = []
    for _, each in groupby(attempts, key=_answer_key):
        together = tuple(each)
        if len(together) >= _FEWEST_CALLS:
            found.append(CallRun(together))
        else:
            found += [CallRun((call,)) for call in together]
    return found


def _answer_key(attempt: Attempt) -> tuple[str, str, int | None, str]:
    return attempt.provider, attempt.outcome, attempt.http_status, attempt.code


def _rows_of(events: Sequence[Event], attempts: Sequence[Attempt]) -> Iterator[TimelineRow]:
    at = 0
    while at < len(events):
        end = _end_of_wait(events, at)
        claims = sum(each.status == Status.SENDING for each in events[at : end + 1])
        if claims >= _FEWEST_CLAIMS:
            yield _wait(events[at : end + 1], attempts)
            at = end + 1
        else:
            yield _row(events[at])
            at += 1


def _end_of_wait(events: Sequence[Event], start: int) -> int:
    """Return the index of the last hold or retry of the wait that begins at `start`."""
    last = start
    if not _is_wait(events[start]):
        return last
    for index, event in enumerate(events[start:], start=start):
        if _is_wait(event):
            last = index
        elif not _is_passage(event):
            break
    return last


def _is_wait(event: Event) -> bool:
    return event.status == Status.RETRYING or (
        event.status == Status.SCHEDULED and event.reason not in base.PLANNED
    )


def _is_passage(event: Event) -> bool:
    """Return True for an event between two holds that says nothing by itself."""
    return (
        event.status == Status.SENDING
        or (event.status == Status.QUEUED and event.reason in _BACK)
        or (event.status is None and event.reason == Reason.FAILED_OVER)
    )


def _row(event: Event) -> TimelineRow:
    return TimelineRow(
        event=event,
        label=base.label_of(Status(event.status), event.reason) if event.status else None,
        sentence=reasons.sentence(event.reason),
    )


def _wait(events: Sequence[Event], attempts: Sequence[Attempt]) -> TimelineRow:
    # The call before the first hold is not one of the wait: its claim has a row of its own.
    calls = [each for each in attempts if events[0].at < each.started_at <= events[-1].at]
    named = dict.fromkeys(reasons.sentence(each.reason) for each in events if _is_wait(each))
    folded = [_row(each) for each in events]
    return TimelineRow(
        event=events[0],
        label=folded[-1].label,
        sentence=" ".join(filter(None, named)),
        summary=_summary(events, calls),
        folded=folded,
    )


def _summary(events: Sequence[Event], calls: Sequence[Attempt]) -> str:
    begin = events[0].at
    if not calls:
        claims = sum(each.status == Status.SENDING for each in events)
        return f"claimed {claims} times without a call, last {_instant(events[-1].at, begin)}"
    is_probed = all(each.reason in _PROBED for each in events if _is_wait(each))
    verb = "probed" if is_probed else "called"
    times = "once" if len(calls) == 1 else f"{len(calls)} times"
    last = f"last {_instant(calls[-1].started_at, begin)}"
    counted = Counter(str(each.http_status or each.code or each.outcome) for each in calls)
    if len(counted) > 1:
        answers = ", ".join(f"{count} x {answer}" for answer, count in counted.most_common())
        return f"{verb} {times}: {answers}; {last}"
    [answer] = counted
    return f"{verb} {times}, {'each ' if len(calls) > 1 else ''}{answer}, {last}"


def _instant(at: dt.datetime, begin: dt.datetime) -> str:
    """Return an instant in UTC, with the date if the wait began on another day."""
    return f"{at:%H:%M:%S} UTC" if at.date() == begin.date() else f"{at:%Y-%m-%d %H:%M:%S} UTC"
