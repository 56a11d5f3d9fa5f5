"""`/v1/dead-letters` and `/v1/replay-jobs`: list, replay and discard failed deliveries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Self
from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field, model_validator

from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call
from notifications.core.api.pagination import AnyOf, NumberedPageQuery, SmallId
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import (
    ChannelWord,
    ModeWord,
    PriorityWord,
    RequestModel,
    ResponseModel,
)
from notifications.core.models import DeadLetter, ReplayJob
from notifications.core.operations import replay
from notifications.core.rules import ids, request_faults
from notifications.core.rules.access import BOTH
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import Instant, Text
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import dead_letters

_READERS: Final = Access(Scope.OPERATIONS_READ, BOTH, "view_deadletter")
_REPLAYERS: Final = Access(Scope.OPERATIONS_WRITE, BOTH, "replay_deadletter")
_READERS_OF_JOBS: Final = Access(Scope.OPERATIONS_READ, BOTH, "view_replayjob")

Reason = Annotated[Text, Field(min_length=1, max_length=64)]
ProviderName = Annotated[Text, Field(min_length=1, max_length=32)]


class DeadLetterQuery(NumberedPageQuery):
    """Filters of the list of dead letters. The default is the open dead letters."""

    reason: AnyOf[Reason] = Field(default_factory=list)
    """Dead letters with any of these reasons."""
    channel: AnyOf[ChannelWord] = Field(default_factory=list)
    """Dead letters of any of these channels."""
    provider: AnyOf[ProviderName] = Field(default_factory=list)
    """Dead letters of any of these providers."""
    since: Instant | None = None
    """Dead letters created at or after this instant."""
    until: Instant | None = None
    """Dead letters created before this instant."""
    resolved: bool = False
    """`true` lists replayed and discarded dead letters instead of open ones."""


class ReplayRequest(RequestModel):
    """The dead letters to replay: `ids`, or all open dead letters which match the filters."""

    ids: Annotated[list[SmallId], Field(min_length=1, max_length=10_000)] | None = None
    reason: Reason | None = None
    channel: AskedChannel | None = None
    provider: ProviderName | None = None
    since: Instant | None = None
    until: Instant | None = None
    force: bool = False
    """Also replay dead letters whose notification reached the person by another delivery."""
    renew_ttl: bool = False
    """Start the time to live again. Not applied to P0."""

    @model_validator(mode="after")
    def _check_that_it_narrows(self) -> Self:
        if not self.model_dump(exclude={"force", "renew_ttl"}, exclude_none=True):
            said = "give ids, or at least one of reason, channel, provider, since and until"
            raise request_faults.error_at(said, "ids")
        return self


class DeadLetterAnswer(ResponseModel):
    """A delivery which failed for good."""

    id: int
    delivery_id: UUID
    notification_id: UUID
    producer_id: int
    mode: ModeWord
    priority: PriorityWord
    channel: ChannelWord
    provider: str
    reason: str
    detail: str
    address_hash: str
    """Keyed hash of the address, as in logs; empty after erasure of the contact."""
    created_at: dt.datetime
    resolved_at: dt.datetime | None
    resolution: str


class ReplayJobAnswer(ResponseModel):
    """The progress of a replay job."""

    id: int
    created_at: dt.datetime
    requested_by: str
    forced: bool
    renews_ttl: bool
    total: int
    replayed: int
    skipped: int
    finished_at: dt.datetime | None


def _to_answers(letters: Sequence[DeadLetter]) -> Iterable[DeadLetterAnswer]:
    hashes = dead_letters.address_hashes(letters)
    for letter in letters:
        read = {name: getattr(letter, name, None) for name in DeadLetterAnswer.model_fields}
        computed = {
            "notification_id": ids.notification_of(letter.delivery_id),
            "address_hash": hashes.get(letter.pk, ""),
        }
        yield DeadLetterAnswer.model_validate(read | computed)


LETTERS: Final = Resource(
    noun="dead letter",
    path="v1/dead-letters/<int:letter_id>",
    rows=lambda call: DeadLetter.objects.filter(mode=call.key.mode),
    answer=DeadLetterAnswer,
    to_answer=lambda letter: next(iter(_to_answers([letter]))),
    tag="Operations",
)
JOBS: Final = Resource(
    noun="replay job",
    path="v1/replay-jobs/<int:job_id>",
    rows=lambda call: ReplayJob.objects.filter(mode=call.key.mode),
    answer=ReplayJobAnswer,
    tag=LETTERS.tag,
)


@LETTERS.list(
    "List dead letters, newest first",
    _READERS,
    DeadLetterQuery,
    to_lines=_to_answers,
    examples={
        "minimal": Example("The latest open dead letters"),
        "usual": Example(
            "E-mails rejected by a provider since November",
            query={"reason": "permanent", "channel": "email", "since": "2026-11-01T00:00:00Z"},
        ),
    },
)
def list_dead_letters(call: Call, query: DeadLetterQuery) -> QuerySet[DeadLetter]:
    """List the dead letters of all producers in the key's mode."""
    return LETTERS.rows(call).filter(**_filters(query))


@LETTERS.read(
    "Read a dead letter",
    _READERS,
    examples={
        "minimal": Example("An open dead letter", path={"letter_id": 71}),
        "resolved": Example("A discarded dead letter", path={"letter_id": 72}),
    },
)
def get_dead_letter(_call: Call, letter: DeadLetter) -> DeadLetter:
    """Return a dead letter of any producer in the key's mode.

    Resolved dead letters stay readable until retention removes them.
    """
    return letter


@JOBS.create(
    "Replay dead letters",
    _REPLAYERS,
    ReplayRequest,
    at="v1/dead-letters/replay",
    status=202,
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("One dead letter", body={"ids": [71]}),
        "usual": Example(
            "All of one reason on one channel, with a new time to live",
            headers={"Idempotency-Key": "replay-2026-11-22"},
            body={"reason": "permanent", "channel": "email", "renew_ttl": True},
        ),
    },
)
def replay_dead_letters(call: Call, wanted: ReplayRequest) -> ReplayJob:
    """Start a replay job.

    Every delivery passes all checks again, with a new attempt budget. The job is paced, so that
    new traffic is not delayed.
    """
    letters = LetterFilter(
        ids=None if wanted.ids is None else tuple(wanted.ids),
        reason=wanted.reason or "",
        channel=wanted.channel,
        provider=wanted.provider or "",
        since=wanted.since,
        until=wanted.until,
        mode=call.key.mode,
    )
    return replay.start(
        letters,
        requested_by=call.key.prefix,
        forced=wanted.force,
        renews_ttl=wanted.renew_ttl,
    )


@LETTERS.change(
    "POST /discard",
    "Discard a dead letter",
    _REPLAYERS,
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("Discard a dead letter", path={"letter_id": 71}),
        "usual": Example(
            "Discard a dead letter, with an idempotency key",
            path={"letter_id": 71},
            headers={"Idempotency-Key": "discard-71"},
        ),
    },
)
def discard_dead_letter(call: Call, letter: DeadLetter) -> None:
    """Discard a dead letter.

    The dead letter stays readable until retention removes it; later replays skip it.
    """
    if not replay.discard([letter.pk], by=call.key.prefix):
        letter.refresh_from_db()
        said = f"the dead letter is {letter.resolution or 'part of a running replay job'}"
        raise_problem(Problem(Kind.CONFLICT, said))


@JOBS.list(
    "List replay jobs, newest first",
    _READERS_OF_JOBS,
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest replays"),
        "usual": Example("Ten replays after a cursor", query={"limit": 10, "cursor": 4711}),
    },
)
def list_replay_jobs(call: Call, _query: NumberedPageQuery) -> QuerySet[ReplayJob]:
    """List the replay jobs of the key's mode, started by any caller."""
    return JOBS.rows(call)


@JOBS.read(
    "Read a replay job",
    _READERS_OF_JOBS,
    examples={
        "minimal": Example("A running replay", path={"job_id": 81}),
        "finished": Example("A finished replay", path={"job_id": 82}),
    },
)
def get_replay_job(_call: Call, job: ReplayJob) -> ReplayJob:
    """Return the progress of a replay job. The job is done when `finished_at` is set."""
    return job


def _filters(query: DeadLetterQuery) -> dict[str, Any]:
    """Return the query as keyword arguments of `QuerySet.filter`."""
    filters = {
        "reason__in": query.reason or None,
        "channel__in": query.channel or None,
        "provider__in": query.provider or None,
        "created_at__gte": query.since,
        "created_at__lt": query.until,
    }
    given: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    return given | {"resolved_at__isnull": not query.resolved}
