"""Exceptions of calls. Every class derives from `NotifyError`; no message has the key or the body.

Exceptions can be pickled for other processes (Celery, multiprocessing).
"""

from __future__ import annotations

from typing import Any, Final, TypedDict


class FieldProblem(TypedDict):
    """A field of the request with the error."""

    source: str
    """`body`, `query` or `header`."""
    pointer: str
    """RFC 6901 JSON pointer into that part; empty for the whole of it."""
    detail: str


class NotifyError(Exception):
    """A call failed. The subclass tells if the service may have executed the call."""

    idempotency_key: str | None = None
    """The key of the call, given or generated; None: the call takes none, or it is in the body.

    A repeat of the same call with this key is carried out once.
    """


class NoAnswer(NotifyError):
    """The last attempt got no answer: no connection, a timeout, a broken answer.

    The service may have executed the call. Repeat the call with the same `idempotency_key`.
    """

    def __init__(self, reason: str, attempts: int, idempotency_key: str | None = None) -> None:
        """Store the kind of the failure and the number of attempts."""
        super().__init__(reason, attempts, idempotency_key)
        self.reason: Final = reason
        self.attempts: Final = attempts
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        return f"no answer after {self.attempts} attempt(s): {self.reason}"


class UnexpectedAnswer(NotifyError):
    """A success from another server: a wrong base URL, a login page, a proxy."""

    def __init__(self, status: int, said: str, idempotency_key: str | None = None) -> None:
        """Store the unexpected part of the answer."""
        super().__init__(status, said, idempotency_key)
        self.status: Final = status
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.args[1]}"


class ApiError(NotifyError):
    """The service refused the call, usually with an RFC 9457 problem."""

    def __init__(
        self,
        status: int,
        problem: dict[str, Any],
        *,
        retry_after: float | None = None,
        attempts: int = 1,
        after_no_answer: bool = False,
        idempotency_key: str | None = None,
    ) -> None:
        """Read the members of the problem; missing and malformed members are empty."""
        super().__init__(status, problem)
        self.status: Final = status
        self.problem: Final = problem
        """As it came; empty where the answer was no problem document."""
        self.type: Final = _text(problem, "type")
        """A stable URI, like `urn:notify:problem:invalid`."""
        self.code: Final = _text(problem, "code")
        """The last part of `type`: stable, for `if`."""
        self.title: Final = _text(problem, "title")
        self.detail: Final = _text(problem, "detail")
        self.help: Final = _text(problem, "help")
        """The URL of a page that says what to do."""
        self.request_id: Final = _text(problem, "instance")
        """The id of the request in the service's logs."""
        self.errors: Final[list[FieldProblem]] = _errors(problem)
        self.retry_after = retry_after
        """Seconds after which the same call would be taken; None: the answer does not say."""
        self.attempts = attempts
        self.after_no_answer = after_no_answer
        """An earlier attempt got no answer and may have been carried out: a 404 to a DELETE, or a
        412 to a write with `if_match`, can be the trace of its success."""
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        places = "; ".join(
            f"{each['source']} {each['pointer'] or '/'}: {each['detail']}"
            for each in self.errors[:5]
        )
        said = f"{self.status} {self.code or self.title}: {self.detail}".rstrip(": ")
        return f"{said} ({places})" if places else said


class BadRequest(ApiError):
    """400: the body is not one JSON object."""


class Unauthenticated(ApiError):
    """401: the key is unknown, expired or revoked."""


class Forbidden(ApiError):
    """403: the key lacks a scope, or the producer lacks a permission."""


class NotFound(ApiError):
    """404: the key's producer and mode have no such object."""


class Conflict(ApiError):
    """409: the object's state forbids this, or a call with the same idempotency key still runs."""


class PreconditionFailed(ApiError):
    """412: the object changed after the read, or exists already."""


class Invalid(ApiError):
    """422: `errors` lists the invalid fields of the request."""


class UnknownRecipient(Invalid):
    """422: the mode has no recipient with this user id."""


class IdempotencyKeyReused(Invalid):
    """422: the idempotency key belongs to another request."""


class RateLimited(ApiError):
    """429: over the producer's rate limit, or the lane of P3 is too far behind."""


class ServiceError(ApiError):
    """5xx: the service, or a proxy in front of it, could not take the call."""


_BY_STATUS: Final = {
    400: BadRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    422: Invalid,
    429: RateLimited,
}
_BY_CODE: Final = {
    "unknown-recipient": UnknownRecipient,
    "idempotency-key-reused": IdempotencyKeyReused,
}
_FIRST_OF_THE_SERVER: Final = 500


def class_of(status: int, problem: dict[str, Any]) -> type[ApiError]:
    """The class for an answer."""
    if status >= _FIRST_OF_THE_SERVER:
        return ServiceError
    return _BY_CODE.get(_text(problem, "code")) or _BY_STATUS.get(status, ApiError)


def _text(problem: dict[str, Any], name: str) -> str:
    value = problem.get(name)
    return value if isinstance(value, str) else ""


def _errors(problem: dict[str, Any]) -> list[FieldProblem]:
    found = problem.get("errors")
    each = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [
        FieldProblem(
            source=_text(one, "source"), pointer=_text(one, "pointer"), detail=_text(one, "detail")
        )
        for one in each
    ]
