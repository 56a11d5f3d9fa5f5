"""The body of `POST /v1/notifications`, checked.

Pydantic checks types and ranges; `intake.validation` checks references to the database. Unknown
fields are refused: a typo in `fallback_chain` must not be an OTP that never falls back.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Self

import orjson
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from notifications.core.rules import attachments as attached
from notifications.core.rules import in_app_fields, request_faults
from notifications.core.rules.channels import Spread
from notifications.core.rules.in_app import MAX_ACTIONS, InAppPart
from notifications.core.rules.in_app_fields import LONGEST_LIFE, MAX_DATA_BYTES, ContentAction, Url
from notifications.core.rules.lane import Priority
from notifications.core.rules.language.variables import UNSUBSCRIBE_URL
from notifications.core.rules.problems import FieldError, Problem
from notifications.core.rules.recipient import To
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.sensitive import Sensitive
from providers.contract import Channel

MAX_METADATA_BYTES: Final = 4096
MAX_VARIABLES_BYTES: Final = 64 * 1024
"""All variables of one notification together."""
MAX_TTL: Final = dt.timedelta(days=60)
"""`scheduled_at + ttl` lies at most this far ahead, so every open row is younger than retention."""
MAX_BATCH: Final = 1000
_MOST_LEVELS: Final = 250
_PRIORITIES: Final = dict(Priority.__members__)
_EXPONENT: Final = re.compile(rb"\de\+?\d")
"""Only large floats are written with one."""
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""A NUL in JSON; behind an odd number of backslashes the same letters are text."""

MAX_KEY: Final = 255
"""Characters of an idempotency key."""
RESERVED_KEYS: Final = "$"
"""The idempotency keys that the service makes for itself begin with this; no producer's does."""
DIGEST_KEYS: Final = f"{RESERVED_KEYS}digest-"
"""The idempotency keys of digests begin with this."""
_LATER_FIELDS: Final = (
    *("to", "fallback_chain", "webhook_url", "inbox_expires_in_seconds", "inbox_data"),
    "attachments",
)


def _no_boolean(value: object) -> object:
    """Refuse true and false for a whole number; pydantic reads them as 1 and 0.

    Raises:
        ValueError: the sentence for the caller.
    """
    if isinstance(value, bool):
        msg = "must be a whole number"
        raise ValueError(msg)  # noqa: TRY004 - pydantic reports a ValueError at the field
    return value


def _no_nul(text: object) -> object:
    if isinstance(text, str) and "\x00" in text:
        msg = "must not contain the NUL character"
        raise ValueError(msg)
    return text


def _priority(value: object) -> object:
    if isinstance(value, str) and value in _PRIORITIES:
        return _PRIORITIES[value]
    msg = f"must be one of {', '.join(_PRIORITIES)}"
    raise ValueError(msg)


def _without_ours(variables: dict[str, Any]) -> dict[str, Any]:
    if UNSUBSCRIBE_URL in variables:
        msg = f"must not hold {UNSUBSCRIBE_URL}: each e-mail gets its own"
        raise ValueError(msg)
    return variables


def _not_reserved(key: str) -> str:
    if key.startswith(RESERVED_KEYS):
        msg = f"must not begin with {RESERVED_KEYS}: such keys are reserved for the service"
        raise ValueError(msg)
    return key


def _no_variables() -> Sensitive[dict[str, Any]]:
    return Sensitive({})


def _within_reach(instant: dt.datetime) -> dt.datetime:
    # Postgres takes no year or offset that Python does, and Python cannot move year 1 or 9999.
    if not 1970 <= instant.year <= 2200:  # noqa: PLR2004 - they are years
        msg = "must lie between 1970 and 2200"
        raise ValueError(msg)
    return instant.astimezone(dt.UTC)


def written_instant(value: object) -> object:
    """Check that an instant is a text.

    Raises:
        ValueError: the instant is a number.
    """
    # A number could be seconds or milliseconds since 1970.
    if isinstance(value, int | float):
        raise ValueError(request_faults.INSTANT)  # noqa: TRY004 - pydantic makes no field's error of a TypeError
    return value


Instant = Annotated[AwareDatetime, BeforeValidator(written_instant), AfterValidator(_within_reach)]
Text = Annotated[str, BeforeValidator(_no_nul)]
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:\-]+$")
]
UserId = Annotated[str, StringConstraints(min_length=1, max_length=128), BeforeValidator(_no_nul)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY), BeforeValidator(_no_nul)]


LocalTime = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
"""Time of the recipient's day, such as 09:00."""
AskedPriority = Annotated[
    Priority,
    BeforeValidator(_priority),
    WithJsonSchema({"type": "string", "enum": list(_PRIORITIES)}),
]


