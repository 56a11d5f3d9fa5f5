"""A token reaches its own recipient with its scopes; a key reaches the recipients of its mode."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

import jwt
import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.models import Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import api_keys
from notifications.core.store.rate_limits import address_limits
from notifications.features.recipient_tokens import minting
from tests.api.conftest import Caller, MakeCaller
from tests.api.recipient_site import serve_own_data

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

__all__ = ["serve_own_data"]
PATH = "/v1/inbox"
EVERY_SCOPE = sorted(TokenScope)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    address_limits.forget()
    recipient_ids.forget()
    yield
    address_limits.forget()


def _recipient(caller: Caller, user_id: str) -> Recipient:
    """A recipient of an hour ago."""
    row = Recipient.objects.create(mode=caller.mode, user_id=user_id)
    hour_ago = clock.now() - dt.timedelta(hours=1)
    Recipient.objects.filter(pk=row.pk).update(created_at=hour_ago)
    return row


def _mint(caller: Caller, user_id: str, **options: object) -> Reply:
    return caller.post(f"/v1/recipients/{user_id}/client-tokens", options)


def _token(caller: Caller, user_id: str, scopes: list[str]) -> str:
    answer = _mint(caller, user_id, scopes=scopes)
    assert answer.status_code == 201, answer.content
    text: str = answer.json()["token"]
    return text


def _minted(caller: Caller, user_id: str, scopes: list[TokenScope] = EVERY_SCOPE) -> str:
    """A token of the caller's key; the URL table of the tests has no path that issues tokens."""
    key = api_keys.of_prefix(caller.key.prefix)
    assert key is not None
    lifetime, now = dt.timedelta(hours=1), clock.now()
    return minting.mint(user_id, key=key, scopes=scopes, lifetime=lifetime, now=now).text


def _get(token: str, user_id: str) -> Reply:
    return Client(headers={"Authorization": f"Bearer {token}"}).get(f"{PATH}/{user_id}")


def test_the_issued_token_is_a_jwt_that_names_recipient_mode_and_scopes(caller: Caller) -> None:
    _recipient(caller, "ana")
    answer = _mint(caller, "ana", expires_in_seconds=60, scopes=["inbox:write", "inbox:read"])
    said = answer.json()
    claims = jwt.decode(said["token"], options={"verify_signature": False})
    assert (claims["sub"], claims["mode"], claims["aud"]) == ("ana", "live", "notify")
    assert claims["scope"] == "inbox:read inbox:write"
    assert said["scopes"] == ["inbox:read", "inbox:write"]
    assert 58 <= claims["exp"] - claims["iat"] <= 60
    assert claims["jti"]


def test_a_token_sends_receipts_only_unless_it_asks_for_more(caller: Caller) -> None:
    _recipient(caller, "ana")
    assert _mint(caller, "ana").json()["scopes"] == ["receipts:write"]
    reader = _token(caller, "ana", ["inbox:read"])
    receipt = {"delivery_id": "00000000-0000-0000-0000-000000000001", "kind": "opened"}
    refused = Client(headers={"Authorization": f"Bearer {reader}"}).post(
        "/v1/receipts/client", {"receipts": [receipt]}, content_type="application/json"
    )
    assert refused.status_code == 403
    assert 'scope="receipts:write"' in refused.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    ("scope", "needed"),
    [
        ("inbox:read", "inbox:read"),
        ("inbox:write", "inbox:write"),
        ("preferences:read", "recipients:read"),
        ("preferences:write", "preferences:write"),
        ("contacts:write", "contacts:write"),
    ],
)
def test_a_key_gives_a_token_no_right_that_the_key_lacks(
    caller: Caller, make_caller: MakeCaller, scope: str, needed: str
) -> None:
    _recipient(caller, "ana")
    poor = make_caller(scopes=["recipients:write"])
    refused = _mint(poor, "ana", scopes=["receipts:write", scope])
    assert refused.status_code == 403
    assert needed in refused.json()["detail"]
    rich = make_caller(scopes=["recipients:write", needed])
    assert _mint(rich, "ana", scopes=[scope]).status_code == 201


@pytest.mark.parametrize(
    "scopes", [[], ["inbox:*"], ["notifications:write"], ["receipts:write"] * 7]
)
def test_another_scope_is_a_problem(caller: Caller, scopes: list[str]) -> None:
    _recipient(caller, "ana")
    assert _mint(caller, "ana", scopes=scopes).status_code == 422


