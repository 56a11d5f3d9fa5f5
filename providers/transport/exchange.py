"""What goes into the transport and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Literal

from providers.transport.guard import AddressPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request."""

    url: str = field(repr=False)
    headers: Sequence[str] = field(repr=False)
    """Whole lines, `Name: value`; a line break in one makes the request REFUSED."""
    body: bytes = field(default=b"", repr=False)
    method: Literal["POST", "GET"] = "POST"
    """GET sends no body."""
    wanted_header: str = ""
    """Name, in lower case, of the one header of the answer that is worth keeping. Most vendors say
    everything in the body, and each header line costs a call back into Python."""
    guard: AddressPolicy | None = None
    """Set for a URL that a stranger gave us; None for one from our own settings."""
    urgent: bool = False
    """Goes before those that are not, where requests wait for a slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The other side answered."""

    status: int
    body: bytes = field(repr=False)
    """At most `easy.BODY_LIMIT_BYTES`."""
    elapsed: timedelta
    """From the start of the request; the wait for a free slot is not counted."""
    retry_after: timedelta | None = None
    """From the Retry-After header, whether it came as seconds or as a date; libcurl caps it at
    six hours."""
    header: str = ""
    """Value of the request's `wanted_header`; empty when it did not come."""
    complete: bool = True
    """False: the status arrived, but the body was too long or was cut off."""

    @property
    def is_success(self) -> bool:
        """Whether the status is a 2xx."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class FailureKind(StrEnum):
    """What the caller may conclude from having no answer."""

    NEVER_SENT = "never_sent"
    """No byte of the request left: trying again cannot make a second message."""
    NO_ANSWER = "no_answer"
    """At least a part of it left: it may or may not have been acted on."""
    REFUSED = "refused"
    """We would not send it: a forbidden address or a malformed request. Trying again changes
    nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """No answer came."""

    kind: FailureKind
    code: str
    """`resolve`, `connect`, `tls`, `not_started`, `timeout`, `cut`, `forbidden_address` or
    `malformed_request`."""
    elapsed: timedelta
    """From the start of the request; 0 where it did not start."""


Reply = Response | Failure
