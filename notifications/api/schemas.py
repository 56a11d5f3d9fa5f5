"""The words and answers of the API, once.

The same types check what comes in, spell what goes out, and write the schema.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    WithJsonSchema,
)

from notifications.rules.lane import Mode, Priority
from notifications.rules.problems import Kind, Source
from notifications.rules.states import Status
from providers.contract import Channel

Member = TypeVar("Member")

CHANNELS: Final = {channel.label: channel for channel in Channel}
MODES: Final = {mode.label: mode for mode in Mode}
PRIORITIES: Final = {priority.name: priority for priority in Priority}
STATUSES: Final = {status.label: status for status in Status}


def _reader(words: Mapping[str, Member]) -> BeforeValidator:
    """Takes a member as it is, or by its word."""

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


# A row has numbers where callers write words: these take both. What callers send has AskedChannel.
ChannelWord = Annotated[Channel, _reader(CHANNELS), _speller(CHANNELS), _schema(CHANNELS)]
ChannelLabel = Annotated[str, _reader({label: label for label in CHANNELS}), _schema(CHANNELS)]
"""A channel where it names a field of an object."""
ModeWord = Annotated[Mode, _reader(MODES), _speller(MODES), _schema(MODES)]
PriorityWord = Annotated[Priority, _reader(PRIORITIES), _speller(PRIORITIES), _schema(PRIORITIES)]
StatusWord = Annotated[Status, _reader(STATUSES), _speller(STATUSES), _schema(STATUSES)]


class Asked(BaseModel):
    """What a caller sends. Nothing unknown in it: a mistyped field would be ignored in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Answer(BaseModel):
    """What the API says; read from a row, a dataclass or a dict."""

    model_config = ConfigDict(from_attributes=True, frozen=True, use_attribute_docstrings=True)

    def wire(self) -> dict[str, Any]:
        """As JSON values."""
        return self.model_dump(mode="json")


_CODES: Final = [*(kind.value for kind in Kind), "internal-error"]
Code = Annotated[str, WithJsonSchema({"type": "string", "enum": _CODES})]


class FieldProblem(Answer):
    """One place of the request and what is wrong there."""

    source: Source
    """The part of the request."""
    pointer: str
    """RFC 6901 JSON pointer into that part; empty for the whole of it."""
    detail: str


class ProblemDetails(Answer):
    """RFC 9457 problem details."""

    type: str
    """`urn:notify:problem:` and the code: the same in every installation."""
    code: Code
    """What a client switches on. Later versions of the service may know further codes."""
    title: str
    status: int
    detail: str
    """For people; the words can change."""
    help: str | None = None
    """The URL of a page that says what to do."""
    instance: str | None = None
    """The id of the request in the service's logs: `X-Request-Id`."""
    errors: list[FieldProblem] = []
    """At most a hundred."""


class DeliveryBrief(Answer):
    """A delivery in one line."""

    delivery_id: UUID
    channel: ChannelWord
    status: StatusWord


class SkippedChannel(Answer):
    """A channel that `delivery: first` does not use."""

    channel: ChannelWord
    reason: str
    """`not_needed`: an earlier channel is used. Otherwise the reason for which it cannot be."""


class RequestWarning(Answer):
    """What was accepted and does perhaps not mean what it says."""

    pointer: str
    """RFC 6901 JSON pointer into the request's body."""
    detail: str


class FoundRecipient(Answer):
    """Who has the addresses of `to`."""

    user_id: str
    registered: bool
    """True: registered by this request."""


class NotificationAccepted(Answer):
    """It is stored, and survives a crash of every process."""

    notification_id: UUID
    status: StatusWord
    priority: PriorityWord
    deliveries: list[DeliveryBrief]
    created_at: dt.datetime
    scheduled_at: dt.datetime | None = None
    """When it will leave; absent where no time was asked for."""
    timezone: str | None = None
    """By which `send_at_local` was read; absent where it was not asked for."""
    timezone_known: bool | None = None
    """False: nobody knows the recipient's, and it was read as UTC."""
    skipped: list[SkippedChannel] | None = None
    """With `delivery: first`, the other channels that were asked for or tried; absent: none."""
    warnings: list[RequestWarning] | None = None
    """What to look at; absent: nothing."""
    recipient: FoundRecipient | None = None
    """Of a request with `to`; absent otherwise."""


class BatchResult(Answer):
    """What became of one item of a batch."""

    result: Literal["accepted", "duplicate", "rejected"]
    notification: NotificationAccepted | None = None
    """Accepted: its answer. Duplicate: the answer that the first one had."""
    problem: ProblemDetails | None = None
    """Rejected: why."""


class BatchSummary(Answer):
    """How many items had each result."""

    accepted: int
    duplicate: int
    rejected: int


class BatchAccepted(Answer):
    """One result for each item, in order; look at `summary.rejected`."""

    results: list[BatchResult]
    summary: BatchSummary


class NotificationLine(Answer):
    """A notification in a list."""

    notification_id: UUID
    user_id: str
    type: str
    priority: PriorityWord
    status: StatusWord
    created_at: dt.datetime
    scheduled_at: dt.datetime | None
    deliveries: list[DeliveryBrief]


class AttemptDetail(Answer):
    """One provider call."""

    number: int
    provider: str
    outcome: str
    code: str
    detail: str
    started_at: dt.datetime
    latency_ms: int
    segments: int | None
    """Of an SMS: how many it takes by our count. The provider bills by its own."""
    http_status: int | None
    """Of the provider's answer; null where no HTTP answer came."""
    retry_after_s: int | None
    """Seconds that the provider asked to wait; null where it did not."""
    signed_with: str
    """Web Push: the public VAPID key of the call; empty elsewhere."""


class DeliveryDetail(DeliveryBrief):
    """A delivery with its provider calls."""

    reason: str
    provider: str
    provider_message_id: str
    due_at: dt.datetime | None
    sent_at: dt.datetime | None
    delivered_at: dt.datetime | None
    attempts: list[AttemptDetail]


class EventLine(Answer):
    """One line of the timeline."""

    seq: int
    at: dt.datetime
    delivery_id: UUID | None
    status: StatusWord | None
    reason: str
    detail: str


class NotificationDetail(Answer):
    """A notification and all that became of it."""

    notification_id: UUID
    user_id: str
    type: str
    category: str
    priority: PriorityWord
    mode: ModeWord
    status: StatusWord
    template_id: str | None
    template_version: int | None
    variables: dict[str, Any]
    """Sensitive ones are masked."""
    content: dict[str, Any] | None
    channels: list[ChannelWord]
    delivery: str
    collapse_key: str
    ordering_key: str
    idempotency_key: str
    metadata: dict[str, Any]
    created_at: dt.datetime
    scheduled_at: dt.datetime | None
    timezone: str | None
    """By which `send_at_local` was read; null where it was not asked for."""
    timezone_known: bool | None
    """False: nobody knew the recipient's, and it was read as UTC."""
    expires_at: dt.datetime
    cancelled_at: dt.datetime | None
    deliveries: list[DeliveryDetail]
    timeline: list[EventLine]


class NotificationCancelled(Answer):
    """What was stopped, and where everything stands now: what is not stopped had left."""

    notification_id: UUID
    status: StatusWord
    stopped: list[UUID]
    deliveries: list[DeliveryBrief]
