"""Sending a batch of pushes: what the three vendors share.

    one_round      prepare each, send what can be sent, judge each reply
    with_renewal   a round; what failed because the credential went stale goes out once more

A message that cannot be sent (too large, an address that is none) is answered alone; the others of
its batch do not notice. A renewed credential is tried once and within the same deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import Final, Protocol

import orjson

from providers.contract import (
    Message,
    Misconfigured,
    Outcome,
    Rejected,
    Result,
    Throttled,
    Unavailable,
)
from providers.transport import Reply, Request, Transport

Prepare = Callable[[Message], Request]
"""Makes the request of a message, or raises Unsendable."""

HALF_A_CHARACTER: Final = "a text has half of a surrogate pair"

Judge = Callable[[Reply, Message], Outcome]


class Unsendable(Exception):
    """This message can never be sent as it is; the others of its batch can."""

    def __init__(self, code: str, detail: str = "", *, contact_is_dead: bool = False) -> None:
        """Say why, without an address or a text."""
        super().__init__(code)
        self.outcome = Rejected(code=code, detail=detail, contact_is_dead=contact_is_dead)


class NoToken(Exception):
    """There is no credential to send with; nothing was sent. `outcome` is every message's."""

    def __init__(self, outcome: Unavailable | Throttled | Misconfigured) -> None:
        """Carry the outcome that each message of the batch gets."""
        super().__init__(outcome.code)
        self.outcome = outcome


class Tokens(Protocol):
    """Bearer tokens that go stale, kept and renewed for all threads."""

    def current(self, *, deadline: timedelta) -> str:
        """Give the token to send with.

        Raises:
            NoToken: there is none, and none could be had within the deadline.
        """

    def renewed(self, refused: str, *, deadline: timedelta) -> str:
        """Give another than the refused one; the same when it is too early for another.

        Raises:
            NoToken: as above.
        """


Attempt = Callable[[Sequence[Message], str, timedelta], Iterator[Result]]
"""A round with the given token, within the given time."""


def one_round(
    batch: Sequence[Message],
    *,
    prepare: Prepare,
    judge: Judge,
    transport: Transport,
    deadline: timedelta,
) -> Iterator[Result]:
    """Send a batch; yields one Result each, in any order."""
    began = monotonic()
    ready: list[Message] = []
    requests: list[Request] = []
    for message in batch:
        try:
            requests.append(prepare(message))
        except Unsendable as error:
            yield _unsent(message, error.outcome)
        else:
            ready.append(message)
    left = deadline - timedelta(seconds=monotonic() - began)
    for index, reply in transport.send(requests, deadline=left):
        message = ready[index]
        yield Result(
            delivery_id=message.delivery_id, outcome=judge(reply, message), latency=reply.elapsed
        )


def with_renewal(
    batch: Sequence[Message],
    *,
    attempt: Attempt,
    tokens: Tokens,
    stale_code: str,
    deadline: timedelta,
) -> Iterator[Result]:
    """Attempt a batch; what ends Misconfigured with `stale_code` is tried with a renewed token."""
    if not batch:
        return
    began = monotonic()
    try:
        token = tokens.current(deadline=deadline)
    except NoToken as error:
        yield from (_unsent(message, error.outcome) for message in batch)
        return
    stale: dict[object, Result] = {}
    for result in attempt(batch, token, _left(deadline, began=began)):
        if isinstance(result.outcome, Misconfigured) and result.outcome.code == stale_code:
            stale[result.delivery_id] = result
        else:
            yield result
    if not stale:
        return
    left = _left(deadline, began=began)
    try:
        fresh = tokens.renewed(token, deadline=left)
    except NoToken:
        fresh = token  # the vendor's own words about the stale one say more
    if fresh == token:
        yield from stale.values()
        return
    again = [message for message in batch if message.delivery_id in stale]
    yield from attempt(again, fresh, _left(deadline, began=began))


def json_body(payload: Mapping[str, object], *, limit_bytes: int) -> bytes:
    """Encode a payload as compact UTF-8.

    Raises:
        Unsendable: it is longer than the vendor takes, or has a text that is no Unicode.
    """
    try:
        body = orjson.dumps(payload)
    except TypeError:
        raise Unsendable("malformed_text", HALF_A_CHARACTER) from None
    check_size(len(body), limit_bytes=limit_bytes)
    return body


def check_size(size_bytes: int, *, limit_bytes: int) -> None:
    """Refuse what the vendor would not take.

    Raises:
        Unsendable: it is too large.
    """
    if size_bytes > limit_bytes:
        raise Unsendable("payload_too_large", f"{size_bytes} bytes, at most {limit_bytes}")


def _left(deadline: timedelta, *, began: float) -> timedelta:
    return max(timedelta(0), deadline - timedelta(seconds=monotonic() - began))


def _unsent(message: Message, outcome: Outcome) -> Result:
    return Result(delivery_id=message.delivery_id, outcome=outcome, latency=timedelta(0))
