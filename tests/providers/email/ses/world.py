"""An adapter that talks to a fake of SES, and what to give it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import orjson

from providers.contract import Channel, Message, Outcome
from providers.email.mime import mailbox
from providers.email.ses import Config, Ses
from providers.transport import Transport
from tests.providers.aws.fakes import ACCOUNT, AwsFake
from tests.providers.messages import message

SECONDS = timedelta(seconds=30)
FROM = "Grüße <no-reply@shop.example>"


def made(server: AwsFake, transport: Transport, **changed: Any) -> Ses:  # noqa: ANN401 - any setting
    fields = {
        **ACCOUNT,
        "from_": mailbox(FROM),
        "endpoint": server.url,
        "per_second": 100,
        **changed,
    }
    return Ses(Config(**fields), transport=transport)


def mails(number: int, **changed: str) -> list[Message]:
    return [message(f"p{n}@mailbox.example", Channel.EMAIL, **changed) for n in range(number)]


def outcomes(provider: Ses, batch: Sequence[Message]) -> list[Outcome]:
    """The outcomes, in the order of the batch."""
    found = {each.delivery_id: each.outcome for each in provider.send(batch, deadline=SECONDS)}
    return [found[each.delivery_id] for each in batch]


def bodies(server: AwsFake) -> list[dict[str, Any]]:
    return [orjson.loads(request.body) for request in server.requests]


def entries_in(server: AwsFake) -> list[int]:
    return sorted(len(body.get("BulkEmailEntries", [0])) for body in bodies(server))
