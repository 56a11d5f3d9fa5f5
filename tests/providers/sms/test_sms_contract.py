"""Twilio, Vonage and a described gateway against the one contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import orjson
import pytest

from providers import conformance, registry
from providers.conformance import Act, Subject
from providers.contract import Channel
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.sms.twilio import Config as TwilioConfig
from providers.sms.twilio import Twilio
from providers.sms.vonage import Config as VonageConfig
from providers.sms.vonage import Vonage
from providers.transport import Transport
from tests.providers.answering import AnsweringFake
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, twilio_fake
from tests.providers.sms.vonage_fake import vonage_fake

SECRETS = ["a-password-not-to-be-seen", "a-signature-secret-not-to-be-seen"]
PUBLIC_URL = "https://notify.example.com"


def twilio_subject(transport: Transport) -> Iterator[Subject]:
    with closing(twilio_fake()) as server:
        config = TwilioConfig(
            account_sid=ACCOUNT,
            auth_token=SECRETS[0],
            from_=NUMBER,
            public_url=PUBLIC_URL,
            url=server.origin,
        )
        yield Subject(
            provider=Twilio(config, transport=transport),
            server=server,
            channel=Channel.SMS,
            address="+15551234567",
            secrets=SECRETS[:1],
        )


def vonage_subject(transport: Transport) -> Iterator[Subject]:
    with closing(vonage_fake()) as server:
        config = VonageConfig(
            api_key="abcd1234",
            api_secret=SECRETS[0],
            signature_secret=SECRETS[1],
            from_="AcmeInc",
            public_url=PUBLIC_URL,
            url=server.origin,
        )
        yield Subject(
            provider=Vonage(config, transport=transport),
            server=server,
            channel=Channel.SMS,
            address="+447700900000",
            secrets=SECRETS,
        )


def _sinch_words(act: Act, request: ServerRequest) -> ServerAnswer:
    to = orjson.loads(request.body)["to"][0]
    status, code = {
        Act.ACCEPT: (201, ""),
        Act.REJECT: (400, "syntax_invalid_parameter_format"),
        Act.THROTTLE: (429, ""),
        Act.UNAVAILABLE: (503, ""),
        Act.BAD_CREDENTIALS: (401, "unauthorized"),
    }[act]
    body = {"id": "01FC66621VHDBN119Z8PMV1QPU"} if status == 201 else {"code": code, "text": to}
    headers = (("Retry-After", "7"),) if act is Act.THROTTLE else ()
    return ServerAnswer(status=status, body=orjson.dumps(body), headers=headers)


def gateway_subject(transport: Transport) -> Iterator[Subject]:
    """A described gateway: the description of Sinch."""

    def key(request: ServerRequest) -> str:
        return str(orjson.loads(request.body)["client_reference"])

    with closing(AnsweringFake(_sinch_words, key=key)) as server:
        (vendor,) = (each for each in registry.VENDORS if each.name == "sinch")
        settings = {
            "NOTIFY_SINCH_SERVICE_PLAN_ID": "plan",
            "NOTIFY_SINCH_API_TOKEN": SECRETS[0],
            "NOTIFY_SINCH_CALLBACK_SECRET": SECRETS[1],
            "NOTIFY_SINCH_FROM": "12345",
            "NOTIFY_SINCH_URL": server.origin,
            "NOTIFY_PUBLIC_URL": PUBLIC_URL,
        }
        yield Subject(
            provider=vendor.configure(settings, transport=transport),
            server=server,
            channel=Channel.SMS,
            address="+447700900000",
            secrets=SECRETS,
        )


@pytest.fixture(params=[twilio_subject, vonage_subject, gateway_subject])
def subject(request: pytest.FixtureRequest, transport: Transport) -> Iterator[Subject]:
    make: Callable[[Transport], Iterator[Subject]] = request.param
    yield from make(transport)


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
