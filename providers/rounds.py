"""Sending a batch over HTTP, a request per message: prepare, send, judge the replies.

An impossible message (too large, malformed address) gets a result alone, without effect on the
other messages of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import orjson

from providers.contract import Message, Outcome, Rejected, Result
from providers.errors import ForbiddenAddress
from providers.transport import Reply, Request, Response, Transport

Prepare = Callable[[Message], Request]
"""Makes the request of a message, or raises Unsendable or ForbiddenAddress."""

HALF_A_CHARACTER: Final = "a text has half of a surrogate pair"

Judge = Callable[[Reply, Message], Outcome]


class Unsendable(Exception):
    """The message can never be sent; other messages of the batch can be sent."""

    def __init__(self, code: str, detail: str = "", *, contact_is_dead: bool = False) -> None:
        """Store the reason, without an address or a text."""
        super().__init__(code)
        self.outcome = Rejected(code=code, detail=detail, contact_is_dead=contact_is_dead)


def send_one_request_each(
    batch: Sequence[Message],
    *,
    prepare: Prepare,
    judge: Judge,
    transport: Transport,
    deadline: timedelta,
    signed_with: str = "",
) -> Iterator[Result]:
    """Send a batch; yield a Result for each message, in any order. `signed_with`: see `Result`."""
    ready: list[Message] = []
    requests: list[Request] = []
    for message in batch:
        try:
            request = prepare(message)
        except Unsendable as error:
            yield unsent(message, error.outcome)
        except ForbiddenAddress as error:
            yield unsent(message, Rejected(code="forbidden_address", detail=str(error)))
        else:
            ready.append(message)
            requests.append(replace(request, urgent=True) if message.urgent else request)
    begins = [message.on_begin for message in ready]
    for index, reply in transport.send(requests, deadline=deadline, begins=begins):
        message = ready[index]
        yield result_of(message, judge(reply, message), reply=reply, signed_with=signed_with)


def result_of(message: Message, outcome: Outcome, *, reply: Reply, signed_with: str = "") -> Result:
    """Return a message's result, with data of the HTTP answer beside the outcome."""
    answer = reply if isinstance(reply, Response) else None
    return Result(
        delivery_id=message.delivery_id,
        outcome=outcome,
        latency=reply.elapsed,
        own_delay=answer.own_delay if answer else timedelta(0),
        http_status=answer.status if answer else None,
        retry_after=answer.retry_after if answer else None,
        signed_with=signed_with,
    )


def is_unicode(text: str) -> bool:
    """Return True if a text can be encoded; half of a surrogate pair cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_body(payload: object, *, limit_bytes: int | None = None) -> bytes:
    """Encode a payload as compact UTF-8.

    Raises:
        Unsendable: the payload is too long for the vendor, or a text is no Unicode.
    """
    try:
        body = orjson.dumps(payload)
    except TypeError:
        raise Unsendable("malformed_text", HALF_A_CHARACTER) from None
    if limit_bytes is not None:
        check_size(len(body), limit_bytes=limit_bytes)
    return body


def check_size(size_bytes: int, *, limit_bytes: int) -> None:
    """Refuse a payload over the vendor's limit.

    Raises:
        Unsendable: the payload is too large.
    """
    if size_bytes > limit_bytes:
        raise Unsendable("payload_too_large", f"{size_bytes} bytes, at most {limit_bytes}")


def unsent(message: Message, outcome: Outcome) -> Result:
    """Return the result of a message that was not sent."""
    return Result(delivery_id=message.delivery_id, outcome=outcome, latency=timedelta(0))
