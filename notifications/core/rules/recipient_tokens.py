"""Recipient tokens: the short-lived right of one recipient's app or browser, a JWT (RFC 7519).

A token names one recipient and mode in `sub` and `mode`, the rights in `scope`, and a signing key
in the header field `kid`. The service signs tokens for a producer's API key, and a producer signs
tokens without a call by a token secret. HS256 is the only algorithm. This module has the claims and
their limits; `store.recipient_tokens` has the keys and the signatures.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn

from notifications.core.rules.described import Described
from notifications.core.rules.lane import Mode

ALGORITHM: Final = "HS256"
AUDIENCE: Final = "notify"
REQUIRED: Final = ("aud", "sub", "mode", "scope", "iat", "exp")
"""TokenClaims of every token. `jti`, `iss` and `rid` are optional."""
SHORTEST_LIFETIME: Final = dt.timedelta(minutes=1)
DEFAULT_LIFETIME: Final = dt.timedelta(hours=1)
LONGEST_LIFETIME: Final = dt.timedelta(days=1)
CLOCK_SKEW: Final = dt.timedelta(seconds=5)
"""Accepted difference of a producer's clock, which sets `iat` and `nbf`. `exp` has no tolerance."""
LONGEST_TEXT: Final = 4096
"""Characters of a token; a longer text is not parsed."""
_LAST_SECOND: Final = 253_402_300_799
"""End of the year 9999, the last instant of a datetime."""
_LONGEST_USER_ID: Final = 128
SHOWN_ID: Final = 8
"""Characters of `jti` in log lines."""
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


class TokenScope(Described):
    """A right of a recipient token; every right concerns the token's recipient only."""

    INBOX_READ = "inbox:read", "Read the inbox and its changes."
    INBOX_WRITE = "inbox:write", "Mark, snooze, archive and delete inbox items."
    PREFERENCES_READ = "preferences:read", "Read the preferences."
    PREFERENCES_WRITE = "preferences:write", "Change the preferences."
    CONTACTS_WRITE = "contacts:write", "Register the browser for web push."
    RECEIPTS_WRITE = "receipts:write", "Send client receipts."


class Refusal(Described):
    """The reason for which a token is refused; a label of a metric and a word of the log."""

    MALFORMED = "malformed", "the recipient token is not a signed JWT"
    ALGORITHM = "algorithm", f"the recipient token is not signed with {ALGORITHM}"
    UNKNOWN_KEY = "unknown_key", "the kid of the recipient token names no active key"
    SIGNATURE = "signature", "the signature of the recipient token is wrong"
    CLAIMS = "claims", "a claim of the recipient token is missing or malformed"
    AUDIENCE = "audience", f'the aud of the recipient token is not "{AUDIENCE}"'
    MODE = "mode", "the mode of the recipient token differs from the mode of its key"
    LIFETIME = "lifetime", "the recipient token is valid for more than a day"
    FUTURE = "future", "the iat or nbf of the recipient token is in the future; check the clock"
    EXPIRED = "expired", "the recipient token has expired; get a new token"
    SCOPE = "scope", "the recipient token has a scope that its secret may not give"
    UNKNOWN_RECIPIENT = "unknown_recipient", "the sub of the recipient token is no recipient"
    REVOKED = "revoked", "the recipient token is revoked; get a new token"
    PRODUCER = "producer", "the producer of the recipient token is switched off"

    @property
    def is_forgery(self) -> bool:
        """Return True if a stranger without any key can cause the refusal."""
        return self in {
            *(Refusal.MALFORMED, Refusal.ALGORITHM, Refusal.UNKNOWN_KEY, Refusal.SIGNATURE),
        }


