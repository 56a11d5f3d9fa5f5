"""The rows of `services`, held to the code of anymail that they speak of."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from urllib.parse import quote

import pytest
from anymail.exceptions import AnymailConfigurationError, AnymailWarning
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.mail.backends.base import BaseEmailBackend
from django.views.generic import View

from providers.contract import Channel, ReceiptRequest
from providers.email import mime
from providers.email.anymail.callbacks import AnymailReceipts
from providers.email.anymail.encoding import Backend, EncodedRequest
from providers.email.anymail.services import SERVICES, AnymailService, code_in, value_at
from providers.errors import InvalidSignature
from providers.mail_headers import MailHeaders
from tests.providers.email.anymail.services_fake import PASSWORD
from tests.providers.messages import message

KEY = "".join(
    generate_private_key(SECP256R1())
    .public_key()
    .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    .decode()
    .splitlines()[1:-1]
)
"""Where an option is a public key; any other option takes it for a text."""

WITH_CALLBACKS = [name for name, service in SERVICES.items() if service.view]


def options(service: AnymailService) -> dict[str, str]:
    urls = {"api_url": "https://esp.example/api"} if "api_url" in service.needs else {}
    return dict.fromkeys(service.needs, KEY) | urls


def backend(name: str, given: dict[str, str]) -> Backend:
    return Backend(
        name, options=given, sender=mime.mailbox("Shop <no-reply@shop.example>"), codes={}
    )


@contextmanager
def unofficial() -> Iterator[None]:
    """Let anymail say that nobody tests SendGrid for it any more."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "django-anymail has dropped", AnymailWarning)
        yield


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_needs_is_enough_to_write_its_request(name: str) -> None:
    with unofficial():
        encoded = backend(name, options(SERVICES[name])).encode(
            message("maria@mailbox.example", Channel.EMAIL, html="<p>Hi</p>")
        )
    assert isinstance(encoded, EncodedRequest)
    assert encoded.request.url.startswith("https://")
    assert b"maria" in encoded.request.body


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_told_where_to_unsubscribe(name: str) -> None:
    mail = message("maria@mailbox.example", Channel.EMAIL, unsubscribe_url="https://us.example/u")
    with unofficial():
        encoded = backend(name, options(SERVICES[name])).encode(mail)
    assert isinstance(encoded, EncodedRequest)
    assert b"List-Unsubscribe" in encoded.request.body
    assert b"One-Click" in encoded.request.body


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_gets_the_sender_the_answers_and_the_thread_of_a_brand(name: str) -> None:
    headers = MailHeaders(
        sender_name="Shop",
        sender_address="news@brand.example",
        reply_to="help@brand.example",
        list_id="social.notify.example",
        thread_id="0f2c.thread@notify.example",
    )
    mail = message("maria@mailbox.example", Channel.EMAIL, mail=headers)
    with unofficial():
        encoded = backend(name, options(SERVICES[name])).encode(mail)
    assert isinstance(encoded, EncodedRequest)
    for part in (b"news@brand.example", b"help@brand.example", b"social.notify.example"):
        assert part in encoded.request.body or quote(part).encode() in encoded.request.body
    assert b"References" in encoded.request.body


@pytest.mark.parametrize(
    ("name", "left_out"),
    [(name, option) for name, service in SERVICES.items() for option in sorted(service.needs)],
)
def test_a_service_takes_no_less_than_its_row_says(name: str, left_out: str) -> None:
    given = options(SERVICES[name])
    del given[left_out]
    with unofficial(), pytest.raises(AnymailConfigurationError, match=left_out.upper()):
        backend(name, given)


@pytest.mark.parametrize("name", SERVICES)
def test_every_option_of_a_row_is_read_by_anymail(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SERVICES[name]
    all_options = dict.fromkeys(service.needs | service.knows, KEY) | {
        "api_url": "https://esp.example/api"
    }
    unread: list[set[str]] = []

    def remember(self: object, *_: object, **left: object) -> None:
        del self
        unread.append(set(left))

    monkeypatch.setattr(BaseEmailBackend, "__init__", remember)
    monkeypatch.setattr(View, "__init__", remember)
    with unofficial():
        backend(name, all_options)
        if service.view:
            view: Any = getattr(import_module(f"anymail.webhooks.{name}"), service.view)
            view(webhook_secret=[PASSWORD], **all_options)
    assert unread
    assert not set(all_options).intersection(*unread)


@pytest.mark.parametrize("name", WITH_CALLBACKS)
def test_every_service_with_callbacks_has_a_reader_that_lets_no_stranger_in(name: str) -> None:
    service = SERVICES[name]
    secrets = [PASSWORD] if service.takes_basic_auth else []
    given = options(service) | dict.fromkeys(service.signed_with, KEY)
    with unofficial():
        reader = AnymailReceipts(name, service, options=given, secrets=secrets)
    stranger = ReceiptRequest(
        url="https://notify.example/v1/receipts/anymail", headers={}, body=b""
    )
    with pytest.raises(InvalidSignature):
        reader.parse(stranger)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("a", 0, "b"), "1"),
        (("flag",), "False"),
        (("a", 1, "b"), ""),
        (("a", "b"), ""),
        (("a",), ""),
        (("a", 0, "b", "c"), ""),
        ((0,), ""),
        (("nothing",), ""),
        ((), ""),
    ],
)
def test_a_path_leads_to_a_scalar_or_to_nothing(path: tuple[str | int, ...], found: str) -> None:
    assert value_at({"a": [{"b": 1}], "flag": False, "nothing": None}, path) == found


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"code": {}}', b"\xff"])
def test_an_answer_without_a_code_has_none(body: bytes) -> None:
    assert code_in(body, SERVICES["brevo"]) == ""
