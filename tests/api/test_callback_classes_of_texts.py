"""A callback of each class of each SMS vendor, over HTTP: the delivery, the contact, the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode
from uuid import UUID

import orjson
import pytest
from django.test import Client

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models import Contact, Delivery, Suppression
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from providers.contract import Channel
from providers.sms.aws_eum_events import DELIVERY
from tests.api.callback_classes import CallbackClass, CallbackRow, Effect, Event, configured
from tests.providers.aws.signed_posts import Signer
from tests.providers.sms import test_aws_eum as aws_eum
from tests.providers.sms import test_twilio as twilio
from tests.providers.sms import test_twilio_receipts as twilio_receipts
from tests.providers.sms import test_vonage as vonage
from tests.providers.sms import test_vonage_receipts as vonage_receipts
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

NUMBER: Final = "+491511234567"
OURS: Final = "+15005550006"
SNS: Final = Signer()
SENT, FAILED, STOPPED = Status.SENT, Status.FAILED, Cause.STOP_KEYWORD
EFFECTS: Final[Mapping[CallbackClass, Effect]] = {
    CallbackClass.DELIVERED: Effect(Status.DELIVERED),
    CallbackClass.DEFERRED: Effect(SENT),
    CallbackClass.DEAD: Effect(Status.BOUNCED, Cause.BOUNCE, is_dead=True),
    CallbackClass.FULL: Effect(FAILED),
    CallbackClass.BLOCKED: Effect(Status.BOUNCED),
    CallbackClass.OUR_FAULT: Effect(FAILED),
    CallbackClass.OPTED_OUT: Effect(SENT, STOPPED),
    CallbackClass.OPTED_OUT_BEFORE: Effect(Status.BOUNCED, STOPPED),
    CallbackClass.REMOVED: Effect(SENT),
    CallbackClass.OPENED: Effect(Status.READ),
}
"""`opted out` is a text with the vendor's or our word for STOP, and `removed` one for START."""


def _twilio(status: str, code: str = "") -> Event:
    return twilio_receipts.status(status, code=code)


def _twilio_text(body: str, keyword: str) -> Event:
    fields = {"SmsStatus": "received", "From": NUMBER, "To": OURS, "Body": body}
    return {**fields, "MessageSid": f"SM-{keyword}", "OptOutType": keyword}


def _vonage(status: str, code: str = "0") -> Event:
    return {**vonage_receipts.EXAMPLE, "status": status, "err-code": code}


def _vonage_text(body: str) -> Event:
    number = NUMBER.removeprefix("+")
    about = {"msisdn": number, "to": "22000", "type": "text", "keyword": body.upper()}
    return {**about, "messageId": f"in-{body}", "text": body}


def _eum(kind: str) -> Event:
    return {"eventType": kind}


def _eum_text(body: str, keyword: str) -> Event:
    about = {"originationNumber": NUMBER, "messageBody": body, "messageKeyword": keyword}
    return {**aws_eum.REPLY, **about, "inboundMessageId": f"in-{body}"}


ROWS: Final = [
    CallbackRow("twilio", CallbackClass.DELIVERED, _twilio("delivered")),
    CallbackRow("twilio", CallbackClass.DEFERRED, _twilio("sent")),
    CallbackRow("twilio", CallbackClass.DEAD, _twilio("undelivered", "30005")),
    CallbackRow("twilio", CallbackClass.FULL, _twilio("undelivered", "30003")),
    CallbackRow("twilio", CallbackClass.BLOCKED, _twilio("undelivered", "30007")),
    CallbackRow("twilio", CallbackClass.OUR_FAULT, _twilio("undelivered", "30034")),
    CallbackRow("twilio", CallbackClass.OPTED_OUT, _twilio_text("Enough", "STOP")),
    CallbackRow("twilio", CallbackClass.OPTED_OUT_BEFORE, _twilio("failed", "21610")),
    CallbackRow("twilio", CallbackClass.REMOVED, _twilio_text("Return", "START")),
    CallbackRow("twilio", CallbackClass.OPENED, _twilio("read")),
    CallbackRow("vonage", CallbackClass.DELIVERED, _vonage("delivered")),
    CallbackRow("vonage", CallbackClass.DEFERRED, _vonage("buffered")),
    CallbackRow("vonage", CallbackClass.DEAD, _vonage("failed", "3")),
    CallbackRow("vonage", CallbackClass.FULL, _vonage("expired", "2")),
    CallbackRow("vonage", CallbackClass.BLOCKED, _vonage("rejected", "6")),
    CallbackRow("vonage", CallbackClass.OUR_FAULT, _vonage("rejected", "51")),
    CallbackRow("vonage", CallbackClass.OPTED_OUT, _vonage_text("Stop")),
    CallbackRow("vonage", CallbackClass.OPTED_OUT_BEFORE, _vonage("rejected", "9")),
    CallbackRow("vonage", CallbackClass.REMOVED, _vonage_text("Start")),
    CallbackRow("aws_eum", CallbackClass.DELIVERED, _eum("TEXT_DELIVERED")),
    CallbackRow("aws_eum", CallbackClass.DEFERRED, _eum("TEXT_PENDING")),
    CallbackRow("aws_eum", CallbackClass.DEAD, _eum("TEXT_INVALID")),
    CallbackRow("aws_eum", CallbackClass.FULL, _eum("TEXT_UNREACHABLE")),
    CallbackRow("aws_eum", CallbackClass.BLOCKED, _eum("TEXT_CARRIER_BLOCKED"), FAILED),
    CallbackRow("aws_eum", CallbackClass.OUR_FAULT, _eum("TEXT_PROTECT_BLOCKED")),
    CallbackRow("aws_eum", CallbackClass.OPTED_OUT, _eum_text("Enough", "STOP")),
    CallbackRow("aws_eum", CallbackClass.REMOVED, _eum_text("Start", "KEYWORD_15005550006")),
]
NOT_OF_TEXTS: Final = dict.fromkeys(
    (
        CallbackClass.SUPPRESSED,
        CallbackClass.COMPLAINED,
        CallbackClass.COMPLAINED_BEFORE,
        CallbackClass.LEFT_GROUP,
        CallbackClass.CLICKED,
        CallbackClass.MACHINE_FLAGGED,
        CallbackClass.MACHINE_NAMED,
    ),
    "carriers tell no complaints, and texts have no pixels; short links are our own",
)
ABSENT: Final[Mapping[str, Mapping[CallbackClass, str]]] = {
    "twilio": NOT_OF_TEXTS,
    "vonage": NOT_OF_TEXTS | {CallbackClass.OPENED: "no status of SMS"},
    "aws_eum": NOT_OF_TEXTS
    | {
        CallbackClass.OPTED_OUT_BEFORE: "refused in the answer, without an event",
        CallbackClass.OPENED: "no event of SMS",
    },
}
"""Classes that the documents of a vendor do not have, and why."""
NO_CALLBACKS: Final = {"aws_sns": "results of texts are in CloudWatch's logs alone"}


