"""An answer of each class of the vendors that answer alone: push, chat, webhooks, SMTP.

These vendors call nobody back, so the answer to the request decides about the contact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Final

import pytest

from providers import registry
from providers.chat.answers import WECOM_GONE
from providers.chat.services import SERVICES
from providers.email.smtp_replies import Stage, outcome_of
from providers.sandbox_server.wire import ServerAnswer
from providers.sms.gateways import vendors as gateways
from providers.transport import Transport
from providers.verdicts import Verdict
from tests.certificate import make_certificate
from tests.providers.answering import CONTRACT, shape
from tests.providers.chat import test_apprise_chat as chat
from tests.providers.chat.services_fake import refusal, telegram_fake
from tests.providers.fakes import HttpFake
from tests.providers.messages import message
from tests.providers.push import test_push_contract as push
from tests.providers.push.vendors import (
    PushFake,
    apns_error,
    expo_error,
    expo_refusal,
    expo_tickets,
    fcm_error,
)
from tests.providers.test_webhook import send as send_webhook
from tests.providers.trying import outcomes


class AnswerClass(StrEnum):
    """What an answer says."""

    GONE = "gone"
    """The device, the chat or the mailbox is no more."""
    GONE_OR_OURS = "gone, or our setting"
    """Dead for one address, a wrong setting for many."""
    REFUSED = "refused"
    """This message, or the right to write there: the address stays."""
    TOO_FAST = "too fast"
    OUR_FAULT = "our fault"
    """Credentials, account or sender."""
    DOWN = "down"
    FULL = "full"


VERDICTS: Final[Mapping[AnswerClass, Verdict]] = {
    AnswerClass.GONE: Verdict.DEAD,
    AnswerClass.GONE_OR_OURS: Verdict.DEAD_OR_MISCONFIGURED,
    AnswerClass.REFUSED: Verdict.REJECTED,
    AnswerClass.TOO_FAST: Verdict.THROTTLED,
    AnswerClass.OUR_FAULT: Verdict.MISCONFIGURED,
    AnswerClass.DOWN: Verdict.UNAVAILABLE,
    AnswerClass.FULL: Verdict.UNAVAILABLE,
}
Answers = Mapping[AnswerClass, ServerAnswer]


def status(code: int) -> ServerAnswer:
    return ServerAnswer(status=code)


PUSH: Final[dict[str, Answers]] = {
    "apns": {
        AnswerClass.GONE: apns_error(410, "Unregistered", timestamp=1_764_000_000_000),
        AnswerClass.GONE_OR_OURS: apns_error(400, "BadDeviceToken"),
        AnswerClass.REFUSED: apns_error(413, "PayloadTooLarge"),
        AnswerClass.TOO_FAST: apns_error(429, "TooManyRequests"),
        AnswerClass.OUR_FAULT: apns_error(403, "InvalidProviderToken"),
        AnswerClass.DOWN: apns_error(503, "Shutdown"),
    },
    "expo": {
        AnswerClass.GONE: expo_tickets(expo_refusal("DeviceNotRegistered")),
        AnswerClass.REFUSED: expo_tickets(expo_refusal("MessageTooBig")),
        AnswerClass.TOO_FAST: expo_error(429, "TOO_MANY_REQUESTS"),
        AnswerClass.OUR_FAULT: expo_error(401, "UNAUTHORIZED"),
        AnswerClass.DOWN: expo_error(503, "INTERNAL_SERVER_ERROR"),
    },
    "fcm": {
        AnswerClass.GONE: fcm_error(404, "NOT_FOUND", code="UNREGISTERED"),
        AnswerClass.GONE_OR_OURS: fcm_error(403, "PERMISSION_DENIED", code="SENDER_ID_MISMATCH"),
        AnswerClass.REFUSED: fcm_error(400, "INVALID_ARGUMENT", code="INVALID_ARGUMENT"),
        AnswerClass.TOO_FAST: fcm_error(429, "RESOURCE_EXHAUSTED", code="QUOTA_EXCEEDED"),
        AnswerClass.OUR_FAULT: fcm_error(403, "PERMISSION_DENIED"),
        AnswerClass.DOWN: fcm_error(503, "UNAVAILABLE", code="UNAVAILABLE"),
    },
    "web_push": {
        AnswerClass.GONE: status(410),
        AnswerClass.REFUSED: status(413),
        AnswerClass.TOO_FAST: status(429),
        AnswerClass.OUR_FAULT: status(401),
        AnswerClass.DOWN: status(503),
    },
}
_CODES: Final[Mapping[str, Mapping[AnswerClass, str]]] = {
    "slack": {
        AnswerClass.GONE: "is_archived",
        AnswerClass.GONE_OR_OURS: "token_revoked",
        AnswerClass.REFUSED: "not_in_channel",
        AnswerClass.TOO_FAST: "ratelimited",
        AnswerClass.DOWN: "internal_error",
    },
    "discord": {
        AnswerClass.GONE: "10015",
        AnswerClass.REFUSED: "50006",
        AnswerClass.OUR_FAULT: "40333",
        AnswerClass.DOWN: "130000",
    },
    "workflow": {
        AnswerClass.GONE: "WorkflowNotFound",
        AnswerClass.REFUSED: "TriggerInputSchemaMismatch",
        AnswerClass.TOO_FAST: "WorkflowTriggerThrottled",
    },
    "tgram": {
        AnswerClass.GONE: "bot was blocked by the user",
        AnswerClass.REFUSED: "have no rights to send a message",
    },
    "gchat": {
        AnswerClass.GONE: "NOT_FOUND",
        AnswerClass.REFUSED: "PERMISSION_DENIED",
        AnswerClass.TOO_FAST: "RESOURCE_EXHAUSTED",
        AnswerClass.DOWN: "UNAVAILABLE",
    },
    "mmosts": {
        AnswerClass.GONE: "web.incoming_webhook.invalid.app_error",
        AnswerClass.REFUSED: "web.incoming_webhook.channel_locked.app_error",
    },
    "rockets": {AnswerClass.GONE: "404", AnswerClass.REFUSED: "403"},
    "wxteams": {AnswerClass.GONE: "404", AnswerClass.REFUSED: "403"},
    "matrixs": {AnswerClass.GONE: "404", AnswerClass.REFUSED: "403"},
    "zulip": {
        AnswerClass.GONE: "STREAM_DOES_NOT_EXIST",
        AnswerClass.GONE_OR_OURS: "INVALID_API_KEY",
        AnswerClass.REFUSED: "BAD_REQUEST",
        AnswerClass.TOO_FAST: "RATE_LIMIT_HIT",
        AnswerClass.DOWN: "SERVER_NOT_READY",
    },
    "nctalks": {
        AnswerClass.GONE: "404",
        AnswerClass.GONE_OR_OURS: "401",
        AnswerClass.REFUSED: "412",
    },
    "lark": {
        AnswerClass.GONE: "19001",
        AnswerClass.REFUSED: "19024",
        AnswerClass.TOO_FAST: "11232",
    },
    "dingtalk": {
        AnswerClass.GONE: "400013",
        AnswerClass.REFUSED: "430102",
        AnswerClass.TOO_FAST: "660026",
        AnswerClass.DOWN: "-1",
    },
    "wecombot": {
        AnswerClass.GONE: WECOM_GONE,
        AnswerClass.REFUSED: "93000",
        AnswerClass.TOO_FAST: "45009",
        AnswerClass.DOWN: "-1",
    },
    "line": {
        AnswerClass.GONE: "The property, 'to', in the request body is invalid",
        AnswerClass.GONE_OR_OURS: "401",
        AnswerClass.REFUSED: "Failed to send messages",
        AnswerClass.TOO_FAST: "The API rate limit has been exceeded. Try again later.",
    },
    "viber": {
        AnswerClass.GONE: "6",
        AnswerClass.GONE_OR_OURS: "2",
        AnswerClass.REFUSED: "3",
        AnswerClass.TOO_FAST: "12",
    },
    "threema": {
        AnswerClass.GONE: "404",
        AnswerClass.GONE_OR_OURS: "401",
        AnswerClass.REFUSED: "413",
    },
    "pover": {
        AnswerClass.GONE: "user invalid",
        AnswerClass.GONE_OR_OURS: "token invalid",
        AnswerClass.REFUSED: "400",
    },
    "ntfy": {
        AnswerClass.GONE: "40009",
        AnswerClass.GONE_OR_OURS: "40101",
        AnswerClass.REFUSED: "40301",
        AnswerClass.TOO_FAST: "42908",
        AnswerClass.DOWN: "50001",
    },
    "gotifys": {AnswerClass.GONE: "401", AnswerClass.REFUSED: "403"},
}
_SAME_ANSWERS: Final = {"workflows": "workflow", "feishu": "lark", "ntfys": "ntfy"}
CHAT: Final[dict[str, Answers]] = {
    name: {AnswerClass.TOO_FAST: status(429), AnswerClass.DOWN: status(503)}
    | {each: refusal(name, code) for each, code in codes.items()}
    for name, codes in {**_CODES, **{a: _CODES[b] for a, b in _SAME_ANSWERS.items()}}.items()
}
"""By scheme; every service answers 429 and 503 without words of its own too."""
SMTP: Final[Mapping[AnswerClass, tuple[int, bytes]]] = {
    AnswerClass.GONE: (550, b"5.1.1 User unknown"),
    AnswerClass.REFUSED: (552, b"5.3.4 Message too big"),
    AnswerClass.TOO_FAST: (454, b"4.7.28 too many messages"),
    AnswerClass.OUR_FAULT: (550, b"relay not permitted"),
    AnswerClass.DOWN: (421, b"4.3.2 closing"),
    AnswerClass.FULL: (552, b"5.2.2 Mailbox full"),
}
WEBHOOK: Final[Mapping[AnswerClass, int]] = {AnswerClass.GONE: 410, AnswerClass.DOWN: 503}

_NO_BOX: Final[dict[AnswerClass, str]] = {
    AnswerClass.FULL: "nothing of a device or a chat fills up"
}
_OF_THE_ADDRESS: Final = "the credentials are a part of the address: a wrong one is gone"
ABSENT: Final[Mapping[str, Mapping[AnswerClass, str]]] = {
    "apns": _NO_BOX,
    "expo": _NO_BOX | {AnswerClass.GONE_OR_OURS: "wrong credentials have codes of their own"},
    "fcm": _NO_BOX,
    "web_push": _NO_BOX | {AnswerClass.GONE_OR_OURS: "a second 403 in a row: see test_web_push"},
    **{
        name: _NO_BOX
        | {
            each: _OF_THE_ADDRESS
            for each in (AnswerClass.GONE_OR_OURS, AnswerClass.OUR_FAULT)
            if each not in answers
        }
        for name, answers in CHAT.items()
    },
    "smtp": {AnswerClass.GONE_OR_OURS: "enhanced codes tell the two apart"},
    "webhook": _NO_BOX
    | dict.fromkeys(
        (
            AnswerClass.GONE_OR_OURS,
            AnswerClass.REFUSED,
            AnswerClass.TOO_FAST,
            AnswerClass.OUR_FAULT,
        ),
        "the receiver is the producer's own: everything but 410 is tried again",
    ),
}
"""Classes that a vendor's documents do not have, and why."""

