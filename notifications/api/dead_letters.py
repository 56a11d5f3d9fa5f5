"""`/v1/dead-letters` and `/v1/replay-jobs`: what gave up, and bringing it back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api import schema
from notifications.api.authentication import actor_of, key_of
from notifications.api.base_view import MAX_ID, Door, absent, shaped
from notifications.api.idempotency import idempotent
from notifications.api.pagination import AnyOf, NumberedPageQuery, SmallId, asked, page
from notifications.api.problems import refuse
from notifications.api.schemas import Answer, Asked, ChannelWord, ModeWord, PriorityWord
from notifications.models import DeadLetter, ReplayJob
from notifications.operations import replay
from notifications.rules import ids, request_faults
from notifications.rules.dead_letter_filter import LetterFilter
from notifications.rules.problems import Kind, Problem
from notifications.rules.request import Instant, Text
from notifications.rules.request_fields import AskedChannel
from notifications.store.postgres import audit, dead_letters

Reason = Annotated[Text, Field(min_length=1, max_length=64)]
ProviderName = Annotated[Text, Field(min_length=1, max_length=32)]


class LetterQuery(NumberedPageQuery):
    """Which letters a list shows: open ones, unless `resolved`."""

    reason: AnyOf[Reason] = Field(default_factory=list)
    """Dead letters with any of these reasons."""
    channel: AnyOf[ChannelWord] = Field(default_factory=list)
    """Dead letters of any of these channels."""
    provider: AnyOf[ProviderName] = Field(default_factory=list)
    """Dead letters of any of these providers."""
    since: Instant | None = None
    """Dead letters of this instant or later."""
    until: Instant | None = None
    """Dead letters from before this instant."""
    resolved: bool = False
    """`true`: those that were replayed or discarded."""


class ReplayRequest(Asked):
    """Which letters to replay: those named, or all open ones that match every filter given."""

    ids: Annotated[list[SmallId], Field(min_length=1, max_length=10_000)] | None = None
    reason: Reason | None = None
    channel: AskedChannel | None = None
    provider: ProviderName | None = None
    since: Instant | None = None
    until: Instant | None = None
    force: bool = False
    """Also what reached the person meanwhile by another way."""
    renew_ttl: bool = False
    """Start the time to live anew; never for P0."""

    @model_validator(mode="after")
    def _check_that_it_narrows(self) -> Self:
        if not self.model_dump(exclude={"force", "renew_ttl"}, exclude_none=True):
            said = "give ids, or at least one of reason, channel, provider, since and until"
            raise request_faults.placed(said, "ids")
        return self


class DeadLetterAnswer(Answer):
    """A delivery that gave up."""

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
    """Keyed hash of the address, as logs show it; empty when the contact was erased."""
    created_at: dt.datetime
    resolved_at: dt.datetime | None
    resolution: str


class ReplayJobAnswer(Answer):
    """How far a replay is."""

    id: int
    created_at: dt.datetime
    requested_by: str
    forced: bool
    renews_ttl: bool
    total: int
    replayed: int
    skipped: int
    finished_at: dt.datetime | None


class DeadLetters(Door):
    """Many."""

    @extend_schema(
        operation_id="list_dead_letters",
        summary="List dead letters, newest first",
        parameters=schema.parameters(LetterQuery),
        responses={200: schema.page_of(DeadLetterAnswer)},
        tags=["Operations"],
    )
    def get(self, request: Request) -> Response:
        """Of every producer, in the key's mode."""
        query = asked(request, LetterQuery)
        found = DeadLetter.objects.filter(mode=key_of(request).mode, **_narrowed(query))
        letters = list(found.order_by("-pk")[: query.limit + 1])
        more = len(letters) > query.limit
        shown = letters[: query.limit]
        hashes = dead_letters.address_hashes(shown)
        answers = [_letter(letter, hashes).wire() for letter in shown]
        return page(request, answers, following=shown[-1].pk if more else None)


