"""Events of SES, posted by SNS: signed, forged, repeated, and for mails that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest

from providers.contract import Receipt, ReceiptKind
from providers.email.mime import mailbox
from providers.email.ses import Config, Ses
from providers.email.ses_events import KINDS, receipts
from providers.errors import InvalidSignature, MalformedReceipt, NoReceipts
from tests.providers.aws.fakes import ACCOUNT, TOPIC
from tests.providers.aws.signed_posts import Signer, SnsServer, request

SNS = Signer()
DELIVERY = UUID(int=7)
AT = "2026-03-29T12:00:00.250Z"
MAIL: dict[str, object] = {
    "timestamp": "2026-03-29T11:59:59.000Z",
    "messageId": "0102-ses",
    "destination": ["maria@mailbox.example"],
    "tags": {"ses:configuration-set": ["notify"], "delivery_id": [str(DELIVERY)]},
}


@pytest.fixture
def server() -> Iterator[SnsServer]:
    with closing(SnsServer(SNS)) as it:
        yield it


def adapter(server: SnsServer, *topics: str) -> Ses:
    sender = mailbox("no-reply@shop.example")
    config = Config(from_=sender, topics=frozenset(topics), **ACCOUNT)  # type: ignore[arg-type] # texts
    return Ses(config, transport=server)


def event(name: str, *, key: str = "eventType", **said: object) -> str:
    object_name = "failure" if name == "Rendering Failure" else name.lower()
    return orjson.dumps({key: name, "mail": MAIL, object_name: {"timestamp": AT, **said}}).decode()


def one(text: str) -> Receipt:
    (receipt,) = receipts(text)
    return receipt


def bounce(type_: str, subtype: str, **more: Any) -> str:  # noqa: ANN401 - JSON
    return event("Bounce", bounceType=type_, bounceSubType=subtype, **more)


def test_a_signed_bounce_becomes_a_receipt_each_time_it_comes(server: SnsServer) -> None:
    recipient = {
        "emailAddress": "maria@mailbox.example",
        "diagnosticCode": "smtp; 550 5.1.1 <maria@mailbox.example> unknown",
    }
    text = bounce("Permanent", "NoEmail", bouncedRecipients=[recipient])
    post = request(SNS.post(text))
    expected = Receipt(
        kind=ReceiptKind.BOUNCED,
        delivery_id=DELIVERY,
        provider_message_id="0102-ses",
        occurred_at=datetime(2026, 3, 29, 12, 0, 0, 250_000, tzinfo=UTC),
        code="Bounce/Permanent/NoEmail",
        detail="smtp; 550 5.1.1 <[address]> unknown",
        contact_is_dead=True,
    )
    provider = adapter(server, TOPIC)
    assert list(provider.parse_receipt(post)) == [expected]
    assert list(provider.parse_receipt(post)) == [expected]


def test_a_forged_event_is_not_read(server: SnsServer) -> None:
    post = SNS.post(event("Delivery")) | {"Message": bounce("Permanent", "General")}
    with pytest.raises(InvalidSignature):
        adapter(server, TOPIC).parse_receipt(request(post))


def test_without_topics_there_are_no_receipts(server: SnsServer) -> None:
    provider = adapter(server)
    assert not provider.capabilities.gives_receipts
    with pytest.raises(NoReceipts):
        provider.parse_receipt(request(SNS.post(event("Delivery"))))


def test_a_subscription_confirms_itself_and_holds_no_receipt(server: SnsServer) -> None:
    post = SNS.post("hello", kind="SubscriptionConfirmation")
    assert list(adapter(server, TOPIC).parse_receipt(request(post))) == []
    assert len(server.fetched) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Successfully validated SNS topic for Amazon SES event publishing.",
        "[]",
        "{}",
        '{"eventType": "Bounce"}',
        '{"eventType": "Bounce", "mail": {"messageId": "m"}, "bounce": {"bounceType": "None"}}',
        '{"eventType": "Delivery", "mail": {"messageId": "m", "timestamp": "noon"}}',
    ],
)
def test_a_signed_text_that_is_no_event_is_malformed(server: SnsServer, text: str) -> None:
    with pytest.raises(MalformedReceipt):
        adapter(server, TOPIC).parse_receipt(request(SNS.post(text)))


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("key", ["eventType", "notificationType"])
def test_each_kind_of_event_means_what_the_table_says(name: str, key: str) -> None:
    receipt = one(event(name, key=key, bounceType="Transient"))
    assert receipt.kind == KINDS[name]
    assert receipt.delivery_id == DELIVERY


@pytest.mark.parametrize("name", ["Open", "Click"])
def test_a_machine_reads_nothing(name: str) -> None:
    person = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
    assert receipts(event(name, userAgent="Mozilla/5.0")) == []
    assert receipts(event(name, userAgent="axios/1.6")) == []
    assert one(event(name, userAgent=person)).kind is ReceiptKind.READ
    assert one(event(name, userAgent=None)).kind is ReceiptKind.READ


@pytest.mark.parametrize("name", ["Send", "DeliveryDelay", "Subscription", "Something new"])
def test_what_is_not_final_is_no_receipt(name: str) -> None:
    assert receipts(event(name)) == []


def test_the_note_that_a_topic_was_connected_is_no_receipt() -> None:
    assert receipts('{"notificationType": "AmazonSnsSubscriptionSucceeded"}') == []


@pytest.mark.parametrize(
    "subtype", ["General", "NoEmail", "Suppressed", "OnAccountSuppressionList"]
)
def test_a_permanent_bounce_ends_the_contact(subtype: str) -> None:
    receipt = one(bounce("Permanent", subtype))
    assert (receipt.contact_is_dead, receipt.has_complained, receipt.has_opted_out) == (
        True,
        False,
        False,
    )


def test_a_bounce_of_a_person_who_unsubscribed_at_ses_is_an_opt_out() -> None:
    receipt = one(bounce("Permanent", "UnsubscribedRecipient"))
    assert receipt.kind is ReceiptKind.BOUNCED
    assert (receipt.contact_is_dead, receipt.has_opted_out) == (False, True)


@pytest.mark.parametrize("type_", ["Transient", "Undetermined"])
@pytest.mark.parametrize(
    "subtype", ["General", "MailboxFull", "MessageTooLarge", "ContentRejected", "Undetermined"]
)
def test_any_other_bounce_does_not(type_: str, subtype: str) -> None:
    receipt = one(bounce(type_, subtype))
    assert (receipt.kind, receipt.contact_is_dead) == (ReceiptKind.BOUNCED, False)


@pytest.mark.parametrize(
    ("said", "kind", "dead"),
    [
        ({}, ReceiptKind.DELIVERED, True),
        ({"complaintFeedbackType": "abuse"}, ReceiptKind.DELIVERED, True),
        ({"complaintFeedbackType": "not-spam"}, ReceiptKind.DELIVERED, False),
        ({"complaintSubType": "OnAccountSuppressionList"}, ReceiptKind.BOUNCED, True),
    ],
)
def test_a_complaint_ends_the_contact_unless_it_takes_one_back(
    said: dict[str, str],
    kind: ReceiptKind,
    dead: bool,  # noqa: FBT001 - an expectation
) -> None:
    receipt = one(event("Complaint", **said))
    assert (receipt.kind, receipt.contact_is_dead) == (kind, dead)
    assert receipt.has_complained is dead


@pytest.mark.parametrize("tags", [None, {}, {"delivery_id": []}, {"delivery_id": ["theirs"]}])
def test_without_our_tag_the_receipt_has_sess_own_id(tags: object) -> None:
    mail = {name: value for name, value in MAIL.items() if name != "tags"}
    if tags is not None:
        mail["tags"] = tags
    receipt = one(orjson.dumps({"eventType": "Delivery", "mail": mail, "delivery": {}}).decode())
    assert (receipt.delivery_id, receipt.provider_message_id) == (None, "0102-ses")
    assert receipt.occurred_at == datetime(2026, 3, 29, 11, 59, 59, tzinfo=UTC)