@pytest.fixture(autouse=True)
def _vendors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with configured(monkeypatch, aws_eum.ENVIRON | twilio.ENVIRON | vonage.ENVIRON, signer=SNS):
        yield


@pytest.fixture
def sent(make_delivery: MakeDelivery) -> UUID:
    delivery_id = make_delivery(SENT, attempts=1, channel=Channel.SMS)
    Contact.objects.update(channel=Channel.SMS, address=NUMBER)
    return delivery_id


def post(row: CallbackRow, delivery_id: UUID) -> Reply:
    """Post a callback with the vendor's signature to the HTTP door."""
    Delivery.objects.filter(pk=delivery_id).update(provider=row.vendor)
    media_type, path = "application/json", f"/v1/receipts/{row.vendor}"
    if row.vendor == "twilio":
        path += f"?delivery_id={delivery_id}" if "MessageStatus" in row.event else ""
        url = f"{conf.current().public_url}{path}"
        headers = {"X-Twilio-Signature": twilio_receipts.signature(url, row.event)}
        body, media_type = urlencode(row.event).encode(), "application/x-www-form-urlencoded"
    elif row.vendor == "vonage":
        about = {"client-ref": str(delivery_id)} if "status" in row.event else {}
        body = orjson.dumps({**row.event, **about})
        headers = dict(vonage_receipts.with_token(body).headers)
    else:
        text = orjson.dumps(row.event).decode()
        if "eventType" in row.event:
            context = {DELIVERY: str(delivery_id)}
            text = aws_eum.event(row.event["eventType"], context=context)
        body, media_type = orjson.dumps(SNS.post(text)), "text/plain"
        headers = {"X-Amz-Sns-Message-Type": "Notification"}
    return Client().post(path, body, content_type=media_type, headers=headers)


def state(delivery_id: UUID) -> Effect:
    listed = Suppression.objects.filter(channel=Channel.SMS, address=NUMBER, undone_at=None)
    reason = listed.values_list("reason", flat=True)
    return Effect(
        Status(Delivery.objects.get(pk=delivery_id).status),
        Cause(reason.get()) if reason else None,
        Contact.objects.get().invalidated_at is not None,
    )


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_class_has_its_effect_and_a_repeat_has_none(sent: UUID, row: CallbackRow) -> None:
    for _ in range(2):
        answer = post(row, sent)
        is_text = row.said in {CallbackClass.OPTED_OUT, CallbackClass.REMOVED}
        assert answer.status_code == (204 if is_text else 200), answer.content
        assert state(sent) == row.effect_by(EFFECTS)


@pytest.mark.parametrize("vendor", list(ABSENT))
@pytest.mark.parametrize(
    "before", [CallbackClass.OPTED_OUT, CallbackClass.OPTED_OUT_BEFORE, CallbackClass.DEAD], ids=str
)
def test_a_start_ends_each_opt_out_and_no_bounce(
    sent: UUID, vendor: str, before: CallbackClass
) -> None:
    rows = {each.said: each for each in ROWS if each.vendor == vendor}
    if before not in rows:
        assert before in ABSENT[vendor]
        return
    post(rows[before], sent)
    post(rows[CallbackClass.REMOVED], sent)
    expected = rows[before].effect_by(EFFECTS)
    assert state(sent) == (expected if expected.is_dead else Effect(expected.status))


def test_each_vendor_has_a_row_for_each_class_or_a_reason_why_not() -> None:
    calling = {
        name
        for name, each in routing.providers_by_name().items()
        if Channel.SMS in each.capabilities.channels and each.capabilities.gives_receipts
    } - {"sandbox"}
    assert calling == set(ABSENT)
    for vendor, absent in ABSENT.items():
        there = [each.said for each in ROWS if each.vendor == vendor]
        assert len(there) == len(set(there))
        assert set(there) | set(absent) == set(CallbackClass), vendor
        assert not set(there) & set(absent), vendor
