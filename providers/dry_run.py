"""The null provider: accepts every message and sends nothing.

The provider serves environments without outgoing messages. The null provider is no vendor: no
settings, no entry in the registry. The caller's routing decides when the null provider replaces all
vendors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Repeat,
    Result,
)
from providers.vendor import OneWay

NAME: Final = "dry_run"

_NO_TIME: Final = timedelta(0)


class DryRun(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME
    capabilities: Final = Capabilities(
        channels=frozenset(Channel),
        repeat=Repeat.HIDDEN,  # the recipient sees no message
        gives_receipts=False,
        attachment_bytes=sys.maxsize,
    )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """Accept all messages."""
        del deadline
        for message in batch:
            yield Result(delivery_id=message.delivery_id, outcome=Accepted(), latency=_NO_TIME)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Yield no finding, because a dry run has no vendor."""
        del deadline
        yield from ()
