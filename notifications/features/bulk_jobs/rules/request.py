"""The body of `POST /v1/bulk-jobs`, checked.

Pydantic checks types and ranges; `create` checks references to the database: the template,
the type, the priorities of the producer, saved audiences and topics.
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from notifications.core.rules import request_faults
from notifications.core.rules.bulk_job import UniqueBy
from notifications.core.rules.channels import Spread
from notifications.core.rules.lane import Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.request import (
    MAX_METADATA_BYTES,
    MAX_TTL,
    MAX_VARIABLES_BYTES,
    AskedPriority,
    Instant,
    Name,
    Text,
    check_size,
)
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.texts.variants import NAME as VARIANT_NAME
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.parse import parse as parse_audience
from providers.contract import Channel

PRIORITIES: Final = (Priority.P2, Priority.P3)
"""Priorities of bulk jobs: a job in the lanes of P0 and P1 would delay one-time passwords."""
MAX_AUDIENCE_BYTES: Final = 1024 * 1024
"""Bytes of an audience expression as JSON; larger lists are uploaded."""
MAX_VARIANTS: Final = 8
MAX_RATE: Final = 100_000.0
"""Messages per second."""
MAX_WAIT: Final = dt.timedelta(days=14)
"""Longest time between the sample and the winner, or the test group and the other recipients."""
MAX_SPREAD: Final = dt.timedelta(days=30)
_ALL_PERCENT: Final = 100

_LOCAL = r"^(\d{4}-\d{2}-\d{2}T)?([01]\d|2[0-3]):[0-5]\d$"


def _no_boolean(value: object) -> object:
    """Refuse true and false for a number; pydantic reads them as 1 and 0.

    Raises:
        ValueError: the sentence for the caller.
    """
    if isinstance(value, bool):
        msg = "must be a number"
        raise ValueError(msg)  # noqa: TRY004 - pydantic reports a ValueError at the field
    return value


def _not_blank(text: str) -> str:
    if not text.strip():
        msg = "must not be empty"
        raise ValueError(msg)
    return text.strip()


def _audience(value: dict[str, Any]) -> dict[str, Any]:
    try:
        parse_audience(value)
    except ExpressionError as fault:
        parts = fault.error.pointer.split("/")[1:]
        place = [part.replace("~1", "/").replace("~0", "~") for part in parts]
        raise request_faults.error_at(fault.error.detail, *place) from fault
    return value


def _real_date(local: str) -> str:
    try:
        when = dt.datetime.fromisoformat(local) if "T" in local else None
    except ValueError as error:
        msg = "is not a date of the calendar"
        raise ValueError(msg) from error
    if when is not None and not 1970 <= when.year <= 2200:  # noqa: PLR2004 - they are years
        msg = "must lie between 1970 and 2200"
        raise ValueError(msg)
    return local


WHOLE: Final = BeforeValidator(_no_boolean)
"""Follows the limits of a number; before the limits, the OpenAPI document would lack them."""
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), BeforeValidator(_no_boolean)]
"""A part of the sent messages, such as 0.05."""
SendAtLocal = Annotated[
    Text, StringConstraints(pattern=_LOCAL, max_length=19), AfterValidator(_real_date)
]
"""A wall clock time: `09:00` or `2026-11-27T09:00`."""


class _JobPart(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )


class VariantRequest(_JobPart):
    """A variant of an A/B test."""

    name: Annotated[Name, StringConstraints(max_length=32)]
    """Unique in the job; up to 32 characters."""
    template_id: Name | None = None
    """Omitted: the template of the job."""
    template_variant: Annotated[str, StringConstraints(pattern=VARIANT_NAME)] | None = None
    """The variant of the template's texts; omitted or empty: the base texts."""
    percent: Annotated[int, Field(ge=1, le=99), WHOLE]
    """Share of the recipients; the shares of all variants add up to 100."""


class Metric(StrEnum):
    """Count by which variants are compared, divided by the sent messages of the variant."""

    DELIVERED = "delivered"
    READ = "read"
    """Messages that the recipient opened."""
    CLICKED = "clicked"


class WinnerRequest(_JobPart):
    """Rule for the winner of an A/B test: the best variant of a sample goes to all others."""

    metric: Metric
    sample_percent: Annotated[int, Field(ge=1, le=99), WHOLE]
    """Share of the recipients who get the variants first."""
    after_seconds: Annotated[int, Field(ge=60, le=int(MAX_WAIT.total_seconds())), WHOLE]
    """Time from the last message of the sample to the choice of the winner."""


class TestGroupRequest(_JobPart):
    """The first recipients; all others follow after a wait, unless the job is paused by then."""

    __test__ = False  # pytest takes the name for a class of tests

    size: Annotated[int, Field(ge=1, le=1_000_000), WHOLE]
    """Number of recipients."""
    wait_seconds: Annotated[int, Field(ge=1, le=int(MAX_WAIT.total_seconds())), WHOLE]


class AbortLimits(_JobPart):
    """Shares of the sent messages. The service aborts the job when a share is passed."""

    failed: Share | None = None
    bounced: Share | None = None
    complained: Share | None = None
    """Recipients who reported the message as spam."""
    minimum: Annotated[int, Field(ge=1, le=1_000_000_000), WHOLE] = 100
    """Number of sent messages from which the limits count."""


