"""Request errors as RFC 9457 problem details.

A problem's `type` and `code` are stable, so producers may switch on both. The texts may change.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any


class Kind(StrEnum):
    """The problems that the API can answer; the value is a problem's `code`."""

    MALFORMED = "malformed"
    """The body is no JSON, or no JSON object."""
    UNAUTHENTICATED = "unauthenticated"
    """No key, an unknown key, or one that has expired or was revoked."""
    FORBIDDEN = "forbidden"
    """The key lacks a scope, or the producer may not do this."""
    NOT_FOUND = "not-found"
    """No such object, or one that belongs to another producer."""
    METHOD_NOT_ALLOWED = "method-not-allowed"
    """The path is right, the method is not."""
    NOT_ACCEPTABLE = "not-acceptable"
    """The client accepts nothing that this path can answer."""
    IN_PROGRESS = "in-progress"
    """A request with the same idempotency key is still running."""
    CONFLICT = "conflict"
    """The object is in a state that forbids this."""
    PRECONDITION_FAILED = "precondition-failed"
    """If-Match or If-None-Match does not hold: somebody else has changed the object."""
    TOO_LARGE = "too-large"
    """The body is larger than this path takes."""
    UNSUPPORTED_MEDIA_TYPE = "unsupported-media-type"
    """The body is not JSON by its content type."""
    INVALID = "invalid"
    """A field is missing, of the wrong type, or out of range; `errors` says which."""
    UNKNOWN_RECIPIENT = "unknown-recipient"
    """There is no recipient with this user id in this mode."""
    KEY_REUSED = "idempotency-key-reused"
    """The idempotency key was used before with another body."""
    MISDIRECTED = "misdirected"
    """Another process of the service answers this path."""
    RATE_LIMITED = "rate-limited"
    """Over the producer's rate limit."""
    LANE_BEHIND = "lane-behind"
    """Too many P3 deliveries wait in the lane; P0, P1 and P2 never get this problem."""
    SMS_PUMPING_ADDRESS = "sms-pumping-address"
    """Too many P0 and P1 SMS to one number."""
    SMS_PUMPING_PREFIX = "sms-pumping-prefix"
    """Too many P0 and P1 SMS to numbers with the same first digits."""
    SMS_PUMPING_COUNTRY = "sms-pumping-country"
    """Too many P0 and P1 SMS to one country, beside the usual traffic."""
    COUNTRY_NOT_ALLOWED = "country-not-allowed"
    """The producer may not send SMS to the country of the number."""
    UNAVAILABLE = "unavailable"
    """Nothing could be stored; nothing was."""

    @property
    def uri(self) -> str:
        """A problem's `type`: the same in every installation."""
        return f"urn:notify:problem:{self.value}"

    @property
    def status(self) -> HTTPStatus:
        """Return the HTTP status of the kind."""
        return _STATUS[self]


_STATUS = {
    Kind.MALFORMED: HTTPStatus.BAD_REQUEST,
    Kind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Kind.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Kind.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Kind.METHOD_NOT_ALLOWED: HTTPStatus.METHOD_NOT_ALLOWED,
    Kind.NOT_ACCEPTABLE: HTTPStatus.NOT_ACCEPTABLE,
    Kind.IN_PROGRESS: HTTPStatus.CONFLICT,
    Kind.CONFLICT: HTTPStatus.CONFLICT,
    Kind.PRECONDITION_FAILED: HTTPStatus.PRECONDITION_FAILED,
    Kind.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Kind.UNSUPPORTED_MEDIA_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    Kind.INVALID: HTTPStatus.UNPROCESSABLE_ENTITY,
    Kind.UNKNOWN_RECIPIENT: HTTPStatus.UNPROCESSABLE_ENTITY,
    Kind.KEY_REUSED: HTTPStatus.UNPROCESSABLE_ENTITY,
    Kind.MISDIRECTED: HTTPStatus.MISDIRECTED_REQUEST,
    Kind.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.LANE_BEHIND: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.SMS_PUMPING_ADDRESS: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.SMS_PUMPING_PREFIX: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.SMS_PUMPING_COUNTRY: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.COUNTRY_NOT_ALLOWED: HTTPStatus.FORBIDDEN,
    Kind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}


POSTED_AGAIN = frozenset({
    Kind.LANE_BEHIND,
    Kind.SMS_PUMPING_ADDRESS,
    Kind.SMS_PUMPING_PREFIX,
    Kind.SMS_PUMPING_COUNTRY,
})
"""Refusals of a valid request that end with time: the same post can be accepted later."""
TEMPORARY = POSTED_AGAIN | {Kind.IN_PROGRESS, Kind.RATE_LIMITED, Kind.UNAVAILABLE}
"""All refusals that end with time: a caller asks again, and gives nothing up."""


class Source(StrEnum):
    """The part of a request that an error is in."""

    BODY = "body"
    QUERY = "query"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class FieldError:
    """A fault at a place in the request."""

    pointer: str
    """RFC 6901 JSON pointer into the body, the query or the headers; empty for the whole of it."""
    detail: str
    """The fault, and the accepted value."""
    source: Source = Source.BODY


@dataclass(frozen=True, slots=True)
class Problem:
    """The refusal of a request, or of an item of a batch."""

    kind: Kind
    detail: str
    errors: tuple[FieldError, ...] = ()
    retry_after: dt.timedelta | None = None
    challenge: str = ""
    """Parameters of the `WWW-Authenticate: Bearer` header (RFC 6750)."""

    @classmethod
    def from_stored(cls, kept: Mapping[str, Any]) -> Problem:
        """Build a problem from the stored fields of any release; a field may be missing.

        Args:
            kept: `kind`, `detail` and `errors`: a list of lists of pointer and detail.
        """
        word = kept.get("kind", "")
        kind = Kind(word) if word in frozenset(Kind) else Kind.INVALID
        errors = tuple(FieldError(*pair[:2]) for pair in kept.get("errors", ()) if len(pair) > 1)
        return cls(kind, str(kept.get("detail", "")), errors)


class Refused(Exception):
    """A stage refuses a request; the API answers with `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem
