"""What a producer may ask for: the body of `POST /v1/notifications`, checked.

Pydantic checks types and ranges; what needs the database (does the recipient exist, does the
template?) is checked in `pipeline.accept`. Fields that are not understood are refused: a typo in
`fallback_chain` must not be an OTP that never falls back.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any, Final, Self

import orjson
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from notifications.rules.channels import Spread
from notifications.rules.lane import Priority
from notifications.rules.language.variables import UNSUBSCRIBE_URL
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.rules.sensitive import Sensitive
from providers.contract import Channel

MAX_METADATA_BYTES: Final = 4096
MAX_VARIABLES_BYTES: Final = 64 * 1024
"""All variables of one notification together: sixteen times what a push may carry."""
MAX_TTL: Final = dt.timedelta(days=60)
"""`scheduled_at + ttl` lies at most this far ahead: every open row is younger than retention."""
MAX_BATCH: Final = 1000
MOST_FAULTS: Final = 100
"""Faults that one answer lists: each takes more bytes than the fault took in the request."""
_EXPONENT: Final = re.compile(rb"\de\+?\d")
"""Only large floats are written with one."""
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""A NUL in JSON; behind an odd number of backslashes the same letters are text."""

MAX_KEY: Final = 255
"""Characters of an idempotency key."""
RESERVED_KEYS: Final = "$"
"""The idempotency keys that the service makes for itself begin with this; no producer's does."""

_NOT_YET: Final = frozenset({"fallback_chain", "webhook_url"})


_CHANNELS: Final = {channel.label: channel for channel in Channel}


def _no_nul(text: object) -> object:
    if isinstance(text, str) and "\x00" in text:
        msg = "must not contain the NUL character"
        raise ValueError(msg)
    return text


def _channel(value: object) -> object:
    if isinstance(value, str) and value in _CHANNELS:
        return _CHANNELS[value]
    msg = f"must be one of {', '.join(channel.label for channel in Channel)}"
    raise ValueError(msg)


def _priority(value: object) -> object:
    if isinstance(value, str) and value in Priority.__members__:
        return Priority[value]
    msg = f"must be one of {', '.join(Priority.__members__)}"
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


def _written(value: object) -> object:
    # A number could be seconds or milliseconds since 1970.
    if isinstance(value, int | float):
        msg = "must be written like 2026-11-21T09:00:00Z"
        raise ValueError(msg)  # noqa: TRY004 - pydantic makes no field's error of a TypeError
    return value


Instant = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_within_reach)]
Text = Annotated[str, BeforeValidator(_no_nul)]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:\-]+$"),
    BeforeValidator(_no_nul),
]
UserId = Annotated[str, StringConstraints(min_length=1, max_length=128), BeforeValidator(_no_nul)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY), BeforeValidator(_no_nul)]


LocalTime = Annotated[
    str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), BeforeValidator(_no_nul)
]
"""Of the recipient's day, like 09:00."""
AskedPriority = Annotated[
    Priority,
    BeforeValidator(_priority),
    WithJsonSchema({"type": "string", "enum": list(Priority.__members__)}),
]
AskedChannel = Annotated[
    Channel,
    BeforeValidator(_channel),
    WithJsonSchema({"type": "string", "enum": [channel.label for channel in Channel]}),
]