class Content(BaseModel):
    """Raw text instead of a template, for producers with that permission."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    title: Annotated[Text, Field(max_length=998)] = ""
    """The title of a push or in-app message, the subject of an e-mail; an SMS has none."""
    body: Annotated[Text, Field(min_length=1, max_length=100_000)]
    """The text of the message; of an e-mail the plain text."""
    html: Annotated[Text, Field(max_length=500_000)] = ""
    """The HTML of an e-mail; other channels ignore it."""
    url: Url = ""
    """In-app and push: the link of the message: an https URL, a path, or a URL of an allowed app
    scheme. A push carries the link as `data.url`."""
    image_url: Url = ""
    """In-app and push: an https URL or a path. A push carries it as `data.image_url`."""
    actions: list[ContentAction] = Field(default_factory=list, max_length=MAX_ACTIONS)
    """In-app: the buttons of the message."""

    @property
    def part(self) -> InAppPart:
        """Link, image and actions of an in-app message."""
        return in_app_fields.part_of(self.url, self.image_url, self.actions)

    @model_validator(mode="after")
    def _check_part(self) -> Self:
        in_app_fields.check_structure(self.part)
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return in_app_fields.without_empty(write(self))


_NO_RECIPIENT: Final = "give either user_id or to"
_NO_TEXT: Final = "give either template_id or content"


class NotificationRequest(BaseModel):
    """A notification as requested by a producer."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        json_schema_extra={"anyOf": [{"required": ["user_id"]}, {"required": ["to"]}]},
    )

    user_id: UserId | None = None
    """The producers' name of a registered recipient; or give `to`."""
    to: To | None = None
    """A recipient by address, who is registered in the same call if nobody has it yet."""
    type: Name
    """The kind of the notification, such as `ORDER_READY`. A configured type has a priority and a
    category; another name needs `priority`."""
    priority: AskedPriority | None = None
    """`P0` for one-time passwords to `P3` for marketing; omitted: the priority of the type."""
    template_id: Name | None = None
    """The name of a published template; or give `content`."""
    variables: Sensitive[Annotated[dict[Name, Any], AfterValidator(_without_ours)]] = Field(
        default_factory=_no_variables
    )
    """All of them count as sensitive until the template version says which of them are."""
    content: Content | None = None
    """The text itself, from a producer with that permission; or give `template_id`."""
    attachments: attached.RequestedAttachments = Field(default_factory=list)
    """Uploaded files for the e-mail; other channels leave without them."""
    channels: list[AskedChannel] = Field(default_factory=list, max_length=len(Channel))
    """The channels to try, in order; omitted: the order of the recipient."""
    delivery: Spread = Spread.FIRST
    """`first`: the first channel that the recipient allows and can be reached on. `all`: each of
    the channels."""
    fallback_chain: bool = False
    """True: the next channel follows when one fails for good, or is not confirmed in its window."""
    scheduled_at: Instant | None = None
    """The instant at which the notification leaves, with its offset; a past instant is now."""
    send_at_local: LocalTime | None = None
    """The time of the recipient's day at which the notification leaves, such as `09:00`; instead of
    `scheduled_at`."""
    ttl_seconds: (
        Annotated[int, Field(ge=1, le=int(MAX_TTL.total_seconds())), BeforeValidator(_no_boolean)]
        | None
    ) = None
    """The time to live: what has not left when it ends, counted from `scheduled_at` or the
    acceptance, is `expired`; omitted: the time of the priority."""
    collapse_key: Annotated[Text, StringConstraints(min_length=1, max_length=64)] | None = None
    """Messages with the same key are a group: a device shows the newest push, and the inbox the
    newest message."""
    inbox_expires_in_seconds: (
        Annotated[int, Field(ge=1, le=LONGEST_LIFE), BeforeValidator(_no_boolean)] | None
    ) = None
    """Seconds for which the inbox shows the in-app message, from its delivery; omitted: for the
    retention time of inboxes. `ttl_seconds` ends the delivery and does not shorten this time."""
    inbox_data: dict[str, Any] = Field(default_factory=dict)
    """An object for the recipient's app, at most 4 KiB: the `data` of the in-app message. The app
    never gets `metadata`."""
    ordering_key: Key | None = None
    """Deliveries with the same key leave one at a time, in the order of their acceptance."""
    webhook_url: Annotated[Text, Field(max_length=2048)] | None = None
    """An https URL that learns of the status changes of this notification."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """An object of the producer, at most 4 KiB, such as an order number: answers and webhooks have
    it, and lists filter by it."""
    idempotency_key: Annotated[Key, AfterValidator(_not_reserved)] | None = None
    """A notification with the key of an earlier one is not sent: the answer has the earlier one."""

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        self._check_alternatives()
        if len(set(self.channels)) != len(self.channels):
            raise request_faults.error_at("must not repeat a channel", "channels")
        if self.fallback_chain:
            self._check_chain()
        if self.metadata:
            check_size(self.metadata, MAX_METADATA_BYTES, "metadata")
        if self.inbox_data:
            check_size(self.inbox_data, MAX_DATA_BYTES, "inbox_data")
        if variables := self.variables.reveal():
            check_size(variables, MAX_VARIABLES_BYTES, "variables")
        return self

    def _check_alternatives(self) -> None:
        if self.user_id is None and self.to is None:
            raise request_faults.error_at(_NO_RECIPIENT, "user_id")
        if self.to is not None:
            self._check_addresses(self.to)
        if self.template_id is None and self.content is None:
            raise request_faults.error_at(_NO_TEXT, "template_id")
        if self.template_id is not None and self.content is not None:
            raise request_faults.error_at("give either template_id or content, not both", "content")
        if self.scheduled_at is not None and self.send_at_local is not None:
            said = "give either scheduled_at or send_at_local, not both"
            raise request_faults.error_at(said, "send_at_local")

    def _check_chain(self) -> None:
        if self.delivery is Spread.ALL:
            said = "needs delivery first: delivery all uses each channel at once"
            raise request_faults.error_at(said, "fallback_chain")
        if len(self.channels) == 1:
            said = "needs a second channel in channels"
            raise request_faults.error_at(said, "fallback_chain")
        if self.ordering_key is not None:
            said = (
                "cannot be combined with ordering_key: a fallback channel could arrive out of order"
            )
            raise request_faults.error_at(said, "fallback_chain")

    def _check_addresses(self, to: To) -> None:
        if self.user_id is not None:
            raise request_faults.error_at("give either user_id or to, not both", "to")
        for position, channel in enumerate(self.channels):
            if channel not in to.addresses:
                said = f"to has no address for {channel.label}"
                raise request_faults.error_at(said, "channels", position)

    @property
    def channels_in_order(self) -> Sequence[Channel]:
        """The channels that the request names, in order; empty: the recipient's order counts."""
        return self.channels or (() if self.to is None else tuple(self.to.addresses))


