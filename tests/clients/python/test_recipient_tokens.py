"""Tokens that a back end signs without a call are accepted by the service."""

from __future__ import annotations

from datetime import timedelta
from typing import LiteralString

import httpx
import jwt
import psycopg
import pytest

from notifications.core import clock
from notify_client import recipient_tokens
from notifyproj.devstack.demo.environment import until
from tests.clients.service import Service

SECRET = f"nts_test_abcd1234_{'0f' * 32}"
RECEIPT = {"delivery_id": "00000000-0000-7000-8000-000000000001", "kind": "opened"}


def _send_receipt(service: Service, token: str) -> int:
    answer = httpx.post(
        f"{service.url}/v1/receipts/client",
        json={"receipts": [RECEIPT]},
        headers={"Authorization": f"Bearer {token}"},
    )
    return answer.status_code


def test_the_service_accepts_the_token_for_its_scopes_and_time(service: Service) -> None:
    good = recipient_tokens.mint(service.token_secret, "maria", scopes=["receipts:write"])
    assert _send_receipt(service, good) == 200
    reader = recipient_tokens.mint(service.token_secret, "maria", scopes=["inbox:read"])
    assert _send_receipt(service, reader) == 403
    hour_ago = clock.now() - timedelta(hours=1)
    old = recipient_tokens.mint(
        service.token_secret, "maria", scopes=["receipts:write"], now=hour_ago
    )
    assert _send_receipt(service, old) == 401
    nobody = recipient_tokens.mint(service.token_secret, "nobody", scopes=["receipts:write"])
    assert _send_receipt(service, nobody) == 401


def test_a_revocation_by_another_process_ends_the_token(service: Service) -> None:
    token = recipient_tokens.mint(service.token_secret, "inbox-sync", scopes=["receipts:write"])
    assert _send_receipt(service, token) == 200
    _run(
        service,
        "INSERT INTO token_revocation SELECT id, now(), now() FROM"
        " notifications_recipient WHERE user_id = 'inbox-sync'",
    )
    until(lambda: _send_receipt(service, token) == 401, what="the web process refuses the token")


def test_a_secret_that_another_process_revokes_signs_nothing(service: Service) -> None:
    token = recipient_tokens.mint(service.token_secret, "maria", scopes=["inbox:read"])
    assert _send_receipt(service, token) == 403
    _run(service, "UPDATE token_secret SET revoked_at = now()")
    try:
        until(lambda: _send_receipt(service, token) == 401, what="the web process refuses")
    finally:
        _run(service, "UPDATE token_secret SET revoked_at = NULL")


def _run(service: Service, statement: LiteralString) -> None:
    """Change rows in a process that is not the web process."""
    with psycopg.connect(service.database) as link:
        link.execute(statement)


def test_the_token_is_a_jwt_of_the_secret() -> None:
    now = clock.now()
    token = recipient_tokens.mint(
        SECRET, "mäx", scopes=["inbox:read", "inbox:write"], lifetime=timedelta(minutes=1), now=now
    )
    claims = jwt.decode(token, SECRET, ["HS256"], audience="notify")
    assert jwt.get_unverified_header(token) == {
        "alg": "HS256",
        "kid": "nts_test_abcd1234",
        "typ": "JWT",
    }
    assert (
        claims["jti"]
        != jwt.decode(
            recipient_tokens.mint(SECRET, "mäx", scopes=["inbox:read"]),
            SECRET,
            ["HS256"],
            audience="notify",
        )["jti"]
    )
    assert claims == {
        "aud": "notify",
        "sub": "mäx",
        "mode": "test",
        "scope": "inbox:read inbox:write",
        "iat": now.timestamp(),
        "exp": int(now.timestamp() + 60),
        "jti": claims["jti"],
    }


@pytest.mark.parametrize(
    ("secret", "user_id", "seconds"),
    [
        (SECRET.upper(), "ana", 60),
        ("nk_test_abcd1234_secret", "ana", 60),
        (f"{SECRET}\n", "ana", 60),
        (SECRET, "", 60),
        (SECRET, "ana", 59),
        (SECRET, "ana", 86_401),
    ],
)
def test_a_wrong_argument_is_refused_without_the_secret(
    secret: str, user_id: str, seconds: int
) -> None:
    with pytest.raises(ValueError, match="token") as refused:
        recipient_tokens.mint(
            secret, user_id, scopes=["inbox:read"], lifetime=timedelta(seconds=seconds)
        )
    assert secret.strip() not in str(refused.value)
