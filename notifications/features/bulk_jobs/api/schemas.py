"""Responses and parameters of the operations for bulk jobs."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, StringConstraints, WithJsonSchema

from notifications.core.api.pagination import AnyOf, DatedPageQuery
from notifications.core.api.schemas import ChannelWord, PriorityWord, RequestModel, ResponseModel
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState, Total, UniqueBy
from notifications.core.rules.request import Instant, Name, Text
from notifications.features.bulk_jobs.figures import JobFigures
from notifications.features.bulk_jobs.rules.figures import FUNNEL, VariantFigures

StateWord = Annotated[
    BulkJobState, WithJsonSchema({"type": "string", "enum": sorted(map(str, BulkJobState))})
]


class BulkJobQuery(DatedPageQuery):
    """Filters of the list of bulk jobs."""

    state: AnyOf[StateWord] = Field(default_factory=list)
    """Jobs in any of these states."""
    type: AnyOf[Name] = Field(default_factory=list)
    """Jobs of any of these notification types."""
    since: Instant | None = None
    """Jobs created at or after this instant."""


class BulkJobChange(RequestModel):
    """A reason for people, shown with the job."""

    reason: Annotated[Text, StringConstraints(max_length=300)] = ""


class Funnel(ResponseModel):
    """Deliveries that got at least this far."""

    accepted: int
    sent: int
    """A provider accepted the message."""
    delivered: int
    """A receipt reported the arrival."""
    read: int
    """The recipient opened the message."""
    clicked: int
    failed: int
    bounced: int
    complained: int
    """The recipient reported the message as spam."""

    @classmethod
    def of(cls, figures: VariantFigures) -> Funnel:
        """Return the funnel of counts."""
        wanted = (*FUNNEL, Total.FAILED, Total.BOUNCED, Total.COMPLAINED)
        return cls(**{each.value: figures.total(each) for each in wanted})


class VariantAnswer(ResponseModel):
    """A variant of an A/B test with its figures."""

    name: str
    template_id: str
    template_variant: str | None
    """Variant of the template's texts; null: the base texts."""
    percent: int
    funnel: Funnel
    statuses: dict[str, int]
    """Status -> deliveries that have the status now. A delivery counts in the status before while
    a worker is sending it."""


class BulkJobProgress(ResponseModel):
    """The progress of the expansion. The expansion makes one notification per recipient."""

    percent: float
    """Examined part of the audience; 100 only for a finished job."""
    estimate: int | None
    """Estimated size of the audience in recipients."""
    examined: int
    """Recipients who got a notification or were left out."""
    accepted: int
    """Notifications."""
    left_out: dict[str, int]
    """Reason -> recipients without a notification."""
    rate_per_second: float
    """Notifications per second in the last minute."""
    rate_wanted: float | None
    """Limit of the rate; null: no limit. A job without a rate, or with a larger one, has the rate
    of `rate_ceiling`."""
    rate_ceiling: float | None
    """Notifications per second that no job of this installation exceeds; null: no ceiling."""
    ends_at: dt.datetime | None
    """Expected end of the expansion; null: unknown."""

    @classmethod
    def of(cls, figures: JobFigures) -> BulkJobProgress:
        """Return the progress of a job."""
        return cls(
            percent=figures.percent,
            estimate=figures.estimate,
            examined=figures.examined,
            accepted=figures.accepted,
            left_out=dict(figures.left_out),
            rate_per_second=figures.rate,
            rate_wanted=figures.rate_wanted,
            rate_ceiling=figures.rate_ceiling,
            ends_at=figures.ends_at,
        )


class BulkJobLine(ResponseModel):
    """A bulk job in a list."""

    id: UUID
    name: str
    state: StateWord
    state_reason: str
    """Reason of the state, for people."""
    state_changed_at: dt.datetime | None
    state_changed_by: str
    type: str
    priority: PriorityWord
    template_id: str
    channels: list[ChannelWord]
    delivery: str
    unique_by: UniqueBy
    scheduled_at: dt.datetime
    """Start time."""
    send_at_local: str | None
    rate_per_second: float | None
    spread_seconds: int | None
    weight: int
    ttl_seconds: int | None
    metadata: dict[str, Any]
    holdout_percent: int
    winner: str | None
    """Variant that the recipients outside the sample get; null: not chosen yet."""
    progress: BulkJobProgress
    funnel: Funnel
    """Deliveries of the whole job, 5 to 10 seconds late."""
    statuses: dict[str, int]
    """Status -> deliveries that have the status now. A delivery counts in the status before while
    a worker is sending it."""
    cost_usd: float
    """Cost of the accepted calls in US dollars."""
    variants: list[VariantAnswer]
    created_at: dt.datetime
    created_by: str
    """Prefix of the API key, or the operator."""
    started_at: dt.datetime | None
    finished_at: dt.datetime | None


class BulkJobAnswer(BulkJobLine):
    """A bulk job."""

    audience: dict[str, Any]
    winner_rule: dict[str, Any] | None
    """metric, sample_percent and after_seconds."""
    test_group_size: int
    test_group_seconds: int
    abort_limits: dict[str, float]


def line_of(job: BulkJob, figures: JobFigures) -> BulkJobLine:
    """Return the result of a job in a list."""
    return BulkJobLine(**_line(job, figures))


def answer_of(job: BulkJob, figures: JobFigures) -> BulkJobAnswer:
    """Return the answer about a job."""
    names = ("audience", "winner_rule", "test_group_size", "test_group_seconds", "abort_limits")
    own = {name: getattr(job, name) for name in names}
    return BulkJobAnswer(**_line(job, figures), **own)


_COLUMNS = (
    *("id", "name", "state", "state_reason", "state_changed_at", "state_changed_by", "type"),
    *("priority", "template_id", "channels", "rate_per_second", "spread_seconds", "weight"),
    *("ttl_seconds", "metadata", "holdout_percent", "created_at", "created_by", "started_at"),
    *("finished_at", "unique_by"),
)


def _line(job: BulkJob, figures: JobFigures) -> dict[str, Any]:
    return {
        **{name: getattr(job, name) for name in _COLUMNS},
        "delivery": job.spread,
        "scheduled_at": job.starts_at,
        "send_at_local": job.send_at_local or None,
        "winner": job.winner or None,
        "progress": BulkJobProgress.of(figures),
        "funnel": Funnel.of(figures.whole),
        "statuses": dict(figures.whole.statuses),
        "cost_usd": figures.whole.total(Total.COST_MICROS) / 1_000_000,
        "variants": [_variant(each, figures) for each in job.variants],
    }


def _variant(variant: dict[str, Any], figures: JobFigures) -> VariantAnswer:
    counts = figures.variants.get(variant["name"], VariantFigures())
    return VariantAnswer(
        name=variant["name"],
        template_id=variant["template_id"],
        template_variant=variant.get("template_variant") or None,
        percent=variant["percent"],
        funnel=Funnel.of(counts),
        statuses=dict(counts.statuses),
    )
