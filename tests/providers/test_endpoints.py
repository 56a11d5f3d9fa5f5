"""What the health of a webhook or a chat account is kept by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.endpoints import MALFORMED, audience, chat_account, origin
from tests.providers.chat.services_fake import CASES, TOKEN, Case


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://Hooks.Example/a?token=x", "https://hooks.example:443"),
        ("https://hooks.example:443/b", "https://hooks.example:443"),
        ("http://user:hunter2@127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("https://[2001:db8::1]/", "https://[2001:db8::1]:443"),
        ("https://host:port/", MALFORMED),
        ("not a url", MALFORMED),
        ("", MALFORMED),
    ],
)
def test_a_webhook_is_known_by_its_origin(url: str, expected: str) -> None:
    assert origin(url) == expected


def test_chats_of_one_bot_share_an_endpoint_and_other_bots_have_their_own() -> None:
    one, other = (chat_account(f"tgram://{TOKEN}/{chat}") for chat in ("-1001", "-1002?topic=7"))
    assert one == other
    assert chat_account("tgram://987654321:other/-1001") != one
    assert chat_account("slack://" + TOKEN) != one


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_endpoint_tells_no_credential(case: Case) -> None:
    shown = chat_account(case.address)
    service, _, rest = case.address.partition("://")
    assert shown.startswith(service + ":")
    assert not any(part in shown for part in rest.replace("@", "/").split("/") if len(part) > 5)


@given(st.text())
def test_any_text_has_an_endpoint(text: str) -> None:
    assert origin(text)
    assert chat_account(text)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://Push.Example/send/1", "https://push.example"),
        ("https://push.example:443/send/1", "https://push.example"),
        ("https://push.example:8443/send/1", "https://push.example:8443"),
        ("http://push.example:80/", "http://push.example"),
        ("http://push.example:443/", "http://push.example:443"),
        ("https://[2001:db8::1]:443/", "https://[2001:db8::1]"),
    ],
)
def test_an_audience_has_no_default_port(url: str, expected: str) -> None:
    assert audience(url) == expected