class OneDeadLetter(Door):
    """One."""

    @extend_schema(
        operation_id="get_dead_letter",
        summary="Read a dead letter",
        responses={200: DeadLetterAnswer},
        tags=["Operations"],
    )
    def get(self, request: Request, letter_id: int) -> Response:
        """Of any producer, in the key's mode; resolved ones too, until retention."""
        mine = DeadLetter.objects.filter(pk=min(letter_id, MAX_ID), mode=key_of(request).mode)
        letter = mine.first()
        if letter is None:
            absent("dead letter")
        return Response(_letter(letter, dead_letters.address_hashes([letter])).wire())


class Replay(Door):
    """Bringing back."""

    @extend_schema(
        operation_id="replay_dead_letters",
        summary="Replay dead letters",
        request=ReplayRequest,
        responses={202: ReplayJobAnswer},
        tags=["Operations"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Begins a job that runs all gates again, with a new attempt budget, at the lane's pace."""
        wanted, key = shaped(request.data, ReplayRequest), key_of(request)
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
            refuse(refused.problem)
        return Response(ReplayJobAnswer.model_validate(job).wire(), status=202)


class Discard(Door):
    """Giving up for good."""

    @extend_schema(
        operation_id="discard_dead_letter",
        summary="Discard a dead letter",
        request=None,
        responses={200: DeadLetterAnswer},
        tags=["Operations"],
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """It stays readable until retention; a replay no longer takes it."""
        key = key_of(request)
        mine = DeadLetter.objects.filter(pk=min(letter_id, MAX_ID), mode=key.mode)
        if not mine.exists():
            absent("dead letter")
        with audit.changes(actor_of(request), "discard_dead_letter", mine):
            discarded = replay.discard([letter_id], by=key.prefix)
        letter = mine.get()
        if not discarded:
            said = f"the letter is {letter.resolution or 'in the hands of a replay job'}"
            refuse(Problem(Kind.CONFLICT, said))
        return Response(_letter(letter, dead_letters.address_hashes([letter])).wire())


class ReplayJobs(Door):
    """The jobs."""

    @extend_schema(
        operation_id="list_replay_jobs",
        summary="List replays, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(ReplayJobAnswer)},
        tags=["Operations"],
    )
    def get(self, request: Request) -> Response:
        """Of the key's mode, whoever began them."""
        query = asked(request, NumberedPageQuery)
        found = ReplayJob.objects.filter(mode=key_of(request).mode).order_by("-pk")
        if query.cursor is not None:
            found = found.filter(pk__lt=query.cursor)
        jobs = list(found[: query.limit + 1])
        shown = jobs[: query.limit]
        answers = [ReplayJobAnswer.model_validate(job).wire() for job in shown]
        following = shown[-1].pk if len(jobs) > query.limit else None
        return page(request, answers, following=following)


class OneReplayJob(Door):
    """A job's progress."""

    @extend_schema(
        operation_id="get_replay_job",
        summary="See how far a replay is",
        responses={200: ReplayJobAnswer},
        tags=["Operations"],
    )
    def get(self, request: Request, job_id: int) -> Response:
        """Finished when `finished_at` is set. A job belongs to the mode of its letters."""
        mine = ReplayJob.objects.filter(mode=key_of(request).mode)
        job = mine.filter(pk=min(job_id, MAX_ID)).first()
        if job is None:
            absent("replay job")
        return Response(ReplayJobAnswer.model_validate(job).wire())


def _narrowed(query: LetterQuery) -> dict[str, Any]:
    """The query as filters of the ORM."""
    filters = {
        "reason__in": query.reason or None,
        "channel__in": query.channel or None,
        "provider__in": query.provider or None,
        "created_at__gte": query.since,
        "created_at__lt": query.until,
        "pk__lt": query.cursor,
    }
    given: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    return given | {"resolved_at__isnull": not query.resolved}


def _letter(letter: DeadLetter, hashes: Mapping[int, str]) -> DeadLetterAnswer:
    read = {name: getattr(letter, name, None) for name in DeadLetterAnswer.model_fields}
    computed = {
        "notification_id": ids.notification_of(letter.delivery_id),
        "address_hash": hashes.get(letter.pk, ""),
    }
    return DeadLetterAnswer.model_validate(read | computed)
