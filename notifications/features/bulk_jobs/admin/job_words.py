"""The sentence of a draft and of a stored job: `rules.job_sentence` with their values."""

from __future__ import annotations

import datetime as dt

from notifications.core import clock, conf
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.channels import Spread
from notifications.core.rules.lane import Mode
from notifications.features.audiences.rules import wording
from notifications.features.bulk_jobs.admin.compose_draft import Draft
from notifications.features.bulk_jobs.figures import JobFigures
from notifications.features.bulk_jobs.rules import job_sentence
from notifications.features.bulk_jobs.rules.job_sentence import JobFacts
from notifications.features.bulk_jobs.rules.schedule_text import Schedule
from providers.contract import Channel


def of_draft(draft: Draft) -> str:
    """Return a draft in words; a choice that is missing is named."""
    value, asked = draft.value, draft.request
    body = draft.form.body()
    facts = JobFacts(
        schedule=draft.schedule,
        has_start=bool(value.get("start")),
        audience=None if draft.expression is None else wording.who(draft.expression),
        count=draft.estimate.count if draft.estimate else None,
        is_exact=draft.estimate is None or draft.estimate.is_exact,
        is_test=draft.mode is Mode.TEST,
        template_id=body["template_id"],
        variants=[each for each in body.get("variants", ()) if {"name", "percent"} <= each.keys()],
        winner=asked.winner.model_dump() if asked and asked.winner else None,
        holdout_percent=value.get("holdout_percent") or 0,
        channels=[Channel(each) for each in value.get("channels") or ()],
        spread=Spread(value.get("delivery") or Spread.FIRST),
    )
    return job_sentence.describe(facts, now=clock.now())


def of_job(job: BulkJob, found: JobFigures, *, now: dt.datetime) -> str:
    """Return a job in words: with the estimated audience, or with the examined one at the end."""
    state = BulkJobState(job.state)
    is_finished = state is BulkJobState.FINISHED
    facts = JobFacts(
        schedule=schedule_of(job),
        audience=wording.who_stored(job.audience),
        count=found.examined if is_finished else job.estimate,
        is_exact=is_finished,
        is_test=Mode(job.mode) is Mode.TEST,
        template_id=job.template_id,
        variants=job.variants,
        winner=job.winner_rule,
        holdout_percent=job.holdout_percent,
        channels=[Channel(each) for each in job.channels],
        spread=Spread(job.spread),
        state=state,
    )
    return job_sentence.describe(facts, now=now)


def schedule_of(job: BulkJob) -> Schedule:
    """Return the schedule of a stored job."""
    return Schedule(
        starts_at=None if job.send_at_local else job.starts_at,
        started_at=None if job.send_at_local else job.started_at,
        send_at_local=_local_time(job.send_at_local),
        rate_per_second=job.rate_per_second,
        spread_seconds=job.spread_seconds,
        ceiling=conf.current().bulk_job_rate,
        test_group_size=job.test_group_size,
        test_group_seconds=job.test_group_seconds,
    )


def _local_time(text: str) -> dt.datetime | dt.time | None:
    """Return a stored `send_at_local` as a wall clock time; None for an empty text."""
    if not text:
        return None
    return dt.datetime.fromisoformat(text) if "T" in text else dt.time.fromisoformat(text)
