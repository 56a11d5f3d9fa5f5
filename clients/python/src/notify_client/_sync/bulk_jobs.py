"""Bulk jobs: one message to an audience."""

from __future__ import annotations

from typing import Unpack

from notify_client import _call
from notify_client._sync.engine import Engine, Pages
from notify_client.types import (
    BulkJobAnswer,
    BulkJobChange,
    BulkJobLine,
    BulkJobRequest,
    DryRunAnswer,
    DryRunRequest,
    ListBulkJobsQuery,
)


class BulkJobs:
    """`/v1/bulk-jobs`: one message to each recipient of an audience."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.bulk_jobs`."""
        self._engine = engine

    def create(
        self, *, idempotency_key: str | None = None, **job: Unpack[BulkJobRequest]
    ) -> BulkJobAnswer:
        """Send a message to an audience; returns at once, and the service works in jobs."""
        call = _call.post(_call.path("bulk-jobs"), job, idempotency_key=idempotency_key)
        return self._engine.value(call, has="id")

    def dry_run(self, **job: Unpack[DryRunRequest]) -> DryRunAnswer:
        """Return the counts, some texts and the cost of a job, without sending."""
        return self._engine.value(
            _call.write("POST", _call.path("bulk-jobs", "dry-run"), job), has="is_complete"
        )

    def list(self, **query: Unpack[ListBulkJobsQuery]) -> Pages[BulkJobLine]:
        """List bulk jobs, newest first."""
        return Pages(self._engine, _call.path("bulk-jobs"), {**query})

    def get(self, bulk_job_id: str) -> BulkJobAnswer:
        """Return a bulk job with its progress."""
        return self._engine.value(_call.get(_call.path("bulk-jobs", bulk_job_id)), has="id")

    def pause(
        self,
        bulk_job_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[BulkJobChange],
    ) -> BulkJobAnswer:
        """Pause a bulk job: within two seconds no further message is sent."""
        target = _call.path("bulk-jobs", bulk_job_id, "pause")
        return self._engine.value(
            _call.post(target, {**body}, idempotency_key=idempotency_key), has="id"
        )

    def resume(self, bulk_job_id: str, *, idempotency_key: str | None = None) -> BulkJobAnswer:
        """Resume a paused bulk job."""
        target = _call.path("bulk-jobs", bulk_job_id, "resume")
        return self._engine.value(_call.post(target, {}, idempotency_key=idempotency_key), has="id")

    def cancel(
        self,
        bulk_job_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[BulkJobChange],
    ) -> BulkJobAnswer:
        """Cancel a bulk job; sent messages stay sent."""
        target = _call.path("bulk-jobs", bulk_job_id, "cancel")
        return self._engine.value(
            _call.post(target, {**body}, idempotency_key=idempotency_key), has="id"
        )
