"""`/v1/bulk-jobs`: a message to the recipients of an audience."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from notifications.core.api.examples import (
    ANOTHER_USER,
    BULK_JOB,
    SOON,
    TEMPLATE,
    USER,
    Example,
)
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.resource import Resource
from notifications.core.models import BulkJob
from notifications.core.rules.access import BOTH
from notifications.core.rules.scopes import Scope
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
from notifications.features.bulk_jobs.rules.request import BulkJobRequest

_PATH: Final = {"bulk_job_id": BULK_JOB}
_PLAIN: Final = {
    "name": "Menu of the week",
    "audience": {"everyone": True},
    "type": "MARKETING",
    "template_id": TEMPLATE,
    "variables": {"restaurant": "Burger Palace", "order_id": "the new menu"},
}

_READERS: Final = Access(Scope.CAMPAIGNS_READ, BOTH, "view_bulkjob")
_CHANGERS: Final = Access(Scope.CAMPAIGNS_WRITE, BOTH, "change_bulkjob")
_AUDITED: Final = ("name", "state", "type", "priority", "template_id", "starts_at")
"""The audit log leaves out the audience, which can name many recipients."""


def _own(call: Call) -> QuerySet[BulkJob]:
    return BulkJob.objects.filter(producer_id=call.key.producer_id, mode=call.key.mode)


JOBS: Final = Resource(
    noun="bulk job",
    path="v1/bulk-jobs/<uuid:bulk_job_id>",
    rows=_own,
    answer=BulkJobAnswer,
    to_answer=lambda job: answer_of(job, figures.of(job)),
    tag="Campaigns",
)


@operation(
    "POST v1/bulk-jobs",
    "Send a message to an audience",
    Access(Scope.CAMPAIGNS_WRITE, BOTH, "add_bulkjob"),
    BulkJobRequest,
    answers={202: BulkJobAnswer},
    tag=JOBS.tag,
    examples={
        "minimal": Example("A message to every recipient", body=_PLAIN),
        "usual": Example(
            "At a rate, with an A/B test, a holdout and limits",
            headers={"Idempotency-Key": "menu-2026-48"},
            body={
                **_PLAIN,
                "audience": {"user_ids": [USER, ANOTHER_USER]},
                "priority": "P3",
                "channels": ["push", "sms"],
                "scheduled_at": SOON,
                "rate_per_second": 500,
                "metadata": {"campaign": "menu-2026-48"},
                "variants": [
                    {"name": "plain", "percent": 50},
                    {"name": "short", "percent": 50, "template_id": TEMPLATE},
                ],
                "holdout_percent": 5,
                "winner": {"metric": "read", "sample_percent": 10, "after_seconds": 3600},
                "abort_limits": {"failed": 0.1, "bounced": 0.05, "complained": 0.001},
            },
        ),
    },
)
def create_bulk_job(call: Call, wanted: BulkJobRequest) -> BulkJobAnswer:
    """Store a bulk job. The service expands the audience in the background from the start time.

    The version of each template is pinned at the call. A recipient who opted out, has no usable
    contact, or is on the suppression list gets no message and is counted under `left_out`. So
    is a recipient whose address has a message of the job, unless `unique_by` is `recipient`.
    """
    with transaction.atomic():
        job = create.create(call.caller, wanted, by=call.key.prefix)
        facts = audit.facts_of(job)
        after = {name: facts[name] for name in _AUDITED}
        audit.record(call.by, call.operation, job, after=after)
    return answer_of(job, figures.of(job))


@JOBS.list(
    "List bulk jobs, newest first",
    _READERS,
    BulkJobQuery,
    line=BulkJobLine,
    to_lines=lambda jobs: map(line_of, jobs, figures.of_each(jobs)),
    examples={
        "minimal": Example("The newest jobs"),
        "usual": Example(
            "Running and paused jobs of a type",
            query={"state": ["running", "paused"], "type": "MARKETING", "limit": 10},
        ),
    },
)
def list_bulk_jobs(call: Call, query: BulkJobQuery) -> QuerySet[BulkJob]:
    """List the bulk jobs of the key's producer and mode, with progress and counts."""
    found = _own(call).defer("audience")
    if query.state:
        found = found.filter(state__in=query.state)
    if query.type:
        found = found.filter(type__in=query.type)
    return found if query.since is None else found.filter(created_at__gte=query.since)


@JOBS.read(
    "Read a bulk job with its progress",
    _READERS,
    examples={
        "minimal": Example("A job with its progress", path=_PATH),
        "usual": Example("The result of an A/B test", path=_PATH),
    },
)
def get_bulk_job(_call: Call, job: BulkJob) -> BulkJob:
    """Return a bulk job of the producer with progress, counts by status, and the funnel.

    The cost of a call does not depend on the size of the job.
    """
    return job


@JOBS.change(
    "POST /pause",
    "Pause a bulk job",
    _CHANGERS,
    BulkJobChange,
    locks=True,
    examples={
        "minimal": Example("Pause a job", path=_PATH, body={}),
        "usual": Example(
            "Pause a job with a reason",
            path=_PATH,
            headers={"Idempotency-Key": "pause-menu-48"},
            body={"reason": "The price is wrong."},
        ),
    },
)
def pause_bulk_job(call: Call, job: BulkJob, wanted: BulkJobChange) -> None:
    """Pause a job: within two seconds no further message of the job is sent.

    Messages that wait are held. A second call changes nothing. 409: the job was cancelled or
    aborted.
    """
    changes.pause(job.pk, by=call.key.prefix, reason=wanted.reason)


@JOBS.change(
    "POST /resume",
    "Resume a paused bulk job",
    _CHANGERS,
    locks=True,
    examples={
        "minimal": Example("Resume a job", path=_PATH),
        "usual": Example(
            "Resume a job once", path=_PATH, headers={"Idempotency-Key": "resume-menu-48"}
        ),
    },
)
def resume_bulk_job(call: Call, job: BulkJob) -> None:
    """Resume a paused job. A second call changes nothing. 409: the job was cancelled."""
    changes.resume(job.pk, by=call.key.prefix)


@JOBS.change(
    "POST /cancel",
    "Cancel a bulk job",
    _CHANGERS,
    BulkJobChange,
    locks=True,
    examples={
        "minimal": Example("Cancel a job", path=_PATH, body={}),
        "usual": Example(
            "Cancel a job with a reason",
            path=_PATH,
            headers={"Idempotency-Key": "cancel-menu-48"},
            body={"reason": "The offer is over."},
        ),
    },
)
def cancel_bulk_job(call: Call, job: BulkJob, wanted: BulkJobChange) -> None:
    """Cancel a job: within two seconds no further message of the job is sent.

    Sent messages stay sent. A second call changes nothing. 409: the job was aborted.
    """
    changes.cancel(job.pk, by=call.key.prefix, reason=wanted.reason)
