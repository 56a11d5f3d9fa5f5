"""`/v1/analytics`: figures of a producer, from the roll-ups."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NoReturn, TypeAlias

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from pydantic import AliasChoices, Field, WithJsonSchema

from notifications.core import clock
from notifications.core.api.csv_io import CSV, CsvView
from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import ChannelWord, PriorityWord, RequestModel, ResponseModel
from notifications.core.figures import questions
from notifications.core.figures.metrics import METRICS
from notifications.core.figures.questions import Answer, Group, Question, QuestionError
from notifications.core.models import Producer
from notifications.core.rules import csv_lines, rollups
from notifications.core.rules.access import BOTH
from notifications.core.rules.lane import Priority
from notifications.core.rules.problems import FieldError, Kind, Problem, Source
from notifications.core.rules.request import Instant, Text
from notifications.core.rules.rollups import Dimension, Step
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import replica
from providers.contract import Channel

_TOTAL: Final = "total"
_EVERY_PRODUCER: Final = "*"
_DEFAULT_INTERVAL: Final = dt.timedelta(days=1)
_BY_MINUTE_UP_TO: Final = dt.timedelta(hours=3)
_BY_HOUR_UP_TO: Final = dt.timedelta(days=14)
_LONGEST: Final = 64

_MetricName = Annotated[
    Text,
    Field(max_length=_LONGEST),
    WithJsonSchema({"type": "string", "enum": list(METRICS)}),
]
_Name = Annotated[Text, Field(max_length=_LONGEST)]
_Grouping: TypeAlias = Literal[
    "channel",
    "provider",
    "priority",
    "type",
    "template",
    "version",
    "producer",
    "country",
    "reason",
]


class AnalyticsQuery(RequestModel):
    """A question about the figures."""

    metric: _MetricName
    """A count, a rate or a percentile; `docs/analytics.md` explains each metric."""
    by: Annotated[list[_Grouping], Field(max_length=questions.MOST_DIMENSIONS)] = Field(
        default_factory=list
    )
    """Up to two dimensions to group by: the parameter is repeated."""
    since: Instant | None = Field(None, validation_alias=AliasChoices("since", "from"))
    """Start of the interval, rounded down to a bucket; `from` is another name. Without it, a day
    before the end."""
    until: Instant | None = Field(None, validation_alias=AliasChoices("until", "to"))
    """End of the interval, rounded up to a bucket; `to` is another name. Without it, now."""
    step: Literal["minute", "hour", "day", "total"] | None = None
    """Length of a bucket; `total` has no buckets. Without it, minutes up to 3 hours (hours for a
    question about countries), hours up to 14 days, else days."""
    channel: ChannelWord | None = None
    """Only this channel."""
    provider: _Name | None = None
    """Only this provider. Deliveries have none before the first call."""
    priority: PriorityWord | None = None
    """Only this priority."""
    type: _Name | None = None
    """Only this notification type."""
    template: _Name | None = None
    """Only this template."""
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    """Only this version of the template."""
    country: Annotated[str, Field(pattern="^[A-Z]{2}$")] | None = None
    """Only calls to this country (ISO 3166-1 alpha-2): that of the phone number of an SMS; on other
    channels a guess by the recipient's timezone, else by the locale. By minute, in percentiles, and
    together with provider, priority, type, template or version, SMS alone have a country."""
    reason: _Name | None = None
    """Only this reason, or outcome of a call."""
    producer: _Name | None = None
    """The name of a producer, or `*` for all. Without it, the producer of the key."""
    format: Literal["json", "csv"] | None = None
    """`csv` answers with a CSV file, as `Accept: text/csv` does."""


class AnalyticsGroup(ResponseModel):
    """The values of a group."""

    group: dict[str, str | int]
    """The value of each dimension of `by`; empty without `by`."""
    total: float | None
    """The value for the whole interval."""
    values: list[float | None]
    """A value for each of `buckets`; null where a rate or percentile has no data."""


class AnalyticsAnswer(ResponseModel):
    """Figures of an interval."""

    metric: str
    unit: Literal["deliveries", "calls", "USD", "ratio", "ms"]
    since: dt.datetime
    until: dt.datetime
    step: Literal["minute", "hour", "day", "total"]
    buckets: list[dt.datetime]
    """Start of each bucket in UTC; empty for `total`."""
    groups: list[AnalyticsGroup]
    """The groups, the highest total first."""


@operation(
    "GET v1/analytics",
    "Read a metric over time",
    Access(Scope.ANALYTICS_READ, BOTH, "view_notification"),
    AnalyticsQuery,
    answers={(200, "application/json"): AnalyticsAnswer, (200, CSV): OpenApiTypes.STR},
    tag="Analytics",
    parts={"producer": Access(Scope.OPERATIONS_READ, BOTH, "view_notification")},
    examples={
        "minimal": Example("Sent deliveries of the last day, by hour", query={"metric": "sent"}),
        "usual": Example(
            "The p95 from acceptance to arrival of P1 SMS, for each provider",
            query={
                "metric": "accept_to_delivered_p95",
                "by": "provider",
                "step": "total",
                "channel": "sms",
                "priority": "P1",
            },
        ),
        "csv": Example(
            "Failures by reason as a CSV file",
            query={"metric": "failed", "by": ["channel", "reason"], "format": "csv"},
        ),
    },
    base=CsvView,
)
def get_analytics(call: Call, query: AnalyticsQuery) -> AnalyticsAnswer | HttpResponse:
    """Answer from counts that the service keeps by minute, hour and day.

    The figures are those of the key's producer and mode, seconds old. Minutes are kept for
    3 days, hours for 100 days, days for 2 years. Buckets are in UTC. An answer has at most
    10,000 values; 422 for more.
    """
    try:
        question = _question(call, query)
        answer = replica.read(lambda: questions.ask(question))
    except QuestionError as error:
        _refuse(error.about, str(error))
    labels = _Labels(answer)
    if query.format == "csv" or call.request.accepted_renderer.media_type == CSV:
        return HttpResponse(_csv(answer, labels), content_type=f"{CSV}; charset=utf-8")
    return _to_answer(answer, labels)


def _question(call: Call, query: AnalyticsQuery) -> Question:
    """Return the question about the producers that the key may see.

    Raises:
        QuestionError: as `Question`.
    """
    now = clock.now()
    until = query.until or now
    since = query.since or until - _DEFAULT_INTERVAL
    filters: dict[Dimension, int | str] = {Dimension.MODE: int(call.mode)}
    for dimension in Dimension:
        value = getattr(query, dimension.value, None)
        if value is not None and dimension is not Dimension.PRODUCER:
            filters[dimension] = value if isinstance(value, str) else int(value)
    if query.producer != _EVERY_PRODUCER:
        filters[Dimension.PRODUCER] = _producer_id(call, query.producer)
    return Question(
        metric=query.metric,
        by=tuple(Dimension(each) for each in query.by),
        start=since,
        end=until,
        step=_step(query, until - since),
        filters=filters,
        now=now,
    )


def _producer_id(call: Call, name: str | None) -> int:
    if name is None:
        return call.key.producer_id
    found = Producer.objects.filter(name=name).values_list("id", flat=True).first()
    if found is None:
        _refuse("producer", f"there is no producer {name!r}")
    return found


def _step(query: AnalyticsQuery, interval: dt.timedelta) -> Step | None:
    if query.step is not None:
        return None if query.step == _TOTAL else Step(query.step)
    if interval <= _BY_MINUTE_UP_TO and not (query.country or Dimension.COUNTRY in query.by):
        return Step.MINUTE
    return Step.HOUR if interval <= _BY_HOUR_UP_TO else Step.DAY


def _refuse(about: str, said: str) -> NoReturn:
    error = FieldError(f"/{about}", said, Source.QUERY)
    raise_problem(Problem(Kind.INVALID, f"{about}: {said}", (error,)))


class _Labels:
    """The values of dimensions as the API spells them."""

    def __init__(self, answer: Answer) -> None:
        self._by = answer.question.by
        self._producers = self._producer_names(answer)

    def of(self, group: Group) -> dict[str, str | int]:
        """Return the dimensions of a group with their values."""
        pairs = zip(self._by, group.key, strict=True)
        return {dimension.value: self._label(dimension, value) for dimension, value in pairs}

    def _producer_names(self, answer: Answer) -> Mapping[int | str, str]:
        if Dimension.PRODUCER not in self._by:
            return {}
        place = self._by.index(Dimension.PRODUCER)
        ids = {each.key[place] for each in answer.groups}
        return dict(Producer.objects.filter(id__in=ids).values_list("id", "name"))

    def _label(self, dimension: Dimension, value: int | str) -> int | str:
        match dimension:
            case Dimension.CHANNEL:
                return Channel(int(value)).label
            case Dimension.PRIORITY:
                return Priority(int(value)).name
            case Dimension.PRODUCER:
                return self._producers.get(value, rollups.OTHER)
            case _:
                return value


def _to_answer(answer: Answer, labels: _Labels) -> AnalyticsAnswer:
    question = answer.question
    fields: dict[str, Any] = {
        "metric": question.metric,
        "unit": answer.metric.unit,
        "since": question.start,
        "until": question.end,
        "step": question.step or _TOTAL,
        "buckets": answer.buckets,
        "groups": [
            AnalyticsGroup(group=labels.of(each), total=each.total, values=each.values)
            for each in answer.groups
        ],
    }
    return AnalyticsAnswer(**fields)


def _csv(answer: Answer, labels: _Labels) -> str:
    """Return a line for each bucket and group; an empty cell for a missing value."""
    names = [each.value for each in answer.question.by]
    head: list[object] = [*(["bucket"] if answer.buckets else []), *names, answer.question.metric]
    return "".join(csv_lines.safe_line(line) for line in [head, *_lines(answer, labels)])


def _lines(answer: Answer, labels: _Labels) -> Iterator[list[object]]:
    for group in answer.groups:
        values = list(labels.of(group).values())
        if not answer.buckets:
            yield [*values, group.total]
        for bucket, value in zip(answer.buckets, group.values, strict=True):
            yield [bucket.isoformat().replace("+00:00", "Z"), *values, value]
