"""Bearer tokens that go stale: a message that failed for a stale token is sent once more.

A renewed token is tried once and within the same deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from time import monotonic
from typing import Protocol

from providers.contract import Message, Misconfigured, Result, Throttled, Unavailable
from providers.rounds import unsent


class NoToken(Exception):
    """No credential is available; nothing was sent. `outcome` is the outcome of every message."""

    def __init__(self, outcome: Unavailable | Throttled | Misconfigured) -> None:
        """Store the outcome of each message of the batch."""
        super().__init__(outcome.code)
        self.outcome = outcome


class Tokens(Protocol):
    """Bearer tokens that go stale, kept and renewed for all threads."""

    def current(self, *, deadline: timedelta) -> str:
        """Return the token to send with.

        Raises:
            NoToken: no token exists, and none came within the deadline.
        """

    def renew(self, refused: str, *, deadline: timedelta) -> str:
        """Return a token other than the refused token; the same token if a renewal is too early.

        Raises:
            NoToken: as above.
        """


Attempt = Callable[[Sequence[Message], str, timedelta], Iterator[Result]]
"""A round with the given token, within the given time."""


def send(
    batch: Sequence[Message],
    *,
    attempt: Attempt,
    tokens: Tokens,
    stale_code: str,
    deadline: timedelta,
) -> Iterator[Result]:
    """Attempt a batch; retry Misconfigured results with `stale_code` with a renewed token."""
    if not batch:
        return
    began = monotonic()
    try:
        token = tokens.current(deadline=deadline)
    except NoToken as error:
        yield from (unsent(message, error.outcome) for message in batch)
        return
    stale: dict[object, Result] = {}
    for result in attempt(batch, token, _remaining(deadline, began=began)):
        if isinstance(result.outcome, Misconfigured) and result.outcome.code == stale_code:
            stale[result.delivery_id] = result
        else:
            yield result
    if not stale:
        return
    left = _remaining(deadline, began=began)
    try:
        fresh = tokens.renew(token, deadline=left)
    except NoToken:
        fresh = token  # the vendor's own words about the stale one say more
    if fresh == token:
        yield from stale.values()
        return
    again = [message for message in batch if message.delivery_id in stale]
    yield from attempt(again, fresh, _remaining(deadline, began=began))


def _remaining(deadline: timedelta, *, began: float) -> timedelta:
    return max(timedelta(0), deadline - timedelta(seconds=monotonic() - began))
