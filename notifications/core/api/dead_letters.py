"""`/v1/dead-letters` and `/v1/replay-jobs`: list, replay and discard failed deliveries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import (
    AnyOf,
    NumberedPageQuery,
    SmallId,
    newest_page,
    newest_rows,
    page,
    parse_query,
)
from notifications.core.api.problems import raise_problem
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
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import Instant, Text
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.store.postgres import audit, dead_letters

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


class DeadLetterListView(BaseView):
    """`/v1/dead-letters`: list dead letters."""

    @extend_schema(
        operation_id="list_dead_letters",
        summary="List dead letters, newest first",
        parameters=schema.parameters(DeadLetterQuery),
        responses={200: schema.page_of(DeadLetterAnswer)},
        tags=["Operations"],
    )
    def get(self, request: Request) -> Response:
        """List the dead letters of all producers in the key's mode."""
        query = parse_query(request, DeadLetterQuery)
        found = DeadLetter.objects.filter(mode=key_of(request).mode, **_filters(query))
        shown, following = newest_rows(query, found)
        hashes = dead_letters.address_hashes(shown)
        answers = [_to_dead_letter(letter, hashes).to_json() for letter in shown]
        return page(request, answers, following=following)


class DeadLetterDetailView(BaseView):
    """`/v1/dead-letters/{letter_id}`: read a dead letter."""

    @extend_schema(
        operation_id="get_dead_letter",
        summary="Read a dead letter",
        responses={200: DeadLetterAnswer},
        tags=["Operations"],
    )
    def get(self, request: Request, letter_id: int) -> Response:
        """Return a dead letter of any producer in the key's mode.

        Resolved dead letters stay readable until retention removes them.
        """
        mine = DeadLetter.objects.filter(pk=min(letter_id, MAX_ID), mode=key_of(request).mode)
        letter = mine.first()
        if letter is None:
            raise_not_found("dead letter")
        return Response(_to_dead_letter(letter, dead_letters.address_hashes([letter])).to_json())


class DeadLetterReplayView(BaseView):
    """`/v1/dead-letters/replay`: replay dead letters."""

    @extend_schema(
        operation_id="replay_dead_letters",
        summary="Replay dead letters",
        request=ReplayRequest,
        responses={202: ReplayJobAnswer},
        tags=["Operations"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Start a replay job.

        Every delivery passes all checks again, with a new attempt budget. The job is paced, so that
        new traffic is not delayed.
        """
        wanted, key = parse_body(request.data, ReplayRequest), key_of(request)
        letters = LetterFilter(
            ids=None if wanted.ids is None else tuple(wanted.ids),
            reason=wanted.reason or "",
            channel=wanted.channel,
            provider=wanted.provider or "",
            since=wanted.since,
            until=wanted.until,
            mode=key.mode,
        )
        try:
            with audit.changes(actor_of(request), "replay_dead_letters") as made:
                job = replay.start(
                    letters,
                    requested_by=key.prefix,
                    forced=wanted.force,
                    renews_ttl=wanted.renew_ttl,
                )
                made.append(job)
        except replay.ReplayRefused as refused:
            raise_problem(refused.problem)
        return Response(ReplayJobAnswer.model_validate(job).to_json(), status=202)


class DeadLetterDiscardView(BaseView):
    """`/v1/dead-letters/{letter_id}/discard`: discard a dead letter."""

    @extend_schema(
        operation_id="discard_dead_letter",
        summary="Discard a dead letter",
        request=None,
        responses={200: DeadLetterAnswer},
        tags=["Operations"],
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """Discard a dead letter.

        The dead letter stays readable until retention removes it; later replays skip it.
        """
        key = key_of(request)
        mine = DeadLetter.objects.filter(pk=min(letter_id, MAX_ID), mode=key.mode)
        if not mine.exists():
            raise_not_found("dead letter")
        with audit.changes(actor_of(request), "discard_dead_letter", mine):
            discarded = replay.discard([letter_id], by=key.prefix)
        letter = mine.get()
        if not discarded:
            said = f"the dead letter is {letter.resolution or 'part of a running replay job'}"
            raise_problem(Problem(Kind.CONFLICT, said))
        return Response(_to_dead_letter(letter, dead_letters.address_hashes([letter])).to_json())


class ReplayJobListView(BaseView):
    """`/v1/replay-jobs`: list replay jobs."""

    @extend_schema(
        operation_id="list_replay_jobs",
        summary="List replay jobs, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(ReplayJobAnswer)},
        tags=["Operations"],
    )
    def get(self, request: Request) -> Response:
        """List the replay jobs of the key's mode, started by any caller."""
        query = parse_query(request, NumberedPageQuery)
        found = ReplayJob.objects.filter(mode=key_of(request).mode)
        return newest_page(request, query, found, _to_replay_job)


def _to_replay_job(job: ReplayJob) -> dict[str, Any]:
    return ReplayJobAnswer.model_validate(job).to_json()


class ReplayJobDetailView(BaseView):
    """`/v1/replay-jobs/{job_id}`: read a replay job."""

    @extend_schema(
        operation_id="get_replay_job",
        summary="Read a replay job",
        responses={200: ReplayJobAnswer},
        tags=["Operations"],
    )
    def get(self, request: Request, job_id: int) -> Response:
        """Return the progress of a replay job. The job is done when `finished_at` is set."""
        mine = ReplayJob.objects.filter(mode=key_of(request).mode)
        job = mine.filter(pk=min(job_id, MAX_ID)).first()
        if job is None:
            raise_not_found("replay job")
        return Response(ReplayJobAnswer.model_validate(job).to_json())


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


def _to_dead_letter(letter: DeadLetter, hashes: Mapping[int, str]) -> DeadLetterAnswer:
    read = {name: getattr(letter, name, None) for name in DeadLetterAnswer.model_fields}
    computed = {
        "notification_id": ids.notification_of(letter.delivery_id),
        "address_hash": hashes.get(letter.pk, ""),
    }
    return DeadLetterAnswer.model_validate(read | computed)