class Content(BaseModel):
    """Raw text, for producers that are allowed to send it instead of a template."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[Text, Field(max_length=998)] = ""
    body: Annotated[Text, Field(min_length=1, max_length=100_000)]
    html: Annotated[Text, Field(max_length=500_000)] = ""


class NotificationRequest(BaseModel):
    """One notification as a producer asks for it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    user_id: UserId
    type: Name
    priority: AskedPriority | None = None
    template_id: Name | None = None
    variables: Sensitive[Annotated[dict[Name, Any], AfterValidator(_without_ours)]] = Field(
        default_factory=_no_variables
    )
    """All of them count as sensitive until the template version says which of them are."""
    content: Content | None = None
    channels: list[AskedChannel] = Field(default_factory=list, max_length=len(Channel))
    delivery: Spread = Spread.FIRST
    scheduled_at: Instant | None = None
    send_at_local: LocalTime | None = None
    ttl_seconds: Annotated[int, Field(ge=1, le=int(MAX_TTL.total_seconds()))] | None = None
    collapse_key: Annotated[Text, StringConstraints(min_length=1, max_length=64)] | None = None
    ordering_key: Key | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    idempotency_key: Annotated[Key, AfterValidator(_not_reserved)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_is_not_built(cls, value: Any) -> Any:  # noqa: ANN401 - whatever JSON held
        if isinstance(value, dict) and not _NOT_YET.isdisjoint(value):
            for field in sorted(_NOT_YET):
                if value.get(field):
                    msg = f"{field} is not supported by this version; leave it out"
                    raise ValueError(msg)
            # `"fallback_chain": false` asks for nothing and is in every producer's example.
            return {key: item for key, item in value.items() if key not in _NOT_YET}
        return value

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if (self.template_id is None) == (self.content is None):
            msg = "give either template_id or content"
            raise ValueError(msg)
        if self.scheduled_at is not None and self.send_at_local is not None:
            msg = "give either scheduled_at or send_at_local"
            raise ValueError(msg)
        if len(set(self.channels)) != len(self.channels):
            msg = "channels must not repeat"
            raise ValueError(msg)
        if self.metadata:
            check_size("metadata", self.metadata, MAX_METADATA_BYTES)
        if variables := self.variables.reveal():
            check_size("variables", variables, MAX_VARIABLES_BYTES)
        return self


def parse(body: object) -> NotificationRequest | Problem:
    """Check one decoded JSON value; a Problem says every place that is wrong."""
    try:
        return NotificationRequest.model_validate(body)
    except ValidationError as error:
        return invalid(error)


def own(name: str, body: object) -> NotificationRequest | Problem:
    """A request that the service makes itself, under an idempotency key of its own.

    Args:
        name: tells this request from all others of the service.
        body: as a producer would send it, without an idempotency key.
    """
    made = parse(body)
    if isinstance(made, Problem):
        return made
    return made.model_copy(update={"idempotency_key": f"{RESERVED_KEYS}{name}"})


def canonical(wanted: NotificationRequest) -> Sensitive[bytes]:
    """The same bytes for the same request, whatever the order of its fields; without its key."""
    body = {name: value for name, value in wanted.__dict__.items() if name != "idempotency_key"}
    return Sensitive(orjson.dumps(body, option=orjson.OPT_SORT_KEYS, default=_plain))


def _plain(value: Any) -> Any:  # noqa: ANN401 - orjson's protocol
    return value.reveal() if isinstance(value, Sensitive) else value.model_dump()


def invalid(error: ValidationError) -> Problem:
    """Translate pydantic's findings into a problem with JSON pointers."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    errors = tuple(
        FieldError(_pointer(each["loc"]), each["msg"].removeprefix("Value error, "))
        for each in found[:MOST_FAULTS]
    )
    first = f"{errors[0].pointer or 'the body'}: {errors[0].detail}"
    if len(found) > MOST_FAULTS:
        first = f"{first} (the first of {len(found)} faults; {MOST_FAULTS} are listed)"
    return Problem(Kind.INVALID, first, errors)


def _pointer(location: tuple[int | str, ...]) -> str:
    # Postgres keeps problems and stores no NUL.
    parts = (str(part).replace("\x00", "\ufffd") for part in location)
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def check_size(field: str, value: dict[str, Any], limit: int) -> None:
    """Check that an object is plain JSON and takes at most `limit` bytes.

    Raises:
        ValueError: in words for the caller.
    """
    try:
        encoded = orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError) as error:
        msg = f"{field} must be plain JSON: {error}"
        raise ValueError(msg) from error
    if len(encoded) > limit:
        msg = f"{field} may take {limit} bytes as JSON, not {len(encoded)}"
        raise ValueError(msg)
    if _NUL.search(encoded):
        msg = f"{field} must not contain the NUL character"
        raise ValueError(msg)
    if _EXPONENT.search(encoded) and _has_rounded_integer(value):
        msg = f"{field} must not contain integers of more than 64 bits; send them as text"
        raise ValueError(msg)


def _has_rounded_integer(value: object) -> bool:
    """Whether an integer too large for 64 bits was read: the JSON decoder makes a float of it."""
    if isinstance(value, float):
        return abs(value) >= 2**64 and value.is_integer()
    if isinstance(value, dict):
        return any(map(_has_rounded_integer, value.values()))
    return isinstance(value, list) and any(map(_has_rounded_integer, value))
