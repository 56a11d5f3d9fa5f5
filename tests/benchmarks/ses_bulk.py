"""[ses_bulk] Recipients a second through our SES adapter, and through boto3 as one would use it.

Ours: batches of 500 rendered mails, ten bulk calls of fifty each. Theirs: one `send_email` for each
of the same mails, with one client that keeps its connection, in its default configuration. Both
sign, both read the answer, and both talk to the same nginx, which says yes from memory; the
product's processes stand still. With the real SES behind, the account's own rate limits both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import boto3

from providers.contract import Accepted, Channel, Message
from providers.email.mime import mailbox
from providers.email.ses import Config, Ses
from providers.transport import Transport
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_OURS: Final = 40_000
_THEIRS: Final = 1_500
"""Recipients: about a second of each."""
_TARGET: Final = 10.0
_DEADLINE: Final = timedelta(seconds=10)
_REGION: Final = "eu-west-1"
_FROM: Final = "Shop <no-reply@shop.example>"
_KEY_ID, _SECRET = "AKIDEXAMPLE", "benchmarks-sign-with-it-and-nobody-checks"
_TEXT: Final = "Your order ORD-{n} is on its way. " * 10
_HTML: Final = "<html><body>" + '<p class="line">Your order ORD-{n} is on its way.</p>' * 20


def measure(stage: Stage) -> Figure:
    """Measure it."""
    cpu = {"ours": 0.0, "boto3": 0.0}
    rounds = {"ours": 0, "boto3": 0}

    def timed(name: str, count: int) -> float:
        send = {"ours": send_ours, "boto3": send_theirs}[name]
        with stage.standing_still():
            began, burnt = time.perf_counter(), time.process_time()
            send(stage.sink.url, count=count)
            cpu[name] += time.process_time() - burnt
            rounds[name] += count
            return count / (time.perf_counter() - began)

    found = paired(ours=lambda: timed("ours", _OURS), theirs=lambda: timed("boto3", _THEIRS))
    each = {name: spent / rounds[name] * 1e6 for name, spent in cpu.items()}
    return Figure(
        name="ses_bulk",
        value=found.ours,
        unit="recipients/s",
        baseline="recipients/s (boto3 send_email, one client)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET:.0f}x",
        met=found.ratio >= _TARGET,
        notes=(f"CPU us each: ours {each['ours']:.0f}, boto3 {each['boto3']:.0f}",),
    )


def send_ours(url: str, *, count: int) -> None:
    """Send `count` mails through the adapter, and see that each was accepted."""
    config = Config(
        region=_REGION,
        endpoint=url,
        access_key_id=_KEY_ID,
        secret_access_key=_SECRET,
        from_=mailbox(_FROM),
    )
    with closing(Transport()) as transport:
        provider = Ses(config, transport=transport)
        limit = provider.capabilities.batch_limit
        for start in range(0, count, limit):
            _send_batch(provider, _mails(start, number=min(limit, count - start)))


def send_theirs(url: str, *, count: int) -> None:
    """Send `count` mails through boto3, one call each."""
    client: Any = boto3.client(
        "sesv2",
        region_name=_REGION,
        endpoint_url=url,
        aws_access_key_id=_KEY_ID,
        aws_secret_access_key=_SECRET,
    )
    for mail in _mails(0, number=count):
        client.send_email(
            FromEmailAddress=_FROM,
            Destination={"ToAddresses": [mail.address]},
            Content={
                "Simple": {
                    "Subject": {"Data": mail.title, "Charset": "UTF-8"},
                    "Body": {
                        "Text": {"Data": mail.body, "Charset": "UTF-8"},
                        "Html": {"Data": mail.html, "Charset": "UTF-8"},
                    },
                }
            },
            EmailTags=[{"Name": "delivery_id", "Value": str(mail.delivery_id)}],
        )


def _send_batch(provider: Ses, batch: Sequence[Message]) -> None:
    accepted = sum(
        isinstance(result.outcome, Accepted) for result in provider.send(batch, deadline=_DEADLINE)
    )
    if accepted != len(batch):
        raise AssertionError(f"{len(batch) - accepted} of {len(batch)} mails were not accepted")


def _mails(start: int, *, number: int) -> list[Message]:
    return [
        Message(
            delivery_id=UUID(int=n),
            notification_id=UUID(int=n),
            idempotency_key=f"{n}.0",
            channel=Channel.EMAIL,
            address=f"person-{n}@mailbox.example",
            title=f"Order ORD-{n}",
            body=_TEXT.format(n=n),
            html=_HTML.format(n=n),
        )
        for n in range(start, start + number)
    ]
