"""Conversion of answers to values and errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from notify_client import _timing
from notify_client._call import Call
from notify_client.errors import ApiError, UnexpectedAnswer, class_of

T = TypeVar("T")

NOT_MODIFIED: Final = 304
_SUCCESS: Final = 2
NO_CONTENT: Final = 204


class Tagged(NamedTuple, Generic[T]):
    """An object with its ETag, for `if_match` of a later write."""

    value: T
    etag: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers (names in lower case) and body of a response."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """2xx."""
        return self.status // 100 == _SUCCESS

    @property
    def problem(self) -> dict[str, Any]:
        """The problem document; empty without a problem in the answer."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def retry_after(self) -> float | None:
        """Seconds of Retry-After; None if the header is absent or malformed."""
        said = self.headers.get("retry-after", "").strip()
        if said.isascii() and said.isdigit():
            return float(said[:9])
        try:
            at = parsedate_to_datetime(said)
        except (ValueError, OverflowError):
            return None
        aware = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, aware.timestamp() - _timing.wall())

    def value(self, call: Call, *, has: str) -> dict[str, Any]:
        """The JSON object of a success.

        Args:
            call: the request.
            has: a field that shows that this API has answered.

        Raises:
            UnexpectedAnswer: the body has no such object; another server may have answered.
        """
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            self.refuse("the answer is not of this API: check the base URL", call)
        if has not in found:
            self.refuse(f"the answer has no {has}: check the base URL, and proxies", call)
        return found

    def refuse(self, said: str, call: Call) -> NoReturn:
        """Reject a success of another server.

        Raises:
            UnexpectedAnswer: always.
        """
        raise UnexpectedAnswer(self.status, said, call.idempotency_key)

    def error(self, call: Call, *, attempts: int, after_no_answer: bool) -> ApiError:
        """The exception of a refusal."""
        problem = self.problem
        return class_of(self.status, problem)(
            self.status,
            problem,
            retry_after=self.retry_after,
            attempts=attempts,
            after_no_answer=after_no_answer,
            idempotency_key=call.idempotency_key,
        )
