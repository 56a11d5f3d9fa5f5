"""Expand: store one page of a range with the new checkpoint, in one transaction.

    lock the range -> members above the cursor -> messages -> addresses -> COPY -> cursor, counters

The range is locked with SKIP LOCKED, so several expanders take different ranges. The last statement
moves the cursor only from the read value, and only while the job is running:

    UPDATE bulk_job_range SET cursor = new ... WHERE id = .. AND cursor = old

Zero changed rows undo the whole page. A kill at any point therefore leaves either all rows of a
page with the checkpoint, or no change. The same holds for the addresses taken by the page, so an
address has one message of the job: the first recipient of a page gets the message, and the first of
two pages takes the address.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import orjson
import structlog
from django.db import Error, IntegrityError, InterfaceError, OperationalError, transaction
from psycopg.errors import CheckViolation

from notifications.core import clock, conf
from notifications.core.models import BulkJob, BulkJobRange
from notifications.core.rules.bulk_job import BulkJobState, UniqueBy
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.store.postgres import db, fair_queue, partitions
from notifications.core.store.postgres.fair_queue import Ask
from notifications.features.audiences.rows import members
from notifications.features.audiences.rows.members import Member
from notifications.features.audiences.rules import parse
from notifications.features.bulk_jobs import pace, page, rows
from notifications.features.bulk_jobs.page import Planned, PlannedPage
from notifications.features.bulk_jobs.rows import NewMessage
from notifications.features.bulk_jobs.rules import variants
from notifications.features.bulk_jobs.rules.left_out import LeftOut

_log = structlog.get_logger(__name__)

PAGE: Final = 5_000
"""Most recipients that a transaction examines."""
_OLDEST: Final = dt.timedelta(seconds=30)
"""Most time from the start of a page to the lock of the range: a page that is stored much later
would have messages whose time to live is over."""
_CLOCKS_APART: Final = dt.timedelta(hours=1)
"""Most difference between the clocks of two expanders."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """The result of a page."""

    read: int = 0
    """Recipients of the page, also those outside the sample."""
    accepted: int = 0
    is_range_done: bool = False
    """True if no recipient of the range is left."""


_NOTHING: Final = Expanded()


class _Overtaken(Exception):
    """The checkpoint was moved, or the job was paused or cancelled, while the page was built."""


class _Refused(Exception):
    """Postgres refused rows of the recipients: build the page again without the recipients.

    Otherwise the page would keep the addresses of the refused rows, and another recipient at the
    address would get no message.
    """

    def __init__(self, recipients: frozenset[int]) -> None:
        super().__init__(len(recipients))
        self.recipients = recipients


def expand_page(range_id: int, *, limit: int = PAGE) -> Expanded:
    """Expand the next recipients of a range, as many as the pace of the job allows.

    Safe to run twice, concurrently and after a kill at any point, as the module says. Nothing
    happens if another expander has the range, the job is not running, or the pace allows no row.

    Raises:
        OperationalError: the database is away.
        page.TemplateGone: a pinned template version does not exist.
    """
    tries, now, refused = 0, clock.now(), frozenset[int]()
    job = BulkJob.objects.filter(ranges=range_id, state=BulkJobState.RUNNING).first()
    if job is None:
        return _NOTHING
    pace.prepare(job, now)

    def work() -> Expanded:
        nonlocal tries
        tries += 1
        with transaction.atomic():
            return _expand(range_id, limit=limit, now=now, is_first_try=tries == 1, refused=refused)

    while True:
        try:
            return partitions.with_day(now.date(), work)
        except _Overtaken:
            return _NOTHING
        except _Refused as found:
            refused |= found.recipients


def _expand(
    range_id: int,
    *,
    limit: int,
    now: dt.datetime,
    is_first_try: bool,
    refused: Collection[int],
) -> Expanded:
    part = _lock(range_id)
    if part is None or clock.now() - now > _OLDEST:
        return _NOTHING
    job = part.job
    room = min(limit, pace.allowance(job, part, now))
    if room <= 0:
        return _NOTHING
    read = members.page(
        parse.parse(job.audience),
        mode=Mode(job.mode),
        after=part.cursor,
        until=part.until,
        limit=room,
        zones=part.zones,
    )
    found = _of_part(job, part, read)
    planned = _plan(job, found, refused)
    examined = len(found)
    if job.send_at_local and part.zones is None:
        examined = len(planned.messages)  # the ranges of the timezones have counted the others
        planned.left_out.clear()
    store = _Store(job, now, examined, lets_through_missing_day=is_first_try)
    store.insert(planned.messages)
    accepted = len(planned.messages)
    is_done = len(read) < room
    cursor = part.until if is_done else read[-1].recipient_id
    _advance(part, cursor, planned.left_out, examined=examined, accepted=accepted, is_done=is_done)
    return Expanded(len(read), accepted, is_done)


def _lock(range_id: int) -> BulkJobRange | None:
    """Lock an unfinished range of a running job; None for a locked range."""
    free = BulkJobRange.objects.select_for_update(skip_locked=True, of=("self",))
    running = free.filter(id=range_id, finished_at=None, job__state=BulkJobState.RUNNING)
    return running.select_related("job").first()


def _plan(job: BulkJob, found: Sequence[Member], refused: Collection[int]) -> PlannedPage:
    """Build the messages of members without refused rows, and take the addresses."""
    members_ = [each for each in found if each.recipient_id not in refused]
    planned = page.build(job, members_)
    if len(members_) < len(found):
        planned.left_out[LeftOut.FAILED.value] += len(found) - len(members_)
    if job.unique_by == UniqueBy.ADDRESS:
        planned.leave_out(rows.take_addresses(job.pk, planned.contact_ids))
    return planned


def _of_part(job: BulkJob, part: BulkJobRange, read: Sequence[Member]) -> Sequence[Member]:
    """Return the members in the sample or outside, for a range of either.

    A job on the wall clocks of the recipients leaves out members with a message of the job: such a
    member was in the range of another timezone, and has moved.
    """
    found = read
    if part.sample is not None:
        found = [
            each for each in read if variants.is_in_sample(job, each.recipient_id) == part.sample
        ]
    if not job.send_at_local:
        return found
    since = (job.started_at or job.created_at) - _CLOCKS_APART
    done = rows.with_message(job.pk, [each.recipient_id for each in found], since=since)
    return [each for each in found if each.recipient_id not in done]


def _advance(
    part: BulkJobRange,
    cursor: int,
    left_out: Counter[str],
    *,
    examined: int,
    accepted: int,
    is_done: bool,
) -> None:
    """Move the checkpoint and add the counters.

    Raises:
        _Overtaken: the checkpoint is not as read, or the job does not run any more.
    """
    totals = Counter(part.left_out) + left_out
    parameters = {
        "range": part.pk,
        "old": part.cursor,
        "new": cursor,
        "examined": examined,
        "accepted": accepted,
        "left_out": orjson.dumps(totals).decode(),
        "is_done": is_done,
        "running": BulkJobState.RUNNING.value,
    }
    if not db.run("bulk_range_advance", parameters):
        raise _Overtaken


@dataclass(slots=True)
class _Store:
    """Stores the messages of a page."""

    job: BulkJob
    now: dt.datetime
    examined: int
    """Recipients of the page, with and without a message."""
    lets_through_missing_day: bool

    def insert(self, planned: Sequence[Planned]) -> None:
        """Store messages in one statement.

        Raises:
            _Refused: Postgres refused rows.
            IntegrityError: the day has no partition.
            OperationalError: the database is away.
        """
        messages = self._messages(planned)
        if messages and (refused := self._insert(messages)):
            raise _Refused(refused)

    def _insert(self, messages: Sequence[NewMessage]) -> frozenset[int]:
        """Store messages, in halves after an error; returns the recipients with refused rows.

        Raises:
            Error: the day has no partition.
            OperationalError: the database is away.
            InterfaceError: as OperationalError.
        """
        try:
            with transaction.atomic():
                rows.insert(messages, now=self.now)
        except (OperationalError, InterfaceError):
            raise
        except Error as error:
            is_missing_day = isinstance(error, IntegrityError) and isinstance(
                error.__cause__, CheckViolation
            )
            if is_missing_day and self.lets_through_missing_day:
                raise
            if len(messages) == 1:
                [message] = messages
                _log.exception(
                    "recipient_left_out", job=str(self.job.pk), recipient=message.recipient_id
                )
                return frozenset({message.recipient_id})
        else:
            return frozenset()
        half = len(messages) // 2
        return self._insert(messages[:half]) | self._insert(messages[half:])

    def _messages(self, planned: Sequence[Planned]) -> list[NewMessage]:
        job, now = self.job, self.now
        due_times = pace.due_times(job, len(planned), now, examined=self.examined)
        places = self._places(planned, due_times)
        ttl = conf.current().times_to_live[Priority(job.priority)]
        new_ids = clock.new_notification_ids(len(planned), at=now)
        return [
            NewMessage(
                id=notification_id,
                shared=each.shared,
                recipient_id=each.reach.recipient_id,
                user_id=each.reach.user_id,
                variables=each.variables,
                secrets=each.secrets,
                contacts=each.contacts,
                due_at=max(due_at, now),
                places=place,
                expires_at=page.expiry(job, max(due_at, now), default=ttl),
            )
            for notification_id, each, due_at, place in zip(
                new_ids, planned, due_times, places, strict=True
            )
        ]

    def _places(
        self, planned: Sequence[Planned], due_times: Sequence[dt.datetime]
    ) -> list[list[dt.datetime]]:
        """Return the due times of deliveries: the time of the job, or a place in the fair queue.

        A future time is kept. A delivery that is due now gets a place behind the earlier rows of
        the producer, so a job does not delay the rows of other producers.
        """
        job, now = self.job, self.now
        asks = [
            Ask(Lane.of(job.mode, job.priority, channel), job.producer_id)
            for each, due_at in zip(planned, due_times, strict=True)
            if due_at <= now
            for channel, _ in each.contacts
        ]
        free = iter(fair_queue.places(asks, now=now))
        return [
            [next(free) if due_at <= now else due_at for _ in each.contacts]
            for each, due_at in zip(planned, due_times, strict=True)
        ]
