"""The account's limit of mails a second, read from SES each hour.

    capabilities read -> current()  -> the last known pace, at once
                            '-> older than an hour -> a thread asks GetAccount -> learn(rate)

SES counts recipients, in one call or in many, and sets a rate for each account; SES raises the rate
of a trusted account. The rate before the first answer is DEFAULT, a new account's rate outside the
sandbox. After a failed call the next call follows after `ASK_AGAIN_AFTER`; the last known rate
holds meanwhile.

Source: https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas.html
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Lock, Thread
from time import monotonic
from typing import Final

from providers.contract import Pace

DEFAULT: Final = Pace(burst=14, per_second=14)
KNOWN_FOR: Final = timedelta(hours=1)
ASK_AGAIN_AFTER: Final = timedelta(minutes=1)


class AccountRate:
    """The pace of an account. Thread-safe; one thread calls SES at a time."""

    def __init__(
        self,
        ask: Callable[[], None],
        *,
        fixed: int | None = None,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        """`ask` asks SES and calls `learn`; a `fixed` rate, in mails a second, needs no asking."""
        self._ask = ask
        self._seconds = seconds
        self._asking = Lock()
        self._pace = DEFAULT if fixed is None else pace_of(fixed)
        self._ask_at = float("-inf") if fixed is None else float("inf")

    def current(self) -> Pace:
        """Return the last known pace, and refresh an old pace in the background."""
        if self._seconds() >= self._ask_at and self._asking.acquire(blocking=False):
            self._ask_at = self._seconds() + ASK_AGAIN_AFTER.total_seconds()
            Thread(target=self._ask_once, name="ses-rate", daemon=True).start()
        return self._pace

    def learn(self, per_second: float) -> None:
        """Store SES's rate."""
        self._ask_at = max(self._ask_at, self._seconds() + KNOWN_FOR.total_seconds())
        self._pace = pace_of(per_second)

    def _ask_once(self) -> None:
        try:
            self._ask()
        finally:
            self._asking.release()


def pace_of(per_second: float) -> Pace:
    """Return the pace of a rate, with a burst of one second's mails."""
    return Pace(burst=max(1, int(per_second)), per_second=per_second)
