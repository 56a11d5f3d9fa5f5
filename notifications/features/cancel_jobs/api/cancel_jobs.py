"""`/v1/notifications/cancel` and `/v1/cancel-jobs`: cancel many notifications of the producer."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final, Self
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from pydantic import Field, model_validator
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import PriorityWord, RequestModel, ResponseModel
from notifications.core.models import CancelJob
from notifications.core.rules import request_faults
from notifications.core.rules.request import MAX_METADATA_BYTES, Instant, Text, check_size
from notifications.core.store.postgres import audit
from notifications.features.cancel_jobs import jobs
from notifications.features.cancel_jobs.jobs import CancelFilter, CancelJobRefused

MAX_IDS: Final = 10_000
"""Notifications that a call can name."""


class CancelRequest(RequestModel):
    """The notifications to cancel: at least one field; every given field must match."""

    ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_IDS)] | None = None
    """Ids of notifications."""
    type: Annotated[Text, Field(min_length=1, max_length=64)] | None = None
    template_id: Annotated[Text, Field(min_length=1, max_length=64)] | None = None
    """Name of the template; all versions match."""
    priority: PriorityWord | None = None
    metadata: dict[str, Any] | None = None
    """Names and values that the metadata of the notification must have, such as a campaign."""
    since: Instant | None = None
    """Notifications accepted at or after this instant."""
    until: Instant | None = None
    """Notifications accepted before this instant. Absent: before this call."""

    @model_validator(mode="after")
    def _check_that_it_narrows(self) -> Self:
        if self.to_filter(CancelFilter()).is_empty:
            said = "give at least one of ids, type, template_id, priority, metadata, since, until"
            raise request_faults.error_at(said, "ids")
        if self.metadata:
            check_size(self.metadata, MAX_METADATA_BYTES, "metadata")
        return self

    def to_filter(self, base: CancelFilter) -> CancelFilter:
        """Return the filter with mode and producer of `base`."""
        return CancelFilter(
            mode=base.mode,
            producer_id=base.producer_id,
            ids=None if self.ids is None else tuple(self.ids),
            type=self.type or "",
            template_id=self.template_id or "",
            priority=self.priority,
            metadata=self.metadata or {},
            since=self.since,
            until=self.until,
        )


class CancelJobAnswer(ResponseModel):
    """The progress of a cancel job."""

    id: int
    created_at: dt.datetime
    requested_by: str
    percent: int
    """Progress by the time of the examined notifications."""
    cancelled: int
    """Cancelled notifications."""
    stopped: int
    """Deliveries that had not left and do not leave."""
    is_stopped: bool
    """True if the job was stopped before its end."""
    finished_at: dt.datetime | None


class NotificationCancelListView(BaseView):
    """`/v1/notifications/cancel`: cancel many notifications."""

    @extend_schema(
        operation_id="cancel_notifications",
        summary="Cancel many notifications",
        request=CancelRequest,
        responses={202: CancelJobAnswer},
        tags=["Cancellations"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Start a job that cancels the producer's matching notifications.

        Deliveries that have not left are stopped for good. A delivery which is being sent gets no
        retry and no fallback. Notifications accepted after the call are not cancelled. Recurring
        schedules go on: pause the schedule too.
        """
        wanted, key = parse_body(request.data, CancelRequest), key_of(request)
        base = CancelFilter(mode=key.mode, producer_id=key.producer_id)
        job = jobs.start(wanted.to_filter(base), requested_by=key.prefix, by=actor_of(request))
        return Response(_to_answer(job), status=status.HTTP_202_ACCEPTED)


class CancelJobListView(BaseView):
    """`/v1/cancel-jobs`: list cancel jobs."""

    @extend_schema(
        operation_id="list_cancel_jobs",
        summary="List cancel jobs, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(CancelJobAnswer)},
        tags=["Cancellations"],
    )
    def get(self, request: Request) -> Response:
        """List the cancel jobs of the producer."""
        query = parse_query(request, NumberedPageQuery)
        return newest_page(request, query, _own(request), _to_answer)


class CancelJobDetailView(BaseView):
    """`/v1/cancel-jobs/{job_id}`: read a cancel job."""

    @extend_schema(
        operation_id="get_cancel_job",
        summary="Read a cancel job",
        responses={200: CancelJobAnswer},
        tags=["Cancellations"],
    )
    def get(self, request: Request, job_id: int) -> Response:
        """Return the progress of a job of the producer."""
        return Response(_to_answer(_find(request, job_id)))


class CancelJobStopView(BaseView):
    """`/v1/cancel-jobs/{job_id}/stop`: stop a cancel job."""

    @extend_schema(
        operation_id="stop_cancel_job",
        summary="Stop a cancel job",
        request=None,
        responses={200: CancelJobAnswer},
        tags=["Cancellations"],
    )
    @idempotent
    def post(self, request: Request, job_id: int) -> Response:
        """Stop a job. Cancelled notifications stay cancelled. A second call changes nothing.

        The job of a cancelled bulk job cannot be stopped (409): the bulk job stays cancelled.
        """
        job = _find(request, job_id)
        rows = CancelJob.objects.filter(pk=job.pk)
        try:
            with audit.changes(actor_of(request), "stop_cancel_job", rows):
                jobs.stop(job)
        except CancelJobRefused as refused:
            raise_problem(refused.problem)
        return Response(_to_answer(_find(request, job_id)))


def _own(request: Request) -> QuerySet[CancelJob]:
    key = key_of(request)
    return CancelJob.objects.filter(producer_id=key.producer_id, mode=key.mode)


def _find(request: Request, job_id: int) -> CancelJob:
    job = _own(request).filter(pk=min(job_id, MAX_ID)).first()
    if job is None:
        raise_not_found("cancel job")
    return job


def _to_answer(job: CancelJob) -> dict[str, Any]:
    names = CancelJobAnswer.model_fields.keys() - {"percent"}
    fields = {name: getattr(job, name) for name in names}
    return CancelJobAnswer(percent=jobs.percent(job), **fields).to_json()
