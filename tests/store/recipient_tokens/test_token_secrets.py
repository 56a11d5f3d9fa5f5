"""A producer signs tokens with a secret; the database holds no secret."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.fernet import Fernet
from django.db import connection

from notifications.core import clock, conf
from notifications.core.models import Producer, Recipient, TokenSecret
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import Refusal, TokenRefused, TokenScope
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import secret_variables
from notifications.core.store.recipient_tokens import revocations, token_secrets, verification

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    _forget()
    yield
    _forget()


@pytest.fixture
def shop() -> Producer:
    """A producer; the recipient `ana` is an hour old."""
    row = Recipient.objects.create(mode=Mode.LIVE, user_id="ana")
    Recipient.objects.filter(pk=row.pk).update(created_at=clock.now() - HOUR)
    return Producer.objects.create(name="shop")


def _forget() -> None:
    token_secrets.forget()
    recipient_ids.forget()
    revocations.forget()


def _sign(secret: str, **changes: Any) -> str:  # noqa: ANN401 - any JSON
    """Sign with a library for JWTs, as a producer does."""
    now = int(clock.now().timestamp())
    payload = {
        "aud": "notify",
        "sub": "ana",
        "mode": "live",
        "scope": "inbox:read inbox:write",
        "iat": now,
        "exp": now + 3600,
        **changes,
    }
    return jwt.encode(payload, secret, "HS256", {"kid": secret.rpartition("_")[0]})


def _refusal(text: str) -> Refusal:
    _forget()
    with pytest.raises(TokenRefused) as refused:
        verification.verify(text)
    return refused.value.reason


def test_a_token_of_any_library_is_accepted(shop: Producer) -> None:
    row, secret = token_secrets.create(shop, mode=Mode.LIVE)
    token = verification.verify(_sign(secret))
    assert (token.user_id, token.producer_id, token.key_id) == ("ana", shop.pk, row.key_id)
    assert token.scopes == {TokenScope.INBOX_READ, TokenScope.INBOX_WRITE}


def test_no_column_holds_the_secret(shop: Producer) -> None:
    _, secret = token_secrets.create(shop, mode=Mode.LIVE)
    with connection.cursor() as cursor:
        cursor.execute("SELECT token_secret::text FROM token_secret")
        [(row,)] = cursor.fetchall()
    assert secret not in row
    assert secret.rpartition("_")[2] not in row
    assert len(secret.rpartition("_")[2]) == 64


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mode": "test"}, Refusal.MODE),
        ({"exp": 4_000_000_000}, Refusal.LIFETIME),
        ({"iss": "bank"}, Refusal.CLAIMS),
        ({"sub": "bob"}, Refusal.UNKNOWN_RECIPIENT),
    ],
)
def test_a_secret_signs_only_for_its_mode_and_producer(
    shop: Producer, changes: dict[str, object], reason: Refusal
) -> None:
    _, secret = token_secrets.create(shop, mode=Mode.LIVE)
    assert _refusal(_sign(secret, **changes)) is reason


def test_a_test_secret_signs_nothing_for_live_mode(shop: Producer) -> None:
    _, secret = token_secrets.create(shop, mode=Mode.TEST)
    assert _refusal(_sign(secret)) is Refusal.MODE
    assert _refusal(_sign(secret, mode="test")) is Refusal.UNKNOWN_RECIPIENT


def test_a_secret_gives_its_scopes_only(shop: Producer) -> None:
    _, secret = token_secrets.create(shop, mode=Mode.LIVE, scopes=["inbox:read"])
    assert _refusal(_sign(secret)) is Refusal.SCOPE
    assert verification.verify(_sign(secret, scope="inbox:read")).scopes == {TokenScope.INBOX_READ}


@pytest.mark.parametrize("scopes", [[], ["inbox:*"], ["inbox:read", "notifications:write"]])
def test_a_secret_has_known_scopes(shop: Producer, scopes: list[str]) -> None:
    with pytest.raises(ValueError, match="one or more of"):
        token_secrets.create(shop, mode=Mode.LIVE, scopes=scopes)


def test_the_secret_of_one_producer_signs_nothing_for_another(shop: Producer) -> None:
    _, mine = token_secrets.create(shop, mode=Mode.LIVE)
    bank = Producer.objects.create(name="bank")
    theirs, _ = token_secrets.create(bank, mode=Mode.LIVE)
    payload = jwt.decode(_sign(mine), options={"verify_signature": False})
    forged = jwt.encode(payload, mine, "HS256", {"kid": theirs.key_id})
    assert _refusal(forged) is Refusal.SIGNATURE


def test_a_rotated_secret_signs_during_the_overlap(
    shop: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, old = token_secrets.create(shop, mode=Mode.LIVE, scopes=["inbox:read"])
    made, new = token_secrets.rotate(row, overlap=HOUR, by="test")
    assert (made.replaces, made.scopes, new != old) == (row, ["inbox:read"], True)
    for secret in (old, new):
        assert verification.verify(_sign(secret, scope="inbox:read")).user_id == "ana"
    with pytest.raises(token_secrets.SecretNotRotatable, match="rotated before"):
        token_secrets.rotate(row, overlap=HOUR, by="test")
    later = clock.now() + HOUR
    monkeypatch.setattr(clock, "now", lambda: later)
    assert _refusal(_sign(old, scope="inbox:read")) is Refusal.REVOKED
    assert verification.verify(_sign(new, scope="inbox:read")).user_id == "ana"


def test_a_revoked_secret_ends_its_tokens_and_is_not_rotated(shop: Producer) -> None:
    row, secret = token_secrets.create(shop, mode=Mode.LIVE)
    token = verification.verify(_sign(secret))
    assert revocations.find_revoked([token]) == []
    rows = TokenSecret.objects.filter(pk=row.pk)
    assert [token_secrets.revoke(rows, by="test") for _ in range(2)] == [1, 0]
    assert _refusal(_sign(secret)) is Refusal.REVOKED
    assert revocations.find_revoked([token]) == [token]
    with pytest.raises(token_secrets.SecretNotRotatable, match="revoked"):
        token_secrets.rotate(row, overlap=HOUR, by="test")


def test_a_new_encryption_key_leaves_secrets_and_a_removed_one_ends_them(
    shop: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, secret = token_secrets.create(shop, mode=Mode.LIVE)
    old, new = conf.current().encryption_keys[0], Fernet.generate_key().decode()
    for keys, state in (((new, old), "active"), ((new,), "lost")):
        changed = dataclasses.replace(conf.current(), encryption_keys=keys)
        with monkeypatch.context() as other:
            other.setattr(conf, "current", lambda: changed)  # noqa: B023 - used within the loop
            secret_variables.forget()
            _forget()
            assert token_secrets.state_of(row, now=clock.now()) == state
            if state == "active":
                assert verification.verify(_sign(secret)).user_id == "ana"
            else:
                assert _refusal(_sign(secret)) is Refusal.SIGNATURE
    secret_variables.forget()
