"""The body of `POST /v1/events`: a producer's report about a recipient."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from notifications.core.rules import request_faults
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Instant, Key, Name, UserId, check_size

MAX_PROPERTIES_BYTES: Final = 4096
MAX_AGE: Final = dt.timedelta(days=7)
"""An event may have occurred this long ago."""
MAX_AHEAD: Final = dt.timedelta(minutes=5)
"""The producer's clock may be ahead by this time."""


class CustomEventRequest(BaseModel):
    """An event of a recipient."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True
    )

    name: Name
    """Name of the event, such as `order_paid`."""
    user_id: UserId
    properties: dict[Name, Any] = Field(default_factory=dict)
    """An object of at most 4 KiB. A series uses the values as variables and in conditions."""
    occurred_at: Instant | None = None
    """Omitted: now. At most 7 days ago and 5 minutes ahead. Series act by the time at which the
    service stores the event."""
    idempotency_key: Key | None = None
    """A second event with the key of a stored event is a duplicate, as long as events are kept."""

    @model_validator(mode="after")
    def _check_properties(self) -> Self:
        if self.properties:
            check_size(self.properties, MAX_PROPERTIES_BYTES, "properties")
        return self


def parse(body: object, *, now: dt.datetime) -> CustomEventRequest | Problem:
    """Check a decoded JSON value; a Problem names every wrong place."""
    try:
        event = CustomEventRequest.model_validate(body)
    except ValidationError as error:
        return request_faults.invalid(error, CustomEventRequest)
    if event.occurred_at is not None and not (
        now - MAX_AGE <= event.occurred_at <= now + MAX_AHEAD
    ):
        said = f"must lie at most {MAX_AGE.days} days ago and 5 minutes ahead"
        error_at = FieldError("/occurred_at", said)
        return Problem(Kind.INVALID, f"/occurred_at: {said}", (error_at,))
    return event