class BulkJobRequest(_JobPart):
    """A request to send a message to each recipient of an audience."""

    name: Annotated[Text, StringConstraints(max_length=100), AfterValidator(_not_blank)]
    """Name for people, as in lists; not unique."""
    audience: Annotated[dict[str, Any], Field(min_length=1), AfterValidator(_audience)]
    """Audience expression: the recipients, such as `{"everyone": true}`."""
    type: Name
    priority: AskedPriority | None = None
    """P2 or P3. Omitted: the priority of the type."""
    template_id: Name
    """The version published at creation is used for the whole job."""
    variables: dict[Name, Any] = Field(default_factory=dict)
    """Variables of each message. A column of an upload with the same name replaces a value."""
    channels: list[AskedChannel] = Field(default_factory=list, max_length=len(Channel))
    """Channels in order; empty: the order of each recipient."""
    delivery: Spread = Spread.FIRST
    unique_by: UniqueBy = UniqueBy.ADDRESS
    """`address`: of several recipients with the same mailbox, number, device or chat, the first one
    gets the message, and the others count as `same_address`. `recipient`: each recipient gets the
    message."""
    ttl_seconds: Annotated[int, Field(ge=1, le=int(MAX_TTL.total_seconds())), WHOLE] | None = None
    """Life of each message from its planned time. Omitted: the default of the priority."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """An object of at most 4 KiB in every notification of the job."""
    scheduled_at: Instant | None = None
    """Start time; omitted: now."""
    send_at_local: SendAtLocal | None = None
    """Time on the wall clock of each recipient: `09:00` is the next such time, `2026-11-27T09:00`
    is one on a date."""
    rate_per_second: (
        Annotated[
            float, Field(ge=0.001, le=MAX_RATE, allow_inf_nan=False), BeforeValidator(_no_boolean)
        ]
        | None
    ) = None
    """Messages per second at most; omitted: as fast as the lanes deliver. The ceiling of the
    installation (500,000 an hour by default) limits both."""
    spread_seconds: (
        Annotated[int, Field(ge=1, le=int(MAX_SPREAD.total_seconds())), WHOLE] | None
    ) = None
    """The messages are spread evenly over this time; instead of `rate_per_second`."""
    weight: Annotated[int, Field(ge=1, le=100), WHOLE] = 1
    """Share of a lane among the jobs which run in the lane."""
    variants: list[VariantRequest] = Field(default_factory=list, max_length=MAX_VARIANTS)
    """A/B test: at least two variants; empty: each recipient gets the same message."""
    holdout_percent: Annotated[int, Field(ge=0, le=90), WHOLE] = 0
    """Share of the recipients who get no message, for comparison. The shares of the variants
    divide the other recipients."""
    winner: WinnerRequest | None = None
    test_group: TestGroupRequest | None = None
    abort_limits: AbortLimits | None = None

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.priority is not None and self.priority not in PRIORITIES:
            raise request_faults.error_at(priority_fault(self.priority), "priority")
        if self.scheduled_at is not None and self.send_at_local is not None:
            said = "give either scheduled_at or send_at_local, not both"
            raise request_faults.error_at(said, "send_at_local")
        if self.rate_per_second is not None and self.spread_seconds is not None:
            said = "give either rate_per_second or spread_seconds, not both"
            raise request_faults.error_at(said, "spread_seconds")
        if len(set(self.channels)) != len(self.channels):
            raise request_faults.error_at("must not repeat a channel", "channels")
        self._check_variants()
        check_size(self.audience, MAX_AUDIENCE_BYTES, "audience")
        check_size(self.metadata, MAX_METADATA_BYTES, "metadata")
        check_size(self.variables, MAX_VARIABLES_BYTES, "variables")
        return self

    def _check_variants(self) -> None:
        if self.winner is not None and not self.variants:
            raise request_faults.error_at("needs variants to choose from", "winner")
        if not self.variants:
            return
        if len(self.variants) == 1:
            raise request_faults.error_at("must have at least 2 variants, or none", "variants")
        seen = set()
        for position, each in enumerate(self.variants):
            if each.name in seen:
                said = "must differ from the names of the other variants"
                raise request_faults.error_at(said, "variants", position, "name")
            seen.add(each.name)
        total = sum(each.percent for each in self.variants)
        if total != _ALL_PERCENT:
            said = f"percent of all variants must add up to {_ALL_PERCENT}, not {total}"
            raise request_faults.error_at(said, "variants")

    @property
    def template_ids(self) -> frozenset[str]:
        """The templates of the job and of the variants."""
        return frozenset([
            self.template_id,
            *(each.template_id or "" for each in self.variants),
        ]) - {""}


def priority_fault(priority: Priority) -> str:
    """Return the sentence which refuses a priority of a bulk job."""
    allowed = " or ".join(each.name for each in PRIORITIES)
    return f"a bulk job may have priority {allowed}, not {priority.name}"


def parse(body: object) -> BulkJobRequest | Problem:
    """Check a decoded JSON value; a Problem names every wrong place."""
    try:
        return BulkJobRequest.model_validate(body)
    except ValidationError as error:
        return request_faults.invalid(error, BulkJobRequest)
