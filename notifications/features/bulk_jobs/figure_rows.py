"""Figures of bulk jobs in Postgres: sums of ranges, counts by variant, samples of the progress.

The roll-ups write the counts (`rollup_add.sql`). A page of jobs costs three queries by the primary
keys, for ten deliveries as for fifty million.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from notifications.core.models import BulkJobFigure
from notifications.core.rules.bulk_job import Total
from notifications.core.store.postgres import db
from notifications.features.bulk_jobs.rules.figures import Mark, VariantFigures

SAMPLE_EVERY: Final = dt.timedelta(seconds=4)
"""A running job has a sample at most this often."""
SAMPLES_KEPT: Final = dt.timedelta(hours=1)
"""`work_bulk_jobs.sql` has the same time."""
MEASURED: Final = dt.timedelta(seconds=60)
"""Time over which a rate is measured."""
_MOST_DELETED: Final = 10_000
"""Rows of one statement."""
_TOTALS: Final = frozenset(Total)


def sample(*, now: dt.datetime) -> int:
    """Store the progress of the running jobs, and delete old samples; returns the new samples.

    Safe to run twice or beside another run: a job has one sample for a time.
    """
    db.run("bulk_job_samples_forget", {"before": now - SAMPLES_KEPT, "limit": _MOST_DELETED})
    return db.run("bulk_job_samples_add", {"now": now, "after": now - SAMPLE_EVERY})


def counts(job_ids: Iterable[UUID]) -> Mapping[UUID, Mapping[str, VariantFigures]]:
    """Return the counts of jobs by job id and variant; `""` is the variant without a name."""
    totals: dict[tuple[UUID, str], dict[Total, int]] = defaultdict(dict)
    statuses: dict[tuple[UUID, str], dict[str, int]] = defaultdict(dict)
    rows = BulkJobFigure.objects.filter(job_id__in=list(job_ids), count__gt=0)
    columns = ("job_id", "variant", "kind", "name", "count")
    for job_id, variant, kind, name, count in rows.values_list(*columns):
        if kind == "status":
            statuses[job_id, variant][name] = count
        elif name in _TOTALS:
            totals[job_id, variant][Total(name)] = count
    found: dict[UUID, dict[str, VariantFigures]] = defaultdict(dict)
    for job_id, variant in sorted({*totals, *statuses}):
        both = VariantFigures(totals[job_id, variant], statuses[job_id, variant])
        found[job_id][variant] = both
    return found


def marks(job_ids: Sequence[UUID], *, now: dt.datetime) -> dict[UUID, Mark]:
    """Return the oldest sample of the last minute, by job id."""
    since = {"ids": list(job_ids), "since": now - MEASURED}
    return {
        row["job_id"]: Mark(row["at"], row["examined"], row["accepted"])
        for row in db.rows("bulk_job_marks", since)
    }
