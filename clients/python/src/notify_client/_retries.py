"""Retries: the decision about a further attempt and its delay, without I/O.

The client retries calls without an answer and after 429, 502, 503, 504 and 409 `in-progress` (an
earlier attempt with the same key still runs). All attempts send the same bytes with the same
idempotency key. A wait which would end after the call's time does not begin.

A call whose repeat has a second effect (`Call.is_repeatable`) ends with the first attempt that the
service may have executed: without an answer over a connection, or with a 502 or 504 of a proxy.
"""

from __future__ import annotations

import math
import ssl
from dataclasses import dataclass
from typing import Final

import httpx

from notify_client import _timing
from notify_client._answer import NOT_MODIFIED, Answer
from notify_client._call import Call
from notify_client.errors import NoAnswer

_FIRST_WAIT: Final = 0.25
_LONGEST_WAIT: Final = 8.0
_LEAST_ATTEMPT: Final = 0.05
"""Seconds: an attempt that has less is not begun."""
_AGAIN: Final = frozenset({429, 502, 503, 504})
_OF_A_PROXY: Final = frozenset({502, 504})
"""Of these, the proxy may have passed the request on."""
_CONFLICT: Final = 409
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""Failures before a connection: no byte of the request left."""
_NEVER: Final = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)
"""Failures that the same request has each time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits of a call, in seconds."""

    attempt: float
    """Seconds of one attempt."""
    total: float
    """Seconds of a call with all its attempts and waits; 0: one attempt alone."""

    def __post_init__(self) -> None:
        """Check both limits.

        Raises:
            ValueError: a limit is out of range or not finite.
        """
        if not (math.isfinite(self.attempt) and self.attempt > 0):
            raise ValueError("timeout must be a number of seconds above 0")
        if not (math.isfinite(self.total) and self.total >= 0):
            raise ValueError("total_timeout must be a number of seconds, or 0 for one attempt")


class Attempts:
    """The attempts of one call."""

    def __init__(self, call: Call, limits: Limits) -> None:
        """Start the call's time."""
        self._call = call
        self._limits = limits
        self._end = _timing.monotonic() + limits.total
        self._count = 0
        self._unanswered = False

    def begin(self) -> float:
        """Count an attempt; returns its timeout in seconds."""
        self._count += 1
        if self._count == 1:
            return min(self._limits.attempt, self._limits.total or self._limits.attempt)
        return min(self._limits.attempt, max(_LEAST_ATTEMPT, self._end - _timing.monotonic()))

    def after_no_answer(self, error: httpx.HTTPError) -> float:
        """Return the seconds until the next attempt.

        Raises:
            NoAnswer: no attempt is left.
        """
        self._unanswered = self._unanswered or not isinstance(error, _UNSENT)
        may_repeat = self._call.is_repeatable or isinstance(error, _UNSENT)
        is_last = _is_final(error) or not may_repeat
        wait = None if is_last else self._wait(0.0)
        if wait is None:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            raise NoAnswer(reason, self._count, self._call.idempotency_key) from error
        return wait

    def after_answer(self, answer: Answer) -> float | None:
        """Return the seconds until the next attempt; None after a success.

        Raises:
            ApiError: the service refused the call, and no attempt is left.
        """
        if answer.is_success or answer.status == NOT_MODIFIED:
            return None
        is_last = answer.status in _OF_A_PROXY and not self._call.is_repeatable
        is_passing = _is_passing(answer) and not is_last
        wait = self._wait(answer.retry_after or 0.0) if is_passing else None
        if wait is None:
            raise answer.error(self._call, attempts=self._count, after_no_answer=self._unanswered)
        return wait

    def _wait(self, at_least: float) -> float | None:
        backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(self._count - 1, 10))
        wait = at_least + _timing.add_jitter(backoff)
        left = self._end - _timing.monotonic()
        return wait if wait + _LEAST_ATTEMPT < left else None


def _is_final(error: httpx.HTTPError) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (ssl.SSLCertVerificationError, *_NEVER)):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _is_passing(answer: Answer) -> bool:
    if answer.status == _CONFLICT:
        return answer.problem.get("code") == "in-progress"
    return answer.status in _AGAIN
