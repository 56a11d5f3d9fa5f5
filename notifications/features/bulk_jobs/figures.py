"""Figures of bulk jobs, for the API, the admin pages and the command line.

Progress and reasons come from the ranges, so they are exact. Counts of deliveries come from the
roll-ups, which are 5 to 10 seconds late. The cost of a page of jobs does not depend on the number
of their deliveries.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from notifications.core import clock, conf
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState, Expansion, Total
from notifications.core.store.postgres import bulk_job_expansions
from notifications.features.bulk_jobs import figure_rows
from notifications.features.bulk_jobs.rules import figures
from notifications.features.bulk_jobs.rules.figures import Mark, Plan, Rates, VariantFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFigures:
    """The figures of a job."""

    percent: float
    """Examined part of the audience; 100 only for a finished job."""
    estimate: int | None
    """Estimated size of the audience in recipients."""
    examined: int
    """Recipients of the audience who got a message or a reason."""
    accepted: int
    """Notifications of the job."""
    left_out: Mapping[str, int]
    """Reason -> recipients without a message, the most frequent reason first."""
    rate: float
    """Notifications per second in the last minute; 0 for a job that is not running."""
    rate_wanted: float | None
    """Notifications per second at most; None: no limit."""
    rate_ceiling: float | None
    """Notifications per second that no job of the installation exceeds; None: no ceiling."""
    ends_at: dt.datetime | None
    """Expected end of the expansion; None if unknown."""
    whole: VariantFigures
    """Counts of all deliveries."""
    variants: Mapping[str, VariantFigures]
    """Counts by variant; empty without variants."""


def of(job: BulkJob, *, now: dt.datetime | None = None) -> JobFigures:
    """Return the figures of a job. `now`: for tests."""
    return of_each([job], now=now)[0]


def of_each(jobs: Sequence[BulkJob], *, now: dt.datetime | None = None) -> list[JobFigures]:
    """Return the figures of jobs, in their order, with three queries. `now`: for tests."""
    if not jobs:
        return []
    instant = now or clock.now()
    ids = [job.pk for job in jobs]
    expansions = bulk_job_expansions.expansions(ids)
    counts = figure_rows.counts(ids)
    marks = figure_rows.marks(ids, now=instant)
    return [
        _figures(
            job,
            expansions.get(job.pk, Expansion()),
            counts.get(job.pk, {}),
            marks.get(job.pk),
            now=instant,
        )
        for job in jobs
    ]


def _figures(
    job: BulkJob,
    expansion: Expansion,
    counts: Mapping[str, VariantFigures],
    mark: Mark | None,
    *,
    now: dt.datetime,
) -> JobFigures:
    plan = plan_of(job)
    is_running = plan.state is BulkJobState.RUNNING
    if mark is None and is_running and job.started_at is not None:
        mark = Mark(job.started_at)
    speed = figures.rates(expansion, mark, now=now) if is_running else Rates()
    return JobFigures(
        percent=figures.percent(plan, expansion),
        estimate=job.estimate,
        examined=expansion.examined,
        accepted=expansion.accepted,
        left_out=_most_frequent_first(expansion.left_out),
        rate=round(speed.accepted, 3),
        rate_wanted=plan.rate,
        rate_ceiling=plan.ceiling,
        ends_at=figures.end(plan, expansion, speed, now=now),
        whole=_sum(counts.values()),
        variants={name: each for name, each in counts.items() if name},
    )


def plan_of(job: BulkJob) -> Plan:
    """Return the wanted pace of a job."""
    return Plan(
        state=BulkJobState(job.state),
        starts_at=job.starts_at,
        started_at=job.started_at,
        estimate=job.estimate,
        rate_per_second=job.rate_per_second,
        spread_seconds=job.spread_seconds,
        ceiling=conf.current().bulk_job_rate,
    )


def _sum(each: Iterable[VariantFigures]) -> VariantFigures:
    totals: Counter[Total] = Counter()
    statuses: Counter[str] = Counter()
    for variant in each:
        totals.update(variant.totals)
        statuses.update(variant.statuses)
    return VariantFigures(dict(totals), dict(statuses))


def _most_frequent_first(left_out: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(left_out.items(), key=lambda pair: (-pair[1], pair[0])))
