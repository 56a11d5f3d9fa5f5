"""`/v1/bulk-jobs`: a message to the recipients of an audience."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.authentication import actor_of, caller_of, key_of
from notifications.core.api.base_view import BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.models import BulkJob
from notifications.core.store.postgres import audit
from notifications.features.bulk_jobs import changes, create, figures
from notifications.features.bulk_jobs.api.schemas import (
    BulkJobAnswer,
    BulkJobChange,
    BulkJobLine,
    BulkJobQuery,
    answer_of,
    line_of,
)
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.rules.request import BulkJobRequest

_TAGS: Final = ["Campaigns"]
_AUDITED: Final = ("name", "state", "type", "priority", "template_id", "starts_at")
"""The audit log leaves out the audience, which can name many recipients."""


class BulkJobListView(BaseView):
    """`/v1/bulk-jobs`: create and list bulk jobs."""

    @extend_schema(
        operation_id="create_bulk_job",
        summary="Send a message to an audience",
        request=BulkJobRequest,
        responses={202: BulkJobAnswer},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Store a bulk job. The service expands the audience in the background from the start time.

        The version of each template is pinned at the call. A recipient who opted out, has no usable
        contact, or is on the suppression list gets no message and is counted under `left_out`. So
        is a recipient whose address has a message of the job, unless `unique_by` is `recipient`.
        """
        wanted = parse_body(request.data, BulkJobRequest)
        by = actor_of(request)
        try:
            job = create.create(caller_of(request), wanted, by=key_of(request).prefix)
        except BulkJobRefused as refused:
            raise_problem(refused.problem)
        facts = audit.facts_of(job)
        audit.record(by, "create_bulk_job", job, after={name: facts[name] for name in _AUDITED})
        return _answer(job, status_code=status.HTTP_202_ACCEPTED)

    @extend_schema(
        operation_id="list_bulk_jobs",
        summary="List bulk jobs, newest first",
        parameters=schema.parameters(BulkJobQuery),
        responses={200: schema.page_of(BulkJobLine)},
        tags=_TAGS,
    )
    def get(self, request: Request) -> Response:
        """List the bulk jobs of the key's producer and mode, with progress and counts."""
        query = parse_query(request, BulkJobQuery)
        found = _own(request)
        if query.state:
            found = found.filter(state__in=query.state)
        if query.type:
            found = found.filter(type__in=query.type)
        if query.since is not None:
            found = found.filter(created_at__gte=query.since)
        if query.cursor is not None:
            found = found.filter(pk__lt=query.cursor)
        rows = list(found.defer("audience").order_by("-pk")[: query.limit + 1])
        shown = rows[: query.limit]
        results = [line_of(*each) for each in zip(shown, figures.of_each(shown), strict=True)]
        following = shown[-1].pk if len(rows) > query.limit else None
        return page(request, results, following=following)


class BulkJobDetailView(BaseView):
    """`/v1/bulk-jobs/{bulk_job_id}`: read a bulk job."""

    @extend_schema(
        operation_id="get_bulk_job",
        summary="Read a bulk job with its progress",
        responses={200: BulkJobAnswer},
        tags=_TAGS,
    )
    def get(self, request: Request, bulk_job_id: UUID) -> Response:
        """Return a bulk job of the producer with progress, counts by status, and the funnel.

        The cost of a call does not depend on the size of the job.
        """
        return _answer(_find(request, bulk_job_id))


class BulkJobPauseView(BaseView):
    """`/v1/bulk-jobs/{bulk_job_id}/pause`: pause a bulk job."""

    @extend_schema(
        operation_id="pause_bulk_job",
        summary="Pause a bulk job",
        request=BulkJobChange,
        responses={200: BulkJobAnswer},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request, bulk_job_id: UUID) -> Response:
        """Pause a job: within two seconds no further message of the job is sent.

        Messages that wait are held. A second call changes nothing. 409: the job was cancelled or
        aborted.
        """
        reason = parse_body(request.data, BulkJobChange).reason
        return _change(
            request,
            "pause_bulk_job",
            bulk_job_id,
            lambda by: changes.pause(bulk_job_id, by=by, reason=reason),
        )


class BulkJobResumeView(BaseView):
    """`/v1/bulk-jobs/{bulk_job_id}/resume`: resume a bulk job."""

    @extend_schema(
        operation_id="resume_bulk_job",
        summary="Resume a paused bulk job",
        request=None,
        responses={200: BulkJobAnswer},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request, bulk_job_id: UUID) -> Response:
        """Resume a paused job. A second call changes nothing. 409: the job was cancelled."""
        return _change(
            request,
            "resume_bulk_job",
            bulk_job_id,
            lambda by: changes.resume(bulk_job_id, by=by),
        )


class BulkJobCancelView(BaseView):
    """`/v1/bulk-jobs/{bulk_job_id}/cancel`: cancel a bulk job."""

    @extend_schema(
        operation_id="cancel_bulk_job",
        summary="Cancel a bulk job",
        request=BulkJobChange,
        responses={200: BulkJobAnswer},
        tags=_TAGS,
    )
    @idempotent
    def post(self, request: Request, bulk_job_id: UUID) -> Response:
        """Cancel a job: within two seconds no further message of the job is sent.

        Sent messages stay sent. A second call changes nothing. 409: the job was aborted.
        """
        reason = parse_body(request.data, BulkJobChange).reason
        return _change(
            request,
            "cancel_bulk_job",
            bulk_job_id,
            lambda by: changes.cancel(bulk_job_id, by=by, reason=reason),
        )


def _change(
    request: Request, operation: str, bulk_job_id: UUID, change: Callable[[str], BulkJob]
) -> Response:
    """Change a job of the producer, with an audit entry.

    Raises:
        ProblemError: there is no such job (404), or the state forbids the change (409).
    """
    _find(request, bulk_job_id)
    rows = _own(request).filter(pk=bulk_job_id)
    try:
        with audit.changes(actor_of(request), operation, rows):
            job = change(key_of(request).prefix)
    except BulkJobRefused as refused:
        raise_problem(refused.problem)
    return _answer(job)


def _own(request: Request) -> QuerySet[BulkJob]:
    key = key_of(request)
    return BulkJob.objects.filter(producer_id=key.producer_id, mode=key.mode)


def _find(request: Request, bulk_job_id: UUID) -> BulkJob:
    """Return a job of the producer and mode of the key.

    Raises:
        ProblemError: there is no such job (404).
    """
    job = _own(request).filter(pk=bulk_job_id).first()
    if job is None:
        raise_not_found("bulk job")
    return job


def _answer(job: BulkJob, *, status_code: int = status.HTTP_200_OK) -> Response:
    return Response(answer_of(job, figures.of(job)), status=status_code)
