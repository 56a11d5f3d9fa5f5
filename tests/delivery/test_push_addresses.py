"""The push addresses that a recipient token may register, and the key of web push."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from notifications.core.delivery import push_addresses, routing
from tests.providers.push.browser import Browser
from tests.providers.push.credentials import p256_raw

EXPO = "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]"
DEVICE = "cXyz:APA91b-" + "x" * 100


@pytest.fixture
def _web_push(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("NOTIFY_WEB_PUSH_PRIVATE_KEY", p256_raw())
    monkeypatch.setenv("NOTIFY_WEB_PUSH_SUBJECT", "mailto:push@shop.example")
    routing.forget()
    yield
    monkeypatch.undo()
    routing.forget()


@pytest.mark.usefixtures("_web_push")
def test_equal_subscriptions_of_a_browser_have_one_stored_form() -> None:
    browser = Browser("https://fcm.googleapis.com/fcm/send/abc")
    stored = push_addresses.normalize("web_push", browser.subscription)
    assert push_addresses.normalize("web_push", stored) == stored
    assert "expirationTime" in browser.subscription
    assert "expirationTime" not in stored
    assert len(push_addresses.web_push_key() or "") == 87  # 65 bytes in base64url


@pytest.mark.usefixtures("_web_push")
@pytest.mark.parametrize(
    ("endpoint", "fault"),
    [
        ("https://push.example.com/1", "NOTIFY_WEB_PUSH_SERVICES"),
        ("https://fcm.googleapis.com.example.com/1", "NOTIFY_WEB_PUSH_SERVICES"),
        ("http://fcm.googleapis.com/1", "https://"),
        ("https://169.254.169.254/latest", "private address"),
        ("https://user@fcm.googleapis.com/1", "user name"),
    ],
)
def test_a_browser_is_registered_at_a_known_push_service_only(endpoint: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault) as raised:
        push_addresses.normalize("web_push", Browser(endpoint).subscription)
    assert endpoint not in str(raised.value)


@pytest.mark.usefixtures("_web_push")
@pytest.mark.parametrize("address", ["", "{}", "[1]", '{"endpoint": "https://a.example"}', "x"])
def test_a_malformed_subscription_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="PushSubscription"):
        push_addresses.normalize("web_push", address)


def test_without_a_vapid_key_no_browser_is_registered() -> None:
    assert push_addresses.web_push_key() is None
    with pytest.raises(ValueError, match="not configured"):
        push_addresses.normalize("web_push", Browser("https://fcm.googleapis.com/1").subscription)


def test_an_app_registers_device_tokens_and_no_other_kind() -> None:
    assert push_addresses.normalize("fcm_token", DEVICE) == DEVICE
    assert push_addresses.normalize("apns_token", "ab" * 32) == "ab" * 32
    assert push_addresses.normalize("expo_token", EXPO) == EXPO
    for kind, address in (
        ("", DEVICE),
        ("expo_token", DEVICE),
        ("sms", "+15551234567"),
        ("fcm_token", "x" * 1_025),
    ):
        with pytest.raises(ValueError, match=r"kind|device token|Expo push token"):
            push_addresses.normalize(kind, address)