@pytest.mark.usefixtures("serve_own_data")
class TestViews:
    """The base class of views for recipients."""

    def test_a_token_reaches_its_own_recipient_by_id_and_as_me(self, caller: Caller) -> None:
        ana = _recipient(caller, "ana")
        token = _minted(caller, "ana")
        for name in ("ana", "me"):
            answer = _get(token, name)
            assert answer.status_code == 200, answer.content
            assert answer.json() == {
                "id": ana.pk,
                "mode": "live",
                "actor": f"recipient {ana.pk} (token of {caller.key.prefix})",
            }

    def test_another_recipient_is_403_whether_it_exists_or_not(self, caller: Caller) -> None:
        for name in ("ana", "bob", "me"):
            _recipient(caller, name)
        token = _minted(caller, "ana")
        bob, nobody = _get(token, "bob"), _get(token, "nobody")
        assert (bob.status_code, nobody.status_code) == (403, 403)
        hidden = {"instance": ""}
        assert bob.json() | hidden == nobody.json() | hidden
        assert _get(token, "ANA").status_code == 403
        assert _get(token, "me").json()["actor"] == _get(token, "ana").json()["actor"]

    def test_a_token_without_the_scope_is_403(self, caller: Caller) -> None:
        _recipient(caller, "ana")
        token = _minted(caller, "ana", [TokenScope.INBOX_WRITE, TokenScope.PREFERENCES_READ])
        refused = _get(token, "me")
        assert refused.status_code == 403
        assert 'error="insufficient_scope"' in refused.headers["WWW-Authenticate"]

    def test_no_token_calls_an_operation_without_a_scope_for_tokens(self, caller: Caller) -> None:
        _recipient(caller, "ana")
        token = _minted(caller, "ana")
        client = Client(headers={"Authorization": f"Bearer {token}"})
        assert client.post(f"{PATH}/ana", {}, "application/json").status_code == 403
        assert client.put(f"{PATH}/ana").status_code == 405

    def test_a_key_reaches_recipients_of_its_mode_with_the_scope(
        self, caller: Caller, make_caller: MakeCaller
    ) -> None:
        ana = _recipient(caller, "ana")
        assert caller.get(f"{PATH}/ana").json()["id"] == ana.pk
        assert caller.get(f"{PATH}/me").status_code == 404
        assert make_caller(mode=Mode.TEST).get(f"{PATH}/ana").status_code == 404
        assert make_caller(scopes=["notifications:*"]).get(f"{PATH}/ana").status_code == 403

    def test_a_test_token_reaches_the_test_recipient_only(
        self, caller: Caller, make_caller: MakeCaller
    ) -> None:
        live, trial = caller, make_caller(mode=Mode.TEST)
        rows = [_recipient(each, "ana") for each in (live, trial)]
        token = _minted(trial, "ana")
        assert _get(token, "me").json()["id"] == rows[1].pk

    def test_an_expired_token_is_401_each_time_and_forged_ones_are_counted(
        self, caller: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(address_limits, "_price", lambda _rate: 3_600_000_000.0)
        monkeypatch.setattr(address_limits, "_BURST_SECONDS", 1)
        _recipient(caller, "ana")
        token = _minted(caller, "ana")
        header, payload, _ = token.split(".")
        forged = f"{header}.{payload}.{'A' * 43}"
        now = clock.now
        with monkeypatch.context() as later:
            later.setattr(clock, "now", lambda: now() + dt.timedelta(days=2))
            assert {_get(token, "me").status_code for _ in range(22)} == {401}
        assert [_get(forged, "me").status_code for _ in range(22)][-1] == 429
        assert _get(token, "me").status_code == 200, "a valid token passes"

    def test_no_token_is_in_the_log(self, caller: Caller, caplog: pytest.LogCaptureFixture) -> None:
        _recipient(caller, "ana")
        token = _minted(caller, "ana")
        header, payload, signature = token.split(".")
        with caplog.at_level(logging.DEBUG):
            _get(token, "me")
            answer = _get(f"{header}.{payload}.{'A' * 43}", "me")
        assert answer.status_code == 401
        assert "signature" in answer.json()["detail"]
        assert not any(part in caplog.text for part in (payload, signature))