def parse(body: object) -> NotificationRequest | Problem:
    """Check a decoded JSON value; a Problem names every wrong place."""
    try:
        return NotificationRequest.model_validate(body)
    except ValidationError as error:
        return request_faults.invalid(error, NotificationRequest, absent=_absent(body))


def _absent(body: object) -> Iterator[FieldError]:
    """Yield the pairs of fields of which a body has neither; pydantic names the first pair only."""
    if not isinstance(body, dict):
        return
    if body.get("user_id") is None and body.get("to") is None:
        yield FieldError("/user_id", _NO_RECIPIENT)
    if body.get("template_id") is None and body.get("content") is None:
        yield FieldError("/template_id", _NO_TEXT)


def own(name: str, body: object) -> NotificationRequest | Problem:
    """Build a request of the service, under an idempotency key reserved for the service.

    Args:
        name: unique name of the request among the requests of the service.
        body: as sent by a producer, without an idempotency key.
    """
    made = parse(body)
    if isinstance(made, Problem):
        return made
    return made.model_copy(update={"idempotency_key": f"{RESERVED_KEYS}{name}"})


def canonical(wanted: NotificationRequest) -> Sensitive[bytes]:
    """Return equal bytes for equal requests, for any field order; without the idempotency key."""
    body = {**wanted.__dict__, "variables": wanted.variables.reveal()}
    del body["idempotency_key"]
    for name in _LATER_FIELDS:
        if not body[name] and body[name] != "":  # as releases without the field wrote the body
            del body[name]
    return Sensitive(orjson.dumps(body, option=orjson.OPT_SORT_KEYS, default=_plain))


def _plain(value: BaseModel) -> dict[str, Any]:
    return value.model_dump()


def check_size(value: dict[str, Any], limit: int, *place: str) -> None:
    """Check that an object is plain JSON of at most `limit` bytes.

    Args:
        value: the object.
        limit: bytes of the JSON text.
        place: the names from the validator's field to the object.

    Raises:
        error_at: the fault as a sentence for the caller.
    """
    if fault := size_fault(value, limit):
        raise request_faults.error_at(fault, *place)


def size_fault(value: dict[str, Any], limit: int) -> str:
    """Return why an object is no plain JSON of at most `limit` bytes; empty if it is."""
    try:
        encoded = orjson.dumps(value)
        if len(encoded) > 2 * _MOST_LEVELS:  # a level takes two brackets
            orjson.dumps([[[[value]]]])  # levels that a response or a webhook adds around a value
    except (TypeError, orjson.JSONEncodeError):
        return f"must be plain JSON that nests at most {_MOST_LEVELS} levels deep"
    if len(encoded) > limit:
        return f"may take {limit} bytes as JSON, not {len(encoded)}"
    if b"\\u0000" in encoded and _NUL.search(encoded):
        return "must not contain the NUL character"
    if _EXPONENT.search(encoded) and _has_rounded_integer(value):
        return "must not contain integers of more than 64 bits; send them as text"
    return ""


def _has_rounded_integer(value: object) -> bool:
    """Return True if a value has an integer beyond 64 bits, which the decoder reads as a float."""
    if isinstance(value, float):
        return not -(2**63) < value < 2**64 and value.is_integer()
    if isinstance(value, dict):
        return any(map(_has_rounded_integer, value.values()))
    return isinstance(value, list) and any(map(_has_rounded_integer, value))
