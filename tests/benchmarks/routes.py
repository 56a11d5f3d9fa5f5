"""Which provider a channel goes by during a benchmark, and at which pace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Final

from providers.contract import Channel
from tests.benchmarks.stage import Stage

_FREE_PACE: Final = 1_000_000
"""Messages a second: a provider's own limit would be the account's, and is not measured."""
_SEEN_SECONDS: Final = 3.0
"""A changed route or pace is in force everywhere after two."""
_pause: Final = Event()


@contextmanager
def mails_by(stage: Stage, provider: str) -> Iterator[None]:
    """Have e-mails leave by this provider, as fast as they can."""
    with stage.database() as link:
        link.execute(
            "INSERT INTO notifications_providerroute"
            " (channel, region, platform, provider, rank, weight, is_enabled, updated_at)"
            " VALUES (%s, '', '', %s, 0, 1, true, now())",
            [Channel.EMAIL, provider],
        )
        link.execute(
            "INSERT INTO notifications_providerpace (provider, burst, per_second)"
            " VALUES (%s, %s, %s)",
            [provider, _FREE_PACE, _FREE_PACE],
        )
    _pause.wait(_SEEN_SECONDS)
    try:
        yield
    finally:
        with stage.database() as link:
            link.execute("DELETE FROM notifications_providerroute")
            link.execute("DELETE FROM notifications_providerpace")
        _pause.wait(_SEEN_SECONDS)