_SUBJECTS: Final = {
    "apns": push.apns_subject,
    "expo": push.expo_subject,
    "fcm": push.fcm_subject,
    "web_push": push.web_push_subject,
}


@pytest.fixture
def endpoint() -> Iterator[HttpFake]:
    with closing(HttpFake(key_header="webhook-id")) as it:
        yield it


def expected(said: AnswerClass) -> tuple[str, bool | str]:
    return CONTRACT[VERDICTS[said]]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    make_certificate(path)
    return path


@pytest.mark.parametrize(
    ("vendor", "said"), [(vendor, said) for vendor, answers in PUSH.items() for said in answers]
)
def test_each_class_of_push_has_its_outcome(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, vendor: str, said: AnswerClass
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with closing(Transport()) as transport:
        for subject in _SUBJECTS[vendor](transport, certificate):
            answer = PUSH[vendor][said]
            assert isinstance(subject.server, PushFake)
            subject.server.script = [answer] * 3  # a refused token is renewed once
            (outcome,) = outcomes(subject.provider, message(subject.address))
            assert shape(outcome) == expected(said)


@pytest.mark.parametrize(
    ("scheme", "said"), [(scheme, said) for scheme, answers in CHAT.items() for said in answers]
)
def test_each_class_of_chat_has_its_outcome(scheme: str, said: AnswerClass) -> None:
    with closing(telegram_fake()) as server, closing(Transport()) as transport:
        server.answer = CHAT[scheme][said]
        address = chat.BY_SCHEME[scheme].address
        (outcome,) = outcomes(chat.adapter(server, transport), chat.chat(address))
    assert shape(outcome) == expected(said)


@pytest.mark.parametrize("said", SMTP)
def test_each_class_of_smtp_has_its_outcome(said: AnswerClass) -> None:
    code, text = SMTP[said]
    assert shape(outcome_of(code, text, stage=Stage.RECIPIENT)) == expected(said)


@pytest.mark.parametrize("said", WEBHOOK)
def test_each_class_of_webhook_has_its_outcome(endpoint: HttpFake, said: AnswerClass) -> None:
    endpoint.status = WEBHOOK[said]
    assert shape(send_webhook(endpoint.url, allow_private=True)) == expected(said)


def test_each_vendor_has_a_row_for_each_class_or_a_reason_why_not() -> None:
    rows: dict[str, set[AnswerClass]] = {
        **{name: set(answers) for name, answers in (PUSH | CHAT).items()},
        "smtp": set(SMTP),
        "webhook": set(WEBHOOK),
    }
    calling = {"anymail", "aws_eum", "sandbox", "ses", "twilio", "vonage", "whatsapp"}  # tests/api
    of_texts = {"aws_sns", *(file.stem for file in gateways.PRESETS.glob("*.toml"))}
    # their tables of codes: test_aws_sns, sms/gateways/test_presets
    vendors = {vendor.name for vendor in registry.VENDORS} - calling - of_texts
    assert vendors == set(PUSH) | {"apprise", "smtp", "webhook"}
    assert set(CHAT) == set(SERVICES)
    for vendor, there in rows.items():
        assert there | set(ABSENT[vendor]) == set(AnswerClass), vendor
        assert not there & set(ABSENT[vendor]), vendor
