"""Requests and replies of the transport."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import timedelta
from enum import StrEnum
from typing import Final, Literal

from providers.records import record
from providers.transport.guard import AddressPolicy

BODY_LIMIT_BYTES: Final = 64 * 1024
"""Vendors' answers are shorter; a hostile endpoint might answer without end."""

_SUCCESS: Final = range(200, 300)


@record
class Request:
    """An HTTP request."""

    url: str = field(repr=False)
    headers: Sequence[str] = field(repr=False)
    """Whole lines, `Name: value`; a line break in a line makes the request REFUSED."""
    body: bytes = field(default=b"", repr=False)
    method: Literal["POST", "GET"] = "POST"
    """GET sends no body."""
    wanted_header: str = ""
    """Name, in lower case, of the only header of the answer to keep. Most vendors answer in the
    body, and each header line costs a call back into Python."""
    guard: AddressPolicy | None = None
    """Set for a URL from an untrusted source; None for a URL from the settings."""
    body_limit_bytes: int = BODY_LIMIT_BYTES
    """Longest body of the answer; a longer body is cut off."""
    urgent: bool = False
    """Urgent requests go before others while requests wait for a slot."""


@record
class Response:
    """The server answered."""

    status: int
    body: bytes = field(repr=False)
    """At most the request's `body_limit_bytes`."""
    elapsed: timedelta
    """Time from the start of the request; the wait for a free slot is not counted."""
    own_delay: timedelta = timedelta(0)
    """Part of `elapsed` in which the request waited for this process, and the answer, if it waited
    longer than `easy.SHORT_SECONDS`."""
    retry_after: timedelta | None = None
    """Wait of the Retry-After header, in seconds or as a date; libcurl limits the wait to six
    hours."""
    header: str = ""
    """Value of the request's `wanted_header`; empty if the answer lacks the header."""
    complete: bool = True
    """False: the status arrived, but the body was too long or was cut off."""
    is_too_long: bool = False
    """The body is longer than the request's `body_limit_bytes`."""

    @property
    def is_success(self) -> bool:
        """Return True for a 2xx status."""
        return self.status in _SUCCESS


class FailureKind(StrEnum):
    """The conclusion from a missing answer."""

    NEVER_SENT = "never_sent"
    """No byte of the request left: a retry cannot make a second message."""
    NO_ANSWER = "no_answer"
    """A part of the request left: the server may have acted on the request."""
    REFUSED = "refused"
    """The transport refused the request: a forbidden address or a malformed request. A retry
    changes nothing."""


@record
class Failure:
    """No answer came."""

    kind: FailureKind
    code: str
    """`resolve`, `connect`, `tls`, `not_started`, `timeout`, `cut`, `forbidden_address` or
    `malformed_request`. `not_started`: no slot became free in time, the process can open no further
    socket, or the process stood still before the first byte."""
    elapsed: timedelta
    """Time from the start of the request; 0 if the request did not start."""


Reply = Response | Failure
