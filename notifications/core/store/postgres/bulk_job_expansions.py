"""The progress of bulk jobs, from their ranges, for webhooks and figures."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from notifications.core.rules.bulk_job import Expansion
from notifications.core.store.postgres import db


def expansions(job_ids: Sequence[UUID]) -> dict[UUID, Expansion]:
    """Return the progress of jobs with ranges, by job id."""
    found: dict[UUID, Expansion] = {}
    for row in db.rows("bulk_job_expansions", {"ids": list(job_ids)}):
        job_id = row.pop("job_id")
        found[job_id] = Expansion(**{**row, "left_out": row["left_out"] or {}})
    return found
