"""Pages of permitted origins read answers and problems; other pages read nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.db import OperationalError
from django.test import Client
from django.test.utils import override_settings

from notifications.core import clock, conf
from notifications.core.models import Producer, Recipient
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.postgres import api_keys
from notifications.core.store.rate_limits import address_limits
from notifications.core.store.recipient_tokens import cors
from notifications.features.recipient_tokens import minting
from tests.api.conftest import Caller, MakeCaller
from tests.api.recipient_site import serve_own_data

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

__all__ = ["serve_own_data"]
SHOP, BANK, EVIL = "https://shop.example", "https://bank.example:8443", "https://evil.example"
PATH = "/v1/inbox/me"
ALLOW = "Access-Control-Allow-Origin"
pytestmark = pytest.mark.usefixtures("serve_own_data")


@pytest.fixture(autouse=True)
def _no_limits() -> Iterator[None]:
    address_limits.forget()
    yield
    address_limits.forget()


@pytest.fixture
def shop(make_caller: MakeCaller) -> Caller:
    """A producer with an origin, and the recipient `ana`."""
    caller = make_caller("shop", allowed_origins=[SHOP])
    row = Recipient.objects.create(mode=caller.mode, user_id="ana")
    hour_ago = clock.now() - dt.timedelta(hours=1)
    Recipient.objects.filter(pk=row.pk).update(created_at=hour_ago)
    return caller


@pytest.fixture
def bank(make_caller: MakeCaller) -> Caller:
    return make_caller("bank", allowed_origins=[BANK])


def _token(caller: Caller) -> str:
    key = api_keys.of_prefix(caller.key.prefix)
    assert key is not None
    lifetime, now = dt.timedelta(hours=1), clock.now()
    return minting.mint("ana", key=key, scopes=TokenScope, lifetime=lifetime, now=now).text


def _get(token: str, origin: str, path: str = PATH) -> Reply:
    return Client(headers={"Authorization": f"Bearer {token}", "Origin": origin}).get(path)


def _preflight(origin: str, path: str = PATH) -> Reply:
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization, last-event-id",
    }
    return Client().options(path, headers=asked)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://testserver", 200),
        ("https://testserver", 200),
        ("http://testserver.evil.example", 403),
        ("http://testserver:1", 403),
        ("http://[", 403),
        ("null", 403),
    ],
)
def test_a_page_of_the_services_own_host_is_permitted(
    shop: Caller, origin: str, status: int
) -> None:
    # A browser names the origin of a POST to the page's own host, too.
    assert _get(_token(shop), origin).status_code == status


def test_a_page_of_the_producer_reads_the_answer(shop: Caller, bank: Caller) -> None:
    del bank
    answer = _get(_token(shop), SHOP)
    assert answer.status_code == 200
    assert answer.headers[ALLOW] == SHOP
    assert "Origin" in answer.headers["Vary"]
    assert "ETag" in answer.headers["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_page_of_another_producer_is_refused_before_the_view(shop: Caller, bank: Caller) -> None:
    """The page may read the reason, because the refusal holds no data."""
    answer = _get(_token(shop), BANK)
    assert answer.status_code == 403
    assert "origin" in answer.json()["detail"]
    assert answer.headers[ALLOW] == BANK
    bank.producer.delete()
    cors.forget()
    assert ALLOW not in _get(_token(shop), BANK).headers


@pytest.mark.parametrize(
    "origin",
    [EVIL, "null", f"{SHOP}.evil.example", f"{SHOP}@evil.example", SHOP.upper(), f"{SHOP}/", "*"],
)
def test_another_origin_gets_no_headers(shop: Caller, origin: str) -> None:
    for answer in (_get(_token(shop), origin), _get("wrong", origin), _preflight(origin)):
        assert answer.status_code in {401, 403}
        assert not [name for name in answer.headers if name.startswith("Access-Control")]
        assert "Origin" in answer.headers["Vary"]


def test_an_origin_with_line_breaks_writes_no_header(shop: Caller) -> None:
    answer = _get(_token(shop), f"{SHOP}\r\nX-Evil: 1")
    assert answer.status_code == 403
    assert "X-Evil" not in answer.headers
    assert ALLOW not in answer.headers


def test_without_an_origin_nothing_changes_but_vary(shop: Caller) -> None:
    answer = Client(headers={"Authorization": f"Bearer {_token(shop)}"}).get(PATH)
    assert answer.status_code == 200
    assert ALLOW not in answer.headers
    assert "Origin" in answer.headers["Vary"]


def test_a_preflight_needs_no_token_and_is_answered_for_each_producer(
    shop: Caller, bank: Caller
) -> None:
    for caller, origin in ((shop, SHOP), (bank, BANK)):
        answer = _preflight(origin)
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers[ALLOW] == origin
        allowed = answer.headers["Access-Control-Allow-Headers"].split(", ")
        assert {"authorization", "last-event-id", "if-none-match"} <= set(allowed)
        assert "PATCH" in answer.headers["Access-Control-Allow-Methods"]
        assert answer.headers["Access-Control-Max-Age"] == "7200"
        Producer.objects.filter(pk=caller.producer.pk).update(is_active=False)
        cors.forget()
        assert _preflight(origin).status_code == 403


@pytest.mark.parametrize(
    ("path", "is_there"),
    [
        ("/v1/inbox/ana/stream", True),
        ("/v1/recipients/ana/preferences", True),
        ("/v1/recipients/a%0Ab/contacts", True),
        ("/v1/recipients/ana/contacts/7", True),
        ("/v1/recipients/ana", False),
        ("/v1/recipients/ana/client-tokens", False),
        ("/v1/notifications", False),
        ("/admin/", False),
        ("/v1/inboxes", False),
        ("//v1/inbox/ana", False),
    ],
)
def test_the_paths_with_cross_origin_answers(shop: Caller, path: str, is_there: bool) -> None:  # noqa: FBT001 - of the table
    del shop
    assert (ALLOW in _preflight(SHOP, path).headers) is is_there


def test_refusals_before_the_view_have_the_headers(shop: Caller) -> None:
    token = _token(shop)
    headers = {"Authorization": f"Bearer {token}", "Origin": SHOP}
    large = Client(headers=headers).post(PATH, b" " * 2_000_000, "application/json")
    unknown = _get(token, SHOP, "/v1/inbox/me/unknown/path/of/nobody")
    assert (large.status_code, unknown.status_code) == (413, 404)
    expired = _get("a.b.c", SHOP)
    assert expired.status_code == 401
    for answer in (large, unknown, expired):
        assert answer.headers[ALLOW] == SHOP


@pytest.mark.usefixtures("shop")
def test_a_refusal_for_too_many_requests_has_the_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_limits, "_price", lambda _rate: 3_600_000_000.0)
    monkeypatch.setattr(address_limits, "_BURST_SECONDS", 1)
    answers = [_get("a.b.c", SHOP) for _ in range(21)]
    assert answers[-1].status_code == 429
    assert answers[-1].headers[ALLOW] == SHOP
    assert "Retry-After" in answers[-1].headers["Access-Control-Expose-Headers"]


def test_while_the_database_is_away_the_page_reads_the_problem(
    shop: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = _token(shop)
    assert _get(token, SHOP).headers[ALLOW] == SHOP

    def away(*_anything: object) -> None:
        raise OperationalError

    monkeypatch.setattr("notifications.core.store.recipient_tokens.cors._read", away)
    monkeypatch.setattr("notifications.core.store.recipient_tokens.verification.verify", away)
    answer = _get(token, SHOP)
    assert answer.status_code == 503
    assert answer.headers[ALLOW] == SHOP


def test_no_page_reads_what_an_api_key_gets(shop: Caller) -> None:
    answer = _get(shop.secret, SHOP, "/v1/inbox/ana")
    assert answer.status_code == 200
    assert ALLOW not in answer.headers


def test_a_star_permits_every_origin_without_credentials(make_caller: MakeCaller) -> None:
    caller = make_caller("demo", allowed_origins=["*"])
    Recipient.objects.create(mode=caller.mode, user_id="ana")
    for origin in (EVIL, "null"):
        answer = _get(_token(caller), origin)
        assert answer.status_code == 200
        assert answer.headers[ALLOW] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert _preflight(origin).status_code == 204


def test_the_pages_of_the_installation_are_always_permitted(
    make_caller: MakeCaller, shop: Caller
) -> None:
    del shop
    caller = make_caller("silent")
    own = conf.current().public_url
    assert _preflight(own).headers[ALLOW] == own
    assert _get(_token(caller), own).headers[ALLOW] == own


@pytest.mark.parametrize("size", [10, 70_000])
def test_client_receipts_come_from_every_origin(shop: Caller, size: int) -> None:
    headers = {"Authorization": f"Bearer {_token(shop)}", "Origin": EVIL}
    path, body = "/v1/receipts/client", b" " * size
    with override_settings(ROOT_URLCONF="notifyproj.urls"):
        answer = Client(headers=headers).post(path, body, "application/json")
    assert answer.status_code == (400 if size == 10 else 413)
    assert answer.headers[ALLOW] == "*"
