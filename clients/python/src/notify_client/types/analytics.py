"""Analytics: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypedDict

from notify_client.types.shared import (
    Channel,
    Priority,
)


class AnalyticsAnswer(TypedDict):
    """Figures of an interval."""

    metric: str
    unit: Literal["deliveries", "calls", "USD", "ratio", "ms"]
    since: str
    until: str
    step: Literal["minute", "hour", "day", "total"]
    buckets: list[str]
    """Start of each bucket in UTC; empty for `total`."""

    groups: list[AnalyticsGroup]
    """The groups, the highest total first."""


class AnalyticsGroup(TypedDict):
    """The values of a group."""

    group: dict[str, str | int]
    """The value of each dimension of `by`; empty without `by`."""

    total: float | None
    """The value for the whole interval."""

    values: list[float | None]
    """A value for each of `buckets`; null where a rate or percentile has no data."""


class BudgetAnswer(TypedDict):
    """A budget of a day. Amounts are US dollars."""

    id: int
    producer: str | None
    """Name of the producer; null: all producers together."""

    channel: Channel | None
    """The channel; null: all channels together."""

    amount: float
    """The most that the messages of a day may cost."""

    is_hard: bool
    """Above a hard budget, P2 and P3 wait. Another budget raises alerts alone."""

    alert_percent: int
    """Share of the amount at which the first alert of a day is raised."""

    day: str
    """The current day in the timezone of the budget."""

    timezone: str
    spent: float
    """Cost of the day's calls with an outcome."""

    reserved: float
    """Estimated cost of calls that are under way."""

    left: float
    """The money of the day that is neither spent nor reserved."""

    month: float
    """Cost of the UTC month so far."""

    forecast: float
    """Forecast of the cost of the whole month: the month so far, plus for each further day the
    mean of the same weekdays of the last 28 days, or of the last 7 days with less history.
    """


class CostLineAnswer(TypedDict):
    """The cost of a group."""

    name: str | None
    """Producer, country, channel, provider or name of the bulk job; null: unknown.

    The country of an e-mail is a guess by the recipient's timezone or locale.
    """

    bulk_job_id: str | None
    """Id of the bulk job; null for other groups."""

    cost_usd: float


class CostsAnswer(TypedDict):
    """The costs of live messages in a month, in US dollars."""

    month: str
    by: Literal["producer", "country", "channel", "provider", "bulk_job"]
    cost_usd: float
    """Cost of all messages of the month so far."""

    forecast_usd: float | None
    """Forecast of the whole month: the cost so far, plus for each further day the mean of the
    same weekdays of the last 28 days, or of the last 7 days with less history. Null: the
    month is over.
    """

    lines: list[CostLineAnswer]
    """The groups, the highest cost first, at most 1,000."""


class GetAnalyticsQuery(TypedDict, total=False):
    """Parameters of `get_analytics`."""

    by: Sequence[
        Literal[
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
    ]
    """Up to two dimensions to group by: the parameter is repeated."""

    channel: Channel
    """Only this channel."""

    country: str
    """Only calls to this country (ISO 3166-1 alpha-2): that of the phone number of an SMS; on
    other channels a guess by the recipient's timezone, else by the locale. By minute, in
    percentiles, and together with provider, priority, type, template or version, SMS alone
    have a country.
    """

    format: Literal["json", "csv"]
    """`csv` answers with a CSV file, as `Accept: text/csv` does."""

    metric: Literal[
        "accepted",
        "sent",
        "delivered",
        "read",
        "clicked",
        "failed",
        "bounced",
        "expired",
        "suppressed",
        "cancelled",
        "unknown",
        "unconfirmed",
        "retried",
        "replayed",
        "calls",
        "failed_calls",
        "sent_after_retry",
        "failed_after_retry",
        "cost",
        "delivery_rate",
        "failure_rate",
        "read_rate",
        "click_rate",
        "call_failure_rate",
        "retry_success_rate",
        "accept_to_call_p50",
        "accept_to_call_p95",
        "accept_to_call_p99",
        "call_to_answer_p50",
        "call_to_answer_p95",
        "call_to_answer_p99",
        "accept_to_delivered_p50",
        "accept_to_delivered_p95",
        "accept_to_delivered_p99",
    ]
    """A count, a rate or a percentile; `docs/analytics.md` explains each metric."""

    priority: Priority
    """Only this priority."""

    producer: str
    """The name of a producer, or `*` for all. Without it, the producer of the key."""

    provider: str
    """Only this provider. Deliveries have none before the first call."""

    reason: str
    """Only this reason, or outcome of a call."""

    since: str | datetime
    """Start of the interval, rounded down to a bucket; `from` is another name.

    Without it, a day before the end.
    """

    step: Literal["minute", "hour", "day", "total"]
    """Length of a bucket; `total` has no buckets.

    Without it, minutes up to 3 hours (hours for a question about countries), hours up to 14
    days, else days.
    """

    template: str
    """Only this template."""

    type: str
    """Only this notification type."""

    until: str | datetime
    """End of the interval, rounded up to a bucket; `to` is another name. Without it, now."""

    version: int
    """Only this version of the template."""


class GetCostsQuery(TypedDict, total=False):
    """Parameters of `get_costs`."""

    by: Literal["producer", "country", "channel", "provider", "bulk_job"]
    """The groups. Default: `"producer"`."""

    format: Literal["json", "csv"]
    """`csv` answers with a CSV file, as `Accept: text/csv` does."""

    month: str
    """A UTC month such as `2026-11`. Without it, the present month."""
