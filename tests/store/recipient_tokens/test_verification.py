"""Attacks on recipient tokens: each forged, borrowed or stretched token is refused."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
from collections.abc import Iterator
from typing import Any

import jwt
import pytest

from notifications.core import clock, feature
from notifications.core.models import ApiKey, Producer, Recipient
from notifications.core.rules import recipient_tokens
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import (
    RecipientToken,
    Refusal,
    TokenClaims,
    TokenRefused,
    TokenScope,
)
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import api_keys
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.recipient_tokens import signing_keys, verification
from notifications.features.recipient_tokens import minting

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)
ALL = frozenset(TokenScope)


@pytest.fixture(autouse=True)
def _fresh_caches() -> Iterator[None]:
    api_keys.forget()
    recipient_ids.forget()
    yield
    api_keys.forget()
    recipient_ids.forget()


@pytest.fixture
def ana() -> Recipient:
    """A recipient in live mode, created an hour ago; a namesake is in test mode."""
    Recipient.objects.create(mode=Mode.TEST, user_id="ana")
    row = Recipient.objects.create(mode=Mode.LIVE, user_id="ana")
    Recipient.objects.update(created_at=clock.now() - HOUR)
    return row


def _key(name: str = "shop", mode: Mode = Mode.LIVE) -> KnownKey:
    producer, _ = Producer.objects.get_or_create(name=name)
    row, _ = api_keys.issue(producer, mode=mode, scopes=["recipients:write"])
    known = api_keys.of_prefix(row.prefix)
    assert known is not None
    return known


def _mint(key: KnownKey, user_id: str = "ana") -> str:
    return minting.mint(user_id, key=key, scopes=ALL, lifetime=HOUR, now=clock.now()).text


def _payload(**changes: object) -> dict[str, Any]:
    claims = TokenClaims(
        user_id="ana",
        mode=Mode.LIVE,
        scopes=ALL,
        issued_at=clock.now(),
        expires_at=clock.now() + HOUR,
    )
    return {**recipient_tokens.payload_of(claims), "iss": "shop", **changes}


def _signed(key: KnownKey, payload: dict[str, Any], **options: Any) -> str:  # noqa: ANN401 - of jwt.encode
    options = {"algorithm": "HS256", "headers": {"kid": key.prefix}, **options}
    return jwt.encode(payload, signing_keys.of_api_key(key.prefix)[0], **options)


def _raw(header: object, payload: object, secret: bytes) -> str:
    parts = [
        base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=")
        for each in (header, payload)
    ]
    text = b".".join(parts)
    signature = base64.urlsafe_b64encode(hmac.digest(secret, text, hashlib.sha256)).rstrip(b"=")
    return b".".join([text, signature]).decode()


def _refusal(text: str) -> Refusal:
    with pytest.raises(TokenRefused) as refused:
        verification.verify(text)
    assert text not in str(refused.value)
    return refused.value.reason


@pytest.mark.usefixtures("ana")
def test_without_the_app_of_tokens_a_good_token_is_of_an_unknown_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = _mint(_key())
    assert verification.verify(token).user_id == "ana"
    others = [each for each in feature.all_features() if each.label != "recipient_tokens"]
    monkeypatch.setattr(feature, "all_features", lambda: others)
    assert _refusal(token) is Refusal.UNKNOWN_KEY


def test_a_new_token_names_its_recipient_and_its_key(ana: Recipient) -> None:
    key = _key()
    token = verification.verify(_mint(key))
    assert token == RecipientToken(
        recipient_id=ana.pk,
        user_id="ana",
        mode=Mode.LIVE,
        producer_id=key.producer_id,
        key_id=key.prefix,
        scopes=ALL,
        issued_at=token.issued_at,
        expires_at=token.expires_at,
        token_id=token.token_id,
    )
    assert len(token.shown_id) == 8
    assert token.token_id not in repr(token)


def test_a_test_key_reaches_the_recipient_of_test_mode(ana: Recipient) -> None:
    token = verification.verify(_mint(_key(mode=Mode.TEST)))
    assert (token.mode, token.recipient_id != ana.pk) == (Mode.TEST, True)


@pytest.mark.usefixtures("ana")
@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "HS512", "HS384", "RS256", "", None])
def test_another_algorithm_is_refused_even_with_a_good_hmac(algorithm: object) -> None:
    key = _key()
    header = {"alg": algorithm, "kid": key.prefix, "typ": "JWT"}
    good = _raw(header, _payload(), signing_keys.of_api_key(key.prefix)[0])
    assert _refusal(good) in {Refusal.ALGORITHM, Refusal.MALFORMED}
    assert _refusal(good.rpartition(".")[0] + ".") in {Refusal.ALGORITHM, Refusal.MALFORMED}


@pytest.mark.usefixtures("ana")
def test_the_kid_of_another_producer_or_mode_does_not_verify() -> None:
    shop, bank, trial = _key(), _key("bank"), _key(mode=Mode.TEST)
    for other in (bank, trial):
        borrowed = _signed(shop, _payload(), headers={"kid": other.prefix})
        assert _refusal(borrowed) is Refusal.SIGNATURE
    assert _refusal(_signed(shop, _payload(), headers={"kid": "nk_live_00000000"})) is (
        Refusal.UNKNOWN_KEY
    )


@pytest.mark.usefixtures("ana")
@pytest.mark.parametrize("kid", ["", "../../etc/passwd", "' OR 1=1 --", "\x00", 7, None, ["a"], {}])
def test_a_strange_kid_is_refused(kid: object) -> None:
    secret = signing_keys.of_api_key(_key().prefix)[0]
    text = _raw({"alg": "HS256", "kid": kid}, _payload(), secret)
    assert _refusal(text) in {Refusal.UNKNOWN_KEY, Refusal.MALFORMED}


@pytest.mark.usefixtures("ana")
def test_keys_in_the_header_are_not_used() -> None:
    key, own = _key(), b"x" * 32
    jwk = {"kty": "oct", "k": base64.urlsafe_b64encode(own).decode()}
    header = {"alg": "HS256", "kid": key.prefix, "jwk": jwk, "jku": "https://evil.example/keys"}
    assert _refusal(_raw(header, _payload(), own)) is Refusal.SIGNATURE


@pytest.mark.usefixtures("ana")
@pytest.mark.parametrize(
    "extra", [{"crit": ["exp"]}, {"b64": False}, {"crit": ["b64"], "b64": False}]
)
def test_a_header_that_changes_the_meaning_is_refused(extra: dict[str, object]) -> None:
    key = _key()
    header = {"alg": "HS256", "kid": key.prefix, **extra}
    text = _raw(header, _payload(), signing_keys.of_api_key(key.prefix)[0])
    assert _refusal(text) in {Refusal.MALFORMED, Refusal.CLAIMS, Refusal.SIGNATURE}


@pytest.mark.usefixtures("ana")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"mode": "test"}, Refusal.MODE),
        ({"iss": "bank"}, Refusal.CLAIMS),
        ({"aud": "other"}, Refusal.AUDIENCE),
        ({"aud": ["notify"]}, Refusal.AUDIENCE),
        ({"aud": ["notify", "other"]}, Refusal.AUDIENCE),
        ({"aud": None}, Refusal.CLAIMS),
        ({"sub": "nobody"}, Refusal.UNKNOWN_RECIPIENT),
        ({"sub": 1}, Refusal.CLAIMS),
        ({"sub": "ANA"}, Refusal.UNKNOWN_RECIPIENT),
        ({"exp": 99_999_999_999}, Refusal.LIFETIME),
        ({"exp": None}, Refusal.CLAIMS),
        ({"iat": 0, "exp": 1}, Refusal.EXPIRED),
        ({"rid": "1"}, Refusal.CLAIMS),
        ({"rid": True}, Refusal.CLAIMS),
        ({"rid": 0}, Refusal.CLAIMS),
        ({"rid": 10**30}, Refusal.REVOKED),
    ],
)
def test_a_signed_token_with_a_wrong_claim_is_refused(
    change: dict[str, object], reason: Refusal
) -> None:
    key = _key()
    text = _raw(
        {"alg": "HS256", "kid": key.prefix},
        _payload(**change),
        signing_keys.of_api_key(key.prefix)[0],
    )
    assert _refusal(text) is reason


@pytest.mark.usefixtures("ana")
@pytest.mark.parametrize("name", recipient_tokens.REQUIRED)
def test_a_signed_token_without_a_claim_is_refused(name: str) -> None:
    payload = _payload()
    del payload[name]
    assert _refusal(_signed(_key(), payload)) in {Refusal.CLAIMS, Refusal.AUDIENCE}


@pytest.mark.usefixtures("ana")
def test_a_changed_payload_is_refused() -> None:
    header, _, signature = _mint(_key()).split(".")
    payload = base64.urlsafe_b64encode(json.dumps(_payload(sub="bob")).encode()).rstrip(b"=")
    assert _refusal(f"{header}.{payload.decode()}.{signature}") is Refusal.SIGNATURE


@pytest.mark.parametrize(
    "text", ["", ".", "..", "a.b.c", "e30.e30.e30", "\u00e4.b.c", "a" * 5_000, "bnVsbA.bnVsbA.AA"]
)
def test_a_text_that_is_no_token_is_refused(text: str) -> None:
    assert verification_reason(text) in {Refusal.MALFORMED, Refusal.ALGORITHM}


def verification_reason(text: str) -> Refusal:
    """The reason; short texts may be part of the message, so the text is not searched there."""
    with pytest.raises(TokenRefused) as refused:
        verification.verify(text)
    return refused.value.reason


@pytest.mark.usefixtures("ana")
def test_a_revoked_key_and_a_producer_that_is_switched_off_end_their_tokens() -> None:
    key = _key()
    text = _mint(key)
    Producer.objects.update(is_active=False)
    api_keys.forget()
    assert _refusal(text) is Refusal.PRODUCER
    Producer.objects.update(is_active=True)
    api_keys.revoke(ApiKey.objects.filter(prefix=key.prefix), by="test")
    api_keys.forget()
    assert _refusal(text) is Refusal.REVOKED


@pytest.mark.usefixtures("ana")
def test_an_expired_key_leaves_its_tokens_so_that_a_rotation_signs_nobody_out() -> None:
    key = _key()
    text = _mint(key)
    ApiKey.objects.filter(prefix=key.prefix).update(expires_at=clock.now())
    api_keys.forget()
    assert verification.verify(text).key_id == key.prefix


def test_a_token_with_the_id_of_its_recipient_ends_with_it_whatever_the_clocks_show(
    ana: Recipient,
) -> None:
    key = _key()
    text = minting.mint(
        "ana", recipient_id=ana.pk, key=key, scopes=ALL, lifetime=HOUR, now=clock.now()
    ).text
    assert verification.verify(text).recipient_id == ana.pk
    ana.delete()
    again = Recipient.objects.create(mode=Mode.LIVE, user_id="ana")
    recipient_ids.forget()
    assert _refusal(text) is Refusal.REVOKED
    # The clock of the process that stored the recipient is ahead.
    Recipient.objects.filter(pk=again.pk).update(created_at=clock.now() + HOUR)
    recipient_ids.forget()
    late = minting.mint(
        "ana", recipient_id=again.pk, key=key, scopes=ALL, lifetime=HOUR, now=clock.now()
    ).text
    assert verification.verify(late).recipient_id == again.pk


def test_the_token_of_a_new_recipient_is_valid_at_once_behind_a_kept_id(ana: Recipient) -> None:
    key = _key()
    assert verification.verify(_mint(key)).recipient_id == ana.pk
    ana.delete()  # by another process: this one keeps the id
    again = Recipient.objects.create(mode=Mode.LIVE, user_id="ana")
    text = minting.mint(
        "ana", recipient_id=again.pk, key=key, scopes=ALL, lifetime=HOUR, now=clock.now()
    ).text
    assert verification.verify(text).recipient_id == again.pk


def test_a_token_from_before_an_erasure_does_not_reach_the_next_recipient_of_that_name(
    ana: Recipient,
) -> None:
    key = _key()
    now = clock.now() - dt.timedelta(minutes=1)
    text = minting.mint("ana", key=key, scopes=ALL, lifetime=HOUR, now=now).text
    assert verification.verify(text).recipient_id == ana.pk
    ana.delete()
    recipient_ids.forget()
    assert _refusal(text) is Refusal.UNKNOWN_RECIPIENT
    Recipient.objects.create(mode=Mode.LIVE, user_id="ana")
    assert _refusal(text) is Refusal.REVOKED
