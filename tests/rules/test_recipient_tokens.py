"""The claims of a token are checked one by one, and each fault has a reason of its own."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core.rules import recipient_tokens
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import Refusal, TokenRefused, TokenScope

NOW = dt.datetime(2026, 11, 23, 12, tzinfo=dt.UTC)
SECONDS = int(NOW.timestamp())
PAYLOAD = {
    "sub": "ana",
    "mode": "live",
    "scope": "inbox:read receipts:write",
    "iat": SECONDS,
    "exp": SECONDS + 3600,
}


def test_a_payload_becomes_claims_and_back() -> None:
    claims = recipient_tokens.claims_of(PAYLOAD | {"jti": "x", "iss": "shop"}, now=NOW)
    assert (claims.user_id, claims.mode) == ("ana", Mode.LIVE)
    assert claims.scopes == {TokenScope.INBOX_READ, TokenScope.RECEIPTS_WRITE}
    assert claims.expires_at - claims.issued_at == dt.timedelta(hours=1)
    assert recipient_tokens.claims_of(recipient_tokens.payload_of(claims), now=NOW) == claims


def test_a_scope_of_another_release_gives_nothing() -> None:
    claims = recipient_tokens.claims_of(PAYLOAD | {"scope": "inbox:* all:read INBOX:READ"}, now=NOW)
    assert claims.scopes == frozenset()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"exp": SECONDS + 10 * 365 * 86_400}, Refusal.LIFETIME),
        ({"exp": SECONDS + 86_401}, Refusal.LIFETIME),
        ({"iat": 0}, Refusal.LIFETIME),
        ({"exp": SECONDS}, Refusal.EXPIRED),
        ({"exp": SECONDS - 1, "iat": SECONDS - 60}, Refusal.EXPIRED),
        ({"iat": SECONDS + 6}, Refusal.FUTURE),
        ({"nbf": SECONDS + 6}, Refusal.FUTURE),
    ],
)
def test_a_fault_has_its_reason(change: dict[str, object], reason: Refusal) -> None:
    with pytest.raises(TokenRefused) as refused:
        recipient_tokens.claims_of(PAYLOAD | change, now=NOW)
    assert refused.value.reason is reason


MALFORMED: dict[str, list[object]] = {
    "exp": ["1", True, None, -1, 1e300],
    "iat": [float("nan"), float("inf"), [], -0.1],
    "nbf": ["soon"],
    "sub": ["", "a" * 129, "a\x00", "\ud800", 7],
    "mode": ["", "LIVE", "1", 1, None],
    "scope": [None, ["inbox:read"], "\x00"],
    "jti": [5],
    "iss": [["shop"]],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_claim_of_another_shape_is_refused(name: str) -> None:
    for value in MALFORMED[name]:
        with pytest.raises(TokenRefused, match=name) as refused:
            recipient_tokens.claims_of(PAYLOAD | {name: value}, now=NOW)
        assert refused.value.reason is Refusal.CLAIMS


@pytest.mark.parametrize("name", ["sub", "mode", "scope", "iat", "exp"])
def test_a_claim_is_not_left_out(name: str) -> None:
    payload = {key: value for key, value in PAYLOAD.items() if key != name}
    with pytest.raises(TokenRefused, match=name) as refused:
        recipient_tokens.claims_of(payload, now=NOW)
    assert refused.value.reason is Refusal.CLAIMS


def test_a_clock_some_seconds_ahead_is_accepted_and_the_longest_lifetime_too() -> None:
    payload = PAYLOAD | {"iat": SECONDS + 5, "nbf": SECONDS + 5, "exp": SECONDS + 5 + 86_400}
    assert recipient_tokens.claims_of(payload, now=NOW).expires_at > NOW
