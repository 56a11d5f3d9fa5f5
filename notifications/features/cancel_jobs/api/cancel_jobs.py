"""`/v1/notifications/cancel` and `/v1/cancel-jobs`: cancel many notifications of the producer."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final, Self
from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field, model_validator

from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import PriorityWord, RequestModel, ResponseModel
from notifications.core.models import CancelJob
from notifications.core.rules import request_faults
from notifications.core.rules.access import BOTH
from notifications.core.rules.request import MAX_METADATA_BYTES, Instant, Text, check_size
from notifications.core.rules.scopes import Scope
from notifications.features.cancel_jobs import jobs
from notifications.features.cancel_jobs.jobs import CancelFilter

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


def _own(call: Call) -> QuerySet[CancelJob]:
    return CancelJob.objects.filter(producer_id=call.key.producer_id, mode=call.key.mode)


def _to_answer(job: CancelJob) -> CancelJobAnswer:
    names = CancelJobAnswer.model_fields.keys() - {"percent"}
    fields = {name: getattr(job, name) for name in names}
    return CancelJobAnswer(percent=jobs.percent(job), **fields)


JOBS: Final = Resource(
    noun="cancel job",
    path="v1/cancel-jobs/<int:job_id>",
    rows=_own,
    answer=CancelJobAnswer,
    to_answer=_to_answer,
    tag="Cancellations",
)


@operation(
    "POST v1/notifications/cancel",
    "Cancel many notifications",
    Access(Scope.NOTIFICATIONS_WRITE),
    CancelRequest,
    answers={202: CancelJobAnswer},
    tag=JOBS.tag,
    examples={
        "minimal": Example("Cancel every open notification of a type", body={"type": "FLASH_SALE"}),
        "usual": Example(
            "Cancel the open notifications of a campaign, with an idempotency key",
            headers={"Idempotency-Key": "cancel-autumn-2026"},
            body={"metadata": {"campaign": "autumn-2026"}, "priority": "P3"},
        ),
    },
)
def cancel_notifications(call: Call, wanted: CancelRequest) -> CancelJobAnswer:
    """Start a job that cancels the producer's matching notifications.

    Deliveries that have not left are stopped for good. A delivery which is being sent gets no
    retry and no fallback. Notifications accepted after the call are not cancelled. Recurring
    schedules go on: pause the schedule too.
    """
    base = CancelFilter(mode=call.key.mode, producer_id=call.key.producer_id)
    return _to_answer(jobs.start(wanted.to_filter(base), requested_by=call.key.prefix, by=call.by))


@JOBS.list(
    "List cancel jobs, newest first",
    Access(Scope.NOTIFICATIONS_READ, BOTH, "view_notification"),
    NumberedPageQuery,
    examples={
        "minimal": Example("The first fifty jobs"),
        "usual": Example("Ten jobs", query={"limit": 10}),
    },
)
def list_cancel_jobs(call: Call, _query: NumberedPageQuery) -> QuerySet[CancelJob]:
    """List the cancel jobs of the producer."""
    return _own(call)


@JOBS.read(
    "Read a cancel job",
    Access(Scope.NOTIFICATIONS_READ, BOTH, "view_notification"),
    examples={
        "minimal": Example("A running job", path={"job_id": 87}),
        "finished": Example("A stopped job", path={"job_id": 88}),
    },
)
def get_cancel_job(_call: Call, job: CancelJob) -> CancelJob:
    """Return the progress of a job of the producer."""
    return job


@JOBS.change(
    "POST /stop",
    "Stop a cancel job",
    Access(Scope.NOTIFICATIONS_WRITE),
    examples={
        "minimal": Example("Stop a job", path={"job_id": 87}),
        "usual": Example(
            "Stop a job, with an idempotency key",
            path={"job_id": 87},
            headers={"Idempotency-Key": "stop-87"},
        ),
    },
)
def stop_cancel_job(_call: Call, job: CancelJob) -> None:
    """Stop a job. Cancelled notifications stay cancelled. A second call changes nothing.

    The job of a cancelled bulk job cannot be stopped (409): the bulk job stays cancelled.
    """
    jobs.stop(job)
