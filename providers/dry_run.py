"""The null provider: takes every message and does nothing with it.

For environments where nothing may leave. It is no vendor: it has no settings and is not in the
registry; who routes decides when it stands in for all of them.
"""

from __future__ import annotations

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
        repeat=Repeat.HIDDEN,  # nobody sees the first one either
        gives_receipts=False,
    )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """Accept all of it."""
        del deadline
        for message in batch:
            yield Result(delivery_id=message.delivery_id, outcome=Accepted(), latency=_NO_TIME)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Nobody is there to be asked."""
        del deadline
        yield from ()