class TokenRefused(Exception):
    """A token is refused. Neither the text nor the fields hold the token."""

    def __init__(
        self, reason: Refusal, detail: str = "", *, producer_id: int | None = None
    ) -> None:
        """Store the reason.

        Args:
            reason: the reason.
            detail: the claim or value at fault.
            producer_id: the producer of the key that the token names; None: the key is unknown.
        """
        super().__init__(f"{reason.sentence}: {detail}" if detail else reason.sentence)
        self.reason = reason
        self.producer_id = producer_id
        self.shown_id = ""
        """The first characters of `jti` of a token with a good signature, for log lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenClaims:
    """The checked claims of a token."""

    user_id: str
    mode: Mode
    scopes: frozenset[TokenScope]
    issued_at: dt.datetime
    expires_at: dt.datetime
    token_id: str = field(default="", repr=False)
    """`jti`; empty: the token has no id."""
    issuer: str = ""
    recipient_id: int = 0
    """`rid` of a token that the service signed; 0: the token has none. A recipient created again
    has another id, so the claim tells a token of the erased recipient without a clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientToken:
    """A valid token: the recipient, the rights and the end."""

    recipient_id: int
    user_id: str = field(repr=False)
    mode: Mode
    producer_id: int
    key_id: str
    """The public name of the API key or token secret behind the token."""
    scopes: frozenset[TokenScope]
    issued_at: dt.datetime
    expires_at: dt.datetime
    token_id: str = field(default="", repr=False)

    @property
    def shown_id(self) -> str:
        """The first characters of `jti`, for log lines."""
        return self.token_id[:SHOWN_ID]

    @property
    def name(self) -> str:
        """A name that two tokens share only if a producer signs tokens without `jti` at once."""
        said = self.token_id or self.issued_at.isoformat()
        return f"{self.key_id}:{self.recipient_id}:{said}"


def payload_of(claims: TokenClaims) -> dict[str, str | float | int]:
    """Return the claims as a JWT payload. `iat` has microseconds, so that revocations are exact."""
    return {
        "aud": AUDIENCE,
        "iss": claims.issuer,
        "sub": claims.user_id,
        "mode": claims.mode.label,
        "scope": scope_text(claims.scopes),
        "iat": claims.issued_at.timestamp(),
        "exp": int(claims.expires_at.timestamp()),
        "jti": claims.token_id,
        **({"rid": claims.recipient_id} if claims.recipient_id else {}),
    }


def scope_text(scopes: Iterable[str]) -> str:
    """Return scopes as the `scope` claim (RFC 8693): sorted, with a space between two."""
    return " ".join(sorted(scopes))


def claims_of(payload: Mapping[str, object], *, now: dt.datetime) -> TokenClaims:
    """Check the payload of a token with a good signature.

    Scopes of another release are left out.

    Raises:
        TokenRefused: a claim is missing or malformed, or the token is not valid at `now`.
    """
    issued_at, expires_at = _instant(payload, "iat"), _instant(payload, "exp")
    if expires_at - issued_at > LONGEST_LIFETIME:
        raise TokenRefused(Refusal.LIFETIME)
    starts_at = max(issued_at, _instant(payload, "nbf") if "nbf" in payload else issued_at)
    if starts_at > now + CLOCK_SKEW:
        raise TokenRefused(Refusal.FUTURE)
    if now >= expires_at:
        raise TokenRefused(Refusal.EXPIRED)
    names = frozenset(_text(payload, "scope").split())
    return TokenClaims(
        user_id=_user_id(payload),
        mode=_mode(payload),
        scopes=frozenset(each for each in TokenScope if each in names),
        issued_at=issued_at,
        expires_at=expires_at,
        token_id=_text(payload, "jti") if "jti" in payload else "",
        issuer=_text(payload, "iss") if "iss" in payload else "",
        recipient_id=_recipient_id(payload) if "rid" in payload else 0,
    )


def _instant(payload: Mapping[str, object], name: str) -> dt.datetime:
    value = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        _raise_claim(name, "is no number of seconds")
    if not math.isfinite(value) or not 0 <= value <= _LAST_SECOND:
        _raise_claim(name, "is out of range")
    return dt.datetime.fromtimestamp(value, dt.UTC)


def _text(payload: Mapping[str, object], name: str) -> str:
    value = payload.get(name)
    # Postgres rejects NUL, and UTF-8 cannot encode a lone surrogate.
    if not isinstance(value, str) or _UNSTORABLE.search(value):
        _raise_claim(name, "is no text")
    return value


def _user_id(payload: Mapping[str, object]) -> str:
    user_id = _text(payload, "sub")
    if not 0 < len(user_id) <= _LONGEST_USER_ID:
        _raise_claim("sub", "is no user id")
    return user_id


def _recipient_id(payload: Mapping[str, object]) -> int:
    value = payload.get("rid")
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        _raise_claim("rid", "is no id of a recipient")
    return value


def _mode(payload: Mapping[str, object]) -> Mode:
    label = _text(payload, "mode")
    modes = [each for each in Mode if each.label == label]
    return modes[0] if modes else _raise_claim("mode", "is neither live nor test")


def _raise_claim(name: str, fault: str) -> NoReturn:
    raise TokenRefused(Refusal.CLAIMS, f"{name} {fault}")
