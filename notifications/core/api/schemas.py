"""Types and responses shared by the modules of the API.

The same types validate requests, serialize responses and generate the OpenAPI schemas.
"""

from __future__ import annotations

import datetime as dt
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.prices import MICROS
from notifications.core.rules.problems import Kind, Source
from notifications.core.rules.states import Status
from notifications.core.rules.times.stages import Stage, TimeSource
from notifications.core.rules.withdrawals import WithdrawalState
from providers.contract import Channel

Member = TypeVar("Member")

CHANNELS: Final = {channel.label: channel for channel in Channel}
MODES: Final = {mode.label: mode for mode in Mode}
PRIORITIES: Final = {priority.name: priority for priority in Priority}
STATUSES: Final = {status.label: status for status in Status}


def _reader(words: Mapping[str, Member]) -> BeforeValidator:
    """Return a validator which accepts a member or the word for a member."""

    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        if value not in words:
            msg = f"must be one of {', '.join(words)}"
            raise ValueError(msg)
        return words[value]

    return BeforeValidator(read)


def _schema(words: Mapping[str, Member]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(words)})


def _speller(words: Mapping[str, Member]) -> PlainSerializer:
    by_member: dict[Member, str] = {member: word for word, member in words.items()}
    spell: Callable[[Member], str] = by_member.__getitem__
    return PlainSerializer(spell, return_type=str)


# These types accept a stored number or a word. AskedChannel, for requests, takes words only.
ChannelWord = Annotated[Channel, _reader(CHANNELS), _speller(CHANNELS), _schema(CHANNELS)]
ChannelLabel = Annotated[str, _reader({label: label for label in CHANNELS}), _schema(CHANNELS)]
"""A channel used as the key of an object."""
ModeWord = Annotated[Mode, _reader(MODES), _speller(MODES), _schema(MODES)]
PriorityWord = Annotated[Priority, _reader(PRIORITIES), _speller(PRIORITIES), _schema(PRIORITIES)]
StatusWord = Annotated[Status, _reader(STATUSES), _speller(STATUSES), _schema(STATUSES)]


class RequestModel(BaseModel):
    """Base class of request bodies.

    Unknown fields are an error, because a typo would be ignored.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_booleans_as_numbers(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - any JSON value
        """Refuse true and false for a whole number; pydantic reads them as 1 and 0.

        Raises:
            ValueError: the sentence for the caller.
        """
        if isinstance(value, bool) and info.field_name is not None:
            kinds = _kinds(cls.model_fields[info.field_name].annotation)
            if int in kinds and bool not in kinds:
                msg = "must be a whole number"
                raise ValueError(msg)
        return value


def _kinds(annotation: object) -> set[object]:
    """Return the types of an annotation, without unions and metadata."""
    arguments = typing.get_args(annotation)
    return set().union(*map(_kinds, arguments)) if arguments else {annotation}


class ResponseModel(BaseModel):
    """Base class of responses, built from a model instance, a dataclass or a dict."""

    model_config = ConfigDict(from_attributes=True, frozen=True, use_attribute_docstrings=True)

    def to_json(self) -> dict[str, Any]:
        """Return the response as JSON values."""
        return self.model_dump(mode="json")


_CODES: Final = [*(kind.value for kind in Kind), "internal-error"]
Code = Annotated[str, WithJsonSchema({"type": "string", "enum": _CODES})]


class FieldProblem(ResponseModel):
    """An invalid place of the request."""

    source: Source
    """The part of the request."""
    pointer: str
    """RFC 6901 JSON pointer into the part; empty for the whole part."""
    detail: str


class ProblemDetails(ResponseModel):
    """RFC 9457 problem details."""

    type: str
    """`urn:notify:problem:` followed by the code; the same in every installation."""
    code: Code
    """The code for programs. Later versions of the service may add codes."""
    title: str
    status: int
    detail: str
    """Text for people; the wording can change."""
    help: str | None = None
    """The URL of a page with a remedy."""
    instance: str | None = None
    """The id of the request in the service's logs: `X-Request-Id`."""
    retry_after: int | None = None
    """Seconds to wait before a repeat, as in the header `Retry-After`."""
    errors: list[FieldProblem] = []
    """At most 100."""


class DeliveryBrief(ResponseModel):
    """A delivery in short form."""

    delivery_id: UUID
    channel: ChannelWord
    status: StatusWord


class SkippedChannel(ResponseModel):
    """A channel which `delivery: first` does not use."""

    channel: ChannelWord
    reason: str
    """`not_needed`: an earlier channel is used. Otherwise the reason for which the channel is
    unusable."""


class RequestWarning(ResponseModel):
    """A probable mistake in an accepted request."""

    pointer: str
    """RFC 6901 JSON pointer into the request's body."""
    detail: str


class FoundRecipient(ResponseModel):
    """The recipient found or registered by the addresses in `to`."""

    user_id: str
    registered: bool
    """True: registered by this request."""


class NotificationAccepted(ResponseModel):
    """The notification is stored durably."""

    notification_id: UUID
    status: StatusWord
    priority: PriorityWord
    deliveries: list[DeliveryBrief]
    created_at: dt.datetime
    scheduled_at: dt.datetime | None = None
    """Planned time of sending; absent without a requested time."""
    timezone: str | None = None
    """Timezone used for `send_at_local`; absent without `send_at_local`."""
    timezone_known: bool | None = None
    """False: the recipient has no timezone, so UTC was used."""
    skipped: list[SkippedChannel] | None = None
    """With `delivery: first`, the requested or tried channels which are not used; absent: none."""
    warnings: list[RequestWarning] | None = None
    """Probable mistakes in the request; absent: none."""
    recipient: FoundRecipient | None = None
    """Present only for a request with `to`."""


