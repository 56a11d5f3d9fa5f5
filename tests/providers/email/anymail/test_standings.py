"""A callback of each class of each service: what it says about the message and the address."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from providers.contract import Receipt, ReceiptKind, ReceiptRequest
from providers.email.anymail.services import SERVICES
from providers.email.anymail.standings import RULES
from providers.transport import Transport
from tests.providers.email.anymail.services_fake import PASSWORD, TOKEN, adapter

URL = "https://notify.example/v1/receipts/anymail"
BOUNCED, FAILED, READ = ReceiptKind.BOUNCED, ReceiptKind.FAILED, ReceiptKind.READ
ALIVE, DEAD = (False, False, False), (True, False, False)
COMPLAINED, OPTED_OUT = (True, True, False), (False, False, True)
FULL = "552 5.2.2 the recipient's inbox was full: hard bounce, no such user"
"""Words of a receiving server that decide nothing."""

Event = Mapping[str, Any]
POSTAL_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Callback(NamedTuple):
    """A callback: its body, and the headers beside the password."""

    body: bytes
    headers: Mapping[str, str] = {}


def in_json(event: object) -> Callback:
    return Callback(orjson.dumps(event))


def from_mailgun(event: Event) -> Callback:
    signature = hmac.new(TOKEN.encode(), b"1once", hashlib.sha256).hexdigest()
    signed = {"timestamp": "1", "token": "once", "signature": signature}
    about = {"timestamp": 1.5, "message": {"headers": {"message-id": "1"}}}
    return in_json({"signature": signed, "event-data": {**about, **event}})


def from_mandrill(event: Event) -> Callback:
    text = orjson.dumps([{"_id": "1", "ts": 1, **event}]).decode()
    signed = f"{URL}mandrill_events{text}".encode()
    signature = base64.b64encode(hmac.new(TOKEN.encode(), signed, hashlib.sha1).digest()).decode()
    return Callback(
        urlencode({"mandrill_events": text}).encode(),
        {
            "content-type": "application/x-www-form-urlencoded",
            "x-mandrill-signature": signature,
        },
    )


def from_postal(payload: Event) -> Callback:
    about = {"id": 1, "to": "maria@mailbox.example", "direction": "outgoing"}
    place = "original_message" if "bounce" in payload else "message"
    named = {"event": payload["event"]} if "event" in payload else {}
    body = orjson.dumps({**named, "timestamp": 1, "payload": {place: about, **payload}})
    signature = POSTAL_KEY.sign(body, padding.PKCS1v15(), hashes.SHA1())  # noqa: S303 - Postal's
    return Callback(body, {"x-postal-signature": base64.b64encode(signature).decode()})


def from_unisender(event: Event) -> Callback:
    about = {"job_id": "1", "email": "maria@mailbox.example", "event_time": "2026-03-29 12:00:00"}
    body = orjson.dumps({
        "auth": "PLACE",
        "event_name": "transactional_email_status",
        **about,
        **event,
    })
    auth = hashlib.md5(body.replace(b"PLACE", TOKEN.encode())).hexdigest()  # noqa: S324 - theirs
    return Callback(body.replace(b"PLACE", auth.encode()))


def postal_key() -> str:
    lines = POSTAL_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return "".join(lines.decode().splitlines()[1:-1])


WRITE: Mapping[str, Callable[[Event], Callback]] = {
    "brevo": lambda event: in_json({"message-id": "1", "reason": FULL, **event}),
    "mailgun": from_mailgun,
    "mailjet": lambda event: in_json([{"MessageID": 1, "time": 1, "comment": FULL, **event}]),
    "mailtrap": lambda event: in_json({
        "events": [{"message_id": "1", "timestamp": 1, "response": FULL, **event}]
    }),
    "mandrill": from_mandrill,
    "postal": from_postal,
    "postmark": lambda event: in_json({"MessageID": "1", "Details": FULL, **event}),
    "resend": lambda event: in_json({**event, "data": {"email_id": "1", **event.get("data", {})}}),
    "sendgrid": lambda event: in_json([{"smtp-id": "1", "timestamp": 1, **event}]),
    "sparkpost": lambda event: in_json([
        {"msys": {"message_event": {"transmission_id": "1", "raw_reason": FULL, **event}}}
    ]),
    "unisender_go": from_unisender,
}

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "mailjet": {"api_key": TOKEN, "secret_key": TOKEN},
    "mailtrap": {"api_token": TOKEN},
    "mandrill": {"api_key": TOKEN, "webhook_key": TOKEN, "webhook_url": URL},
    "postal": {"api_key": TOKEN, "api_url": "https://postal.example", "webhook_key": postal_key()},
    "postmark": {"server_token": TOKEN},
    "unisender_go": {"api_key": TOKEN, "api_url": "https://unisender.example"},
}


@pytest.fixture
def transport() -> Iterator[Transport]:
    with closing(Transport()) as it:
        yield it


def receipts_of(service: str, said: Callback, transport: Transport) -> Sequence[object]:
    body, headers = said
    login = base64.b64encode(PASSWORD.encode()).decode()
    given = {"content-type": "application/json", "authorization": f"Basic {login}", **headers}
    provider = adapter(service, OPTIONS.get(service, {"api_key": TOKEN}), transport=transport)
    return provider.parse_receipt(ReceiptRequest(url=URL, headers=given, body=body))


def receipt_of(service: str, event: Event, transport: Transport) -> Receipt:
    [receipt] = receipts_of(service, WRITE[service](event), transport)
    assert isinstance(receipt, Receipt)
    return receipt


def failed(reason: str, **status: object) -> Event:
    """A permanent failure of Mailgun."""
    said = {"message": FULL, **status}
    return {"event": "failed", "severity": "permanent", "reason": reason, "delivery-status": said}


def mailjet(error: str, *, hard: bool | None, event: str = "bounce") -> Event:
    flag = {} if hard is None else {"hard_bounce": hard}
    return {"event": event, "error": error, **flag}


def resend(type_: str, subtype: str, message: str = FULL) -> Event:
    bounce = {"type": type_, "subType": subtype, "message": message}
    return {"type": "email.bounced", "data": {"bounce": bounce}}


def unisender(said: str) -> Event:
    return {
        "status": "hard_bounced",
        "delivery_info": {"delivery_status": said, "destination_response": FULL},
    }


def postmark(type_: str, record: str = "Bounce") -> Event:
    return {"RecordType": record, "Type": type_}


def suppressed(reason: str) -> Event:
    return {
        "RecordType": "SubscriptionChange",
        "SuppressSending": True,
        "SuppressionReason": reason,
    }


CASES = [
    ("brevo", {"event": "hard_bounce"}, BOUNCED, DEAD),
    ("brevo", {"event": "invalid_email"}, BOUNCED, DEAD),
    ("brevo", {"event": "soft_bounce"}, BOUNCED, ALIVE),
    ("brevo", {"event": "blocked"}, FAILED, ALIVE),
    ("brevo", {"event": "error"}, FAILED, ALIVE),
    ("brevo", {"event": "spam"}, READ, COMPLAINED),
    ("brevo", {"event": "unsubscribe"}, READ, OPTED_OUT),
    ("brevo", {"event": "unsubscribed"}, READ, OPTED_OUT),
    ("mailgun", failed("bounce", code=550), BOUNCED, DEAD),
    ("mailgun", failed("bounce", code=550, **{"bounce-type": "hard"}), BOUNCED, DEAD),
    ("mailgun", failed("bounce", code=550, **{"bounce-type": "soft"}), BOUNCED, ALIVE),
    ("mailgun", failed("bounce", code=552, **{"enhanced-code": "5.2.2"}), BOUNCED, ALIVE),
    ("mailgun", failed("generic", code=554), BOUNCED, ALIVE),
    ("mailgun", failed("old", code=602), BOUNCED, ALIVE),
    ("mailgun", failed("espblock"), BOUNCED, ALIVE),
    ("mailgun", failed("suppress-bounce", code=605), BOUNCED, DEAD),
    ("mailgun", failed("suppress-unsubscribe", code=606), BOUNCED, OPTED_OUT),
    ("mailgun", failed("suppress-complaint", code=607), BOUNCED, COMPLAINED),
    ("mailgun", failed("", code=605), BOUNCED, DEAD),
    ("mailgun", failed("", code=606), BOUNCED, OPTED_OUT),
    ("mailgun", failed("", code=607), BOUNCED, COMPLAINED),
    ("mailgun", {"event": "rejected", "reject": {"reason": FULL}}, FAILED, ALIVE),
    ("mailgun", {"event": "complained"}, READ, COMPLAINED),
    ("mailgun", {"event": "unsubscribed"}, READ, OPTED_OUT),
    ("mailjet", mailjet("user unknown", hard=True), BOUNCED, DEAD),
    ("mailjet", mailjet("invalid domain", hard=True), BOUNCED, DEAD),
    ("mailjet", mailjet("user unknown", hard=False), BOUNCED, ALIVE),
    ("mailjet", mailjet("quota exceeded", hard=True), BOUNCED, ALIVE),
    ("mailjet", mailjet("content blocked", hard=True), BOUNCED, ALIVE),
    ("mailjet", mailjet("something new", hard=None), BOUNCED, ALIVE),
    ("mailjet", mailjet("user unknown", hard=None, event="blocked"), FAILED, DEAD),
    ("mailjet", mailjet("preblocked", hard=None, event="blocked"), FAILED, ALIVE),
    ("mailjet", mailjet("spam reporter", hard=None, event="blocked"), FAILED, COMPLAINED),
    ("mailjet", {"event": "spam"}, READ, COMPLAINED),
    ("mailjet", {"event": "unsub"}, READ, OPTED_OUT),
    ("mailtrap", {"event": "bounce", "bounce_category": "badmailbox"}, BOUNCED, DEAD),
    ("mailtrap", {"event": "bounce", "bounce_category": "mailboxfull"}, BOUNCED, ALIVE),
    ("mailtrap", {"event": "bounce", "bounce_category": "spam"}, BOUNCED, ALIVE),
    ("mailtrap", {"event": "bounce"}, BOUNCED, ALIVE),
    ("mailtrap", {"event": "reject", "reason": FULL}, FAILED, ALIVE),
    ("mailtrap", {"event": "spam"}, READ, COMPLAINED),
    ("mailtrap", {"event": "unsubscribe"}, READ, OPTED_OUT),
    ("mandrill", {"event": "hard_bounce", "msg": {"diag": FULL}}, BOUNCED, DEAD),
    (
        "mandrill",
        {"event": "hard_bounce", "msg": {"bounce_description": "mailbox_full"}},
        BOUNCED,
        ALIVE,
    ),
    ("mandrill", {"event": "soft_bounce", "msg": {"diag": FULL}}, BOUNCED, ALIVE),
    ("mandrill", {"event": "reject", "msg": {"reject": {"reason": "hard-bounce"}}}, FAILED, DEAD),
    ("mandrill", {"event": "reject", "msg": {"reject": {"reason": "spam"}}}, FAILED, COMPLAINED),
    ("mandrill", {"event": "reject", "msg": {"reject": {"reason": "unsub"}}}, FAILED, OPTED_OUT),
    ("mandrill", {"event": "reject", "msg": {"reject": {"reason": "custom"}}}, FAILED, ALIVE),
    ("mandrill", {"event": "reject", "msg": {"diag": FULL}}, FAILED, ALIVE),
    ("mandrill", {"event": "spam", "msg": {}}, READ, COMPLAINED),
    ("mandrill", {"event": "unsub", "msg": {}}, READ, OPTED_OUT),
    ("postal", {"status": "HardFail", "details": FULL}, FAILED, ALIVE),
    ("postal", {"bounce": {"id": 2, "subject": FULL}}, BOUNCED, ALIVE),
    ("postmark", postmark("HardBounce"), BOUNCED, DEAD),
    ("postmark", postmark("BadEmailAddress"), FAILED, DEAD),
    ("postmark", postmark("SoftBounce"), BOUNCED, ALIVE),
    ("postmark", postmark("Blocked"), FAILED, ALIVE),
    ("postmark", postmark("ManuallyDeactivated"), FAILED, ALIVE),
    ("postmark", postmark("SpamNotification"), BOUNCED, ALIVE),
    ("postmark", postmark("SpamComplaint", "SpamComplaint"), READ, COMPLAINED),
    ("postmark", postmark("Unsubscribe"), READ, OPTED_OUT),
    ("postmark", suppressed("HardBounce"), BOUNCED, DEAD),
    ("postmark", suppressed("SpamComplaint"), READ, COMPLAINED),
    ("postmark", suppressed("ManualSuppression"), READ, OPTED_OUT),
    ("resend", resend("Permanent", "General"), BOUNCED, DEAD),
    ("resend", resend("Permanent", "NoEmail", "in other words"), BOUNCED, DEAD),
    ("resend", resend("Permanent", "Suppressed", "suppressed sending"), BOUNCED, DEAD),
    ("resend", resend("Transient", "General", "sent a hard bounce message"), BOUNCED, ALIVE),
    ("resend", resend("Transient", "MailboxFull", "sent a bounce message"), BOUNCED, ALIVE),
    ("resend", resend("Transient", "ContentRejected", "a bounce message"), BOUNCED, ALIVE),
    ("resend", resend("Undetermined", "Undetermined", "a bounce message"), BOUNCED, ALIVE),
    ("resend", {"type": "email.failed", "data": {"failed": {"reason": "quota"}}}, FAILED, ALIVE),
    (
        "resend",
        {"type": "email.suppressed", "data": {"suppressed": {"message": FULL}}},
        BOUNCED,
        DEAD,
    ),
    ("resend", {"type": "email.complained"}, READ, COMPLAINED),
    ("sendgrid", {"event": "bounce", "type": "bounce", "reason": FULL}, BOUNCED, DEAD),
    ("sendgrid", {"event": "bounce", "type": "blocked", "reason": FULL}, BOUNCED, ALIVE),
    (
        "sendgrid",
        {"event": "bounce", "type": "bounce", "bounce_classification": "Invalid Address"},
        BOUNCED,
        DEAD,
    ),
    (
        "sendgrid",
        {"event": "bounce", "type": "bounce", "bounce_classification": "Mailbox Unavailable"},
        BOUNCED,
        ALIVE,
    ),
    (
        "sendgrid",
        {"event": "bounce", "type": "bounce", "bounce_classification": "Content"},
        BOUNCED,
        ALIVE,
    ),
    ("sendgrid", {"event": "bounce", "reason": FULL}, BOUNCED, ALIVE),
    ("sendgrid", {"event": "dropped", "reason": "Bounced Address"}, FAILED, DEAD),
    ("sendgrid", {"event": "dropped", "reason": "Invalid"}, FAILED, DEAD),
    ("sendgrid", {"event": "dropped", "reason": "Spam Reporting Address"}, FAILED, COMPLAINED),
    ("sendgrid", {"event": "dropped", "reason": "Unsubscribed Address"}, FAILED, OPTED_OUT),
    ("sendgrid", {"event": "dropped", "reason": "Spam Content"}, FAILED, ALIVE),
    ("sendgrid", {"event": "spamreport"}, READ, COMPLAINED),
    ("sendgrid", {"event": "unsubscribe"}, READ, OPTED_OUT),
    ("sendgrid", {"event": "group_unsubscribe"}, READ, OPTED_OUT),
    *(
        ("sparkpost", {"type": "bounce", "bounce_class": each}, BOUNCED, DEAD)
        for each in ("10", "30")
    ),
    *(
        ("sparkpost", {"type": "out_of_band", "bounce_class": each}, BOUNCED, ALIVE)
        for each in ("1", "20", "21", "22", "23", "24", "25", "40", "50", "51", "52", "70", "999")
    ),
    ("sparkpost", {"type": "bounce", "bounce_class": "90"}, READ, OPTED_OUT),
    ("sparkpost", {"type": "policy_rejection", "bounce_class": "25"}, FAILED, ALIVE),
    ("sparkpost", {"type": "spam_complaint"}, READ, COMPLAINED),
    ("sparkpost", {"type": "list_unsubscribe"}, READ, OPTED_OUT),
    *(
        ("unisender_go", unisender(each), BOUNCED, DEAD)
        for each in ("err_user_unknown", "err_user_inactive", "err_domain_inactive")
    ),
    *(
        ("unisender_go", unisender(each), BOUNCED, ALIVE)
        for each in ("err_mailbox_full", "err_too_large", "err_spam_rejected", "err_something_new")
    ),
    ("unisender_go", unisender("err_unsubscribed"), BOUNCED, OPTED_OUT),
    ("unisender_go", {"status": "spam"}, READ, COMPLAINED),
    ("unisender_go", {"status": "unsubscribed"}, READ, OPTED_OUT),
]


@pytest.mark.filterwarnings("ignore::anymail.exceptions.AnymailNotSupportedWarning")  # of SendGrid
@pytest.mark.parametrize(("service", "event", "kind", "standing"), CASES)
def test_the_services_own_class_decides_about_the_address(
    transport: Transport,
    service: str,
    event: Event,
    kind: ReceiptKind,
    standing: tuple[bool, bool, bool],
) -> None:
    receipt = receipt_of(service, event, transport)
    said = (receipt.contact_is_dead, receipt.has_complained, receipt.has_opted_out)
    assert (receipt.kind, said) == (kind, standing)
    assert receipt.provider_message_id.strip("<>") == "1"


def test_each_service_with_callbacks_has_rules_and_cases() -> None:
    with_callbacks = {name for name, service in SERVICES.items() if service.view}
    assert set(RULES) == set(WRITE) == {case[0] for case in CASES} == with_callbacks
    assert SERVICES.keys() - with_callbacks == {"scaleway"}
