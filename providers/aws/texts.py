"""Shared parts of the two AWS vendors of text messages: limits, types, one call a message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Final

from providers.aws.service import AwsCall, AwsService, Read
from providers.contract import Message, Pace, Rejected, Result
from providers.rounds import HALF_A_CHARACTER, is_unicode, unsent

LENGTH_LIMIT: Final = 1600
"""Characters, in all parts of the message together. Source: service model of End User Messaging,
MessageBody; SNS states the limit in bytes, and refuses longer texts by itself."""

PER_SECOND: Final = 10
BURST_SECONDS: Final = 10
"""AWS queues faster texts for a while: AWS takes a burst of ten seconds' texts."""

_NUMBER: Final = re.compile(r"\+[1-9][0-9]{6,14}")
"""E.164."""


class Traffic(StrEnum):
    """Type of a message, as told to carriers; a number is registered for one type."""

    TRANSACTIONAL = "TRANSACTIONAL"
    """Codes and news of an order: routed for reliability."""
    PROMOTIONAL = "PROMOTIONAL"
    """Advertising: routed for price, and not at night in some countries."""


def traffic(text: str) -> Traffic:
    """Read `transactional` or `promotional`.

    Raises:
        ValueError: the text is neither word.
    """
    if text.upper() not in set(Traffic):
        raise ValueError("write transactional or promotional")
    return Traffic(text.upper())


def pace(per_second: int) -> Pace:
    """Return the pace of an account with a limit of so many texts a second."""
    return Pace(burst=per_second * BURST_SECONDS, per_second=per_second)


def refusal(message: Message) -> Rejected | None:
    """Return the reason for which a message can never be sent; None: the message can be tried."""
    if _NUMBER.fullmatch(message.address) is None:
        return Rejected(code="malformed_address", detail="not a number in E.164")
    if not is_unicode(message.body):
        return Rejected(code="malformed_text", detail=HALF_A_CHARACTER)
    if not message.body.strip():
        return Rejected(code="empty_message", detail="a text message needs a text")
    if len(message.body) > LENGTH_LIMIT:
        detail = f"{len(message.body):,} characters, at most {LENGTH_LIMIT:,}"
        return Rejected(code="payload_too_large", detail=detail)
    return None


def send_each(
    service: AwsService,
    batch: Sequence[Message],
    *,
    write: Callable[[Message], AwsCall],
    read: Read,
    deadline: timedelta,
) -> Iterator[Result]:
    """Refuse impossible messages, and make a call per remaining message."""
    calls = []
    for message in batch:
        refused = refusal(message)
        if refused is None:
            calls.append(write(message))
        else:
            yield unsent(message, refused)
    for answer in service.deliver(calls, read=read, deadline=deadline):
        yield from answer.results()
