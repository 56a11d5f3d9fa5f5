"""The client believes what the service's webhook adapter signs, and nothing else."""

from __future__ import annotations

import base64
import datetime as dt
import hmac
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest

from notifications.core.clock import now
from notify_client import InvalidSignature, webhooks
from providers import configuration, standard_webhooks
from providers.contract import Channel
from providers.sandbox_server.wire import ServerRequest
from providers.standard_webhooks import Secret
from providers.transport import Transport
from providers.webhook.standard import Config, Webhook
from tests.providers.fakes import HttpFake
from tests.providers.messages import message

NEW: Final = "whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw=="
OLD: Final = "whsec_b2xkLXNlY3JldC1vbGQtc2VjcmV0LW9sZA=="
OTHER: Final = "whsec_b3RoZXItc2VjcmV0LW90aGVyLXNlY3JldA=="


@pytest.fixture(scope="module")
def request_() -> Iterator[ServerRequest]:
    """A webhook that the service has sent, signed with the new secret and the old."""
    with closing(HttpFake(key_header="webhook-id")) as endpoint, closing(Transport()) as transport:
        config = Config(secrets=configuration.secrets(f"{NEW},{OLD}"), allow_private=True)
        batch = [message(endpoint.url, Channel.WEBHOOK)]
        (_,) = Webhook(config, transport=transport).send(batch, deadline=dt.timedelta(seconds=10))
        (request,) = endpoint.requests
        yield request


@pytest.mark.parametrize("held", [NEW, OLD, [OTHER, NEW], [OLD, NEW]])
def test_either_secret_of_a_rotation_verifies(
    request_: ServerRequest, held: str | list[str]
) -> None:
    event = webhooks.verify(request_.body, request_.headers, held)
    assert event["type"] == "notification"
    assert event["data"]["title"] == "Order ready"


def test_the_case_of_a_headers_name_is_no_matter(request_: ServerRequest) -> None:
    headers = {name.title(): value for name, value in request_.headers.items()}
    assert webhooks.verify(request_.body, headers, NEW)


def test_another_secret_does_not_verify(request_: ServerRequest) -> None:
    with pytest.raises(InvalidSignature):
        webhooks.verify(request_.body, request_.headers, OTHER)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("webhook-id", "another"),
        ("webhook-id", ""),
        ("webhook-timestamp", "1"),
        ("webhook-timestamp", "9" * 5000),
        ("webhook-timestamp", "1\u0661"),
        ("webhook-timestamp", "nan"),
        ("webhook-signature", ""),
        ("webhook-signature", "v1,"),
        ("webhook-signature", "v1,ü \udcff"),
        ("webhook-signature", "v2,AAAA"),
    ],
)
def test_a_changed_header_does_not_verify(request_: ServerRequest, header: str, value: str) -> None:
    with pytest.raises(InvalidSignature):
        webhooks.verify(request_.body, {**request_.headers, header: value}, NEW)


@pytest.mark.parametrize("header", sorted(standard_webhooks.HEADERS))
def test_a_missing_header_does_not_verify(request_: ServerRequest, header: str) -> None:
    headers = {name: value for name, value in request_.headers.items() if name != header}
    with pytest.raises(InvalidSignature):
        webhooks.verify(request_.body, headers, NEW)


def test_a_changed_body_does_not_verify(request_: ServerRequest) -> None:
    with pytest.raises(InvalidSignature):
        webhooks.verify(request_.body + b" ", request_.headers, NEW)


@pytest.mark.parametrize(
    ("seconds", "holds"), [(-301, False), (-290, True), (290, True), (301, False)]
)
def test_a_timestamp_may_be_five_minutes_off(seconds: int, *, holds: bool) -> None:
    at = now()
    signed = standard_webhooks.sign(b"{}", message_id="m", at=at, secrets=[Secret.parse(NEW)])
    later = at + dt.timedelta(seconds=seconds)
    if holds:
        assert not webhooks.verify(b"{}", signed, NEW, now=later)
    else:
        with pytest.raises(InvalidSignature):
            webhooks.verify(b"{}", signed, NEW, now=later)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_%%%", "whsec_YWJj", "secret-of-mine"])
def test_an_unusable_secret_is_an_error_that_does_not_show_it(secret: str) -> None:
    with pytest.raises(ValueError, match=r"secret|whsec_") as error:
        webhooks.verify(b"{}", {}, [secret])
    assert "mine" not in str(error.value)


def test_no_secret_is_an_error() -> None:
    with pytest.raises(ValueError, match="secret"):
        webhooks.verify(b"{}", {}, [])


def test_signatures_are_compared_in_constant_time(
    request_: ServerRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", noted)
    webhooks.verify(request_.body, request_.headers, [NEW, OLD])
    assert len(compared) == 4  # each given with each expected, whichever matches first


def test_a_signed_body_that_is_no_object_is_an_error() -> None:
    signed = standard_webhooks.sign(b"[]", message_id="m", at=now(), secrets=[Secret.parse(NEW)])
    with pytest.raises(ValueError, match="object"):
        webhooks.verify(b"[]", signed, NEW)


def test_text_instead_of_bytes_is_an_error() -> None:
    body: bytes = base64.b64decode("e30=").decode()  # type: ignore[assignment] # the mistake
    with pytest.raises(TypeError, match="bytes"):
        webhooks.verify(body, {}, NEW)