class BatchResult(ResponseModel):
    """The result of an item of a batch."""

    result: Literal["accepted", "duplicate", "rejected"]
    notification: NotificationAccepted | None = None
    """Accepted: the response for the item. Duplicate: the response of the first call."""
    problem: ProblemDetails | None = None
    """Rejected: the problem."""


class BatchSummary(ResponseModel):
    """The number of items by result."""

    accepted: int
    duplicate: int
    rejected: int


class BatchAccepted(ResponseModel):
    """A result for every item, in order; check `summary.rejected`."""

    results: list[BatchResult]
    summary: BatchSummary


class NotificationLine(ResponseModel):
    """A notification in a list."""

    notification_id: UUID
    user_id: str
    type: str
    priority: PriorityWord
    status: StatusWord
    created_at: dt.datetime
    scheduled_at: dt.datetime | None
    deliveries: list[DeliveryBrief]


_Dollars = Annotated[
    float | None, BeforeValidator(lambda micros: None if micros is None else micros / MICROS)
]
"""US dollars, read from microdollars."""


class AttemptDetail(ResponseModel):
    """A provider call."""

    number: int
    provider: str
    outcome: str
    code: str
    detail: str
    started_at: dt.datetime
    latency_ms: int
    segments: int | None
    """Segments of an SMS by the provider's count, or by the service's count if the provider told
    none."""
    cost_usd: _Dollars = Field(validation_alias="final_micros")
    """Cost of an accepted call in US dollars; null for another outcome without a price by the
    provider, and on a free channel."""
    cost_basis: Literal["estimated", "settled"] | None
    """`estimated`: by the price list; `settled`: by the provider's receipt. Null without a cost."""
    http_status: int | None
    """HTTP status of the provider's response; null without an HTTP response."""
    retry_after_s: int | None
    """Wait requested by the provider, in seconds; null without a request."""
    signed_with: str
    """Web Push: the public VAPID key of the call; empty on other channels."""
    country: Annotated[str | None, BeforeValidator(lambda code: code or None)]
    """Country of the phone number of an SMS (ISO 3166-1 alpha-2); on other channels a guess by the
    recipient's timezone, else by the locale. Null: unknown."""


class StageLine(ResponseModel):
    """A stage of a delivery, with the time since the request was accepted."""

    stage: Stage
    at: dt.datetime
    seconds_since_accept: float
    source: TimeSource
    """Clock of `at`: `receipt` is the time given in the receipt, used if the time is possible."""


class DeliveryDetail(DeliveryBrief):
    """A delivery with all provider calls."""

    reason: str
    provider: str
    provider_message_id: str
    due_at: dt.datetime | None
    sent_at: dt.datetime | None
    delivered_at: dt.datetime | None
    stages: list[StageLine]
    """The stages that the delivery has reached, in order."""
    attempts: list[AttemptDetail]


class EventLine(ResponseModel):
    """An event of the timeline."""

    seq: int
    """Gives the order. An event with the status `sending` has the number of the event beside it."""
    at: dt.datetime
    delivery_id: UUID | None
    status: StatusWord | None
    reason: str
    detail: str
    occurred_at: dt.datetime | None
    """Receipts: the time given by the provider or the app, unchecked. `at` is the time at which the
    service stored the receipt."""


class AttachedFile(ResponseModel):
    """An attachment of a notification or of a template."""

    id: UUID
    name: str
    type: str
    size: int
    """Bytes of the content."""
    sha256: str
    inline_id: str | None


class NotificationDetail(ResponseModel):
    """A notification with deliveries, attempts and timeline."""

    notification_id: UUID
    user_id: str
    type: str
    category: str
    priority: PriorityWord
    mode: ModeWord
    status: StatusWord
    template_id: str | None
    template_version: int | None
    template_variant: str | None
    """Variant of the template's texts, of a bulk job; null: the base texts."""
    variables: dict[str, Any]
    """Values of sensitive variables are masked."""
    content: dict[str, Any] | None
    attachments: list[AttachedFile]
    """Of the e-mail: those of the request, then those of the template."""
    channels: list[ChannelWord]
    delivery: str
    fallback_chain: bool
    collapse_key: str
    ordering_key: str
    idempotency_key: str
    metadata: dict[str, Any]
    created_at: dt.datetime
    scheduled_at: dt.datetime | None
    timezone: str | None
    """Timezone used for `send_at_local`; null without `send_at_local`."""
    timezone_known: bool | None
    """False: the recipient had no timezone, so UTC was used."""
    expires_at: dt.datetime
    cancelled_at: dt.datetime | None
    deliveries: list[DeliveryDetail]
    timeline: list[EventLine]


class DeliveryWithdrawn(DeliveryBrief):
    """A delivery and the state of its withdrawal."""

    withdrawal: WithdrawalState
    """`withdrawing`: the device is told to remove the message. `withdrawn`: the provider accepted
    the removal before. `not_sent`: the message does not leave. `replaced`: a later message with the
    same collapse key has replaced the message. `unsupported`: the channel or the provider cannot
    remove a message, such as an SMS or an e-mail."""
    detail: str
    """The state as a sentence."""


class NotificationWithdrawn(ResponseModel):
    """The notification is cancelled; the state of the withdrawal of each delivery."""

    notification_id: UUID
    status: StatusWord
    deliveries: list[DeliveryWithdrawn]


class NotificationCancelled(ResponseModel):
    """The stopped deliveries, and the current status of all deliveries.

    A delivery missing from `stopped` and `in_flight` had already been sent or finished.
    """

    notification_id: UUID
    status: StatusWord
    stopped: list[UUID]
    in_flight: list[UUID]
    """Deliveries in the hands of a worker, whose provider call may have begun: the message may
    still arrive, and a webhook has the result."""
    deliveries: list[DeliveryBrief]
