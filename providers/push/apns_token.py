"""Apple's provider token: a locally signed JWT with a least and a greatest age.

    0 min             20 min              40 min           60 min
    |-- Apple refuses -|-- may be renewed --|-- is renewed --|-- Apple refuses an older one
        a newer one        if refused           by itself

Source: https://developer.apple.com/documentation/usernotifications/
establishing-a-token-based-connection-to-apns ("Refresh your token regularly").
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec

from providers import clock

SOONEST: Final = timedelta(minutes=20)
"""Signing more often is answered with TooManyProviderTokenUpdates."""

RENEW_AFTER: Final = timedelta(minutes=40)
"""The middle of the range that Apple allows: clocks may differ by 20 minutes either way."""


@dataclass(frozen=True, slots=True)
class _Signed:
    token: str
    at: datetime


class ProviderTokens:
    """See `renewal.Tokens`. Signing takes a tenth of a millisecond, so no caller waits."""

    def __init__(
        self, key: ec.EllipticCurvePrivateKey, *, key_id: str, team_id: str, now: clock.Clock
    ) -> None:
        """Sign nothing before the first use."""
        self._key = key
        self._key_id = key_id
        self._team_id = team_id
        self._now = now
        self._signing = Lock()
        self._held: _Signed | None = None

    def current(self, *, deadline: timedelta) -> str:
        """See `renewal.Tokens.current`; raises nothing."""
        del deadline  # signing never waits
        with self._signing:
            return self._younger_than(RENEW_AFTER)

    def renew(self, refused: str, *, deadline: timedelta) -> str:
        """See `renewal.Tokens.renew`; raises nothing."""
        del deadline
        with self._signing:
            if self._held and self._held.token != refused:
                return self._held.token  # another thread was quicker
            return self._younger_than(SOONEST)

    def _younger_than(self, age: timedelta) -> str:
        now = self._now()
        if self._held is None or now - self._held.at >= age:
            self._held = _Signed(self._sign(now), now)
        return self._held.token

    def _sign(self, now: datetime) -> str:
        import jwt  # noqa: PLC0415 - 9 MiB that only a process that sends has to pay

        claims = {"iss": self._team_id, "iat": int(now.timestamp())}
        return jwt.encode(claims, self._key, algorithm="ES256", headers={"kid": self._key_id})
