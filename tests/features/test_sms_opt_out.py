"""A person opts out of SMS at the vendor and comes back, over Twilio's own words."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlencode

import pytest
from django.db.models.functions import Now
from django.test import Client

from notifications.core.delivery import deliver, routing
from notifications.core.models import Attempt, Contact, Delivery, ProviderRoute, Suppression
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of
from tests.providers.answering import AnsweringFake
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, TOKEN, refusal, twilio_fake

PERSON = "+4915112345678"
PATH = "/v1/receipts/twilio"


@pytest.fixture
def twilio(
    reach: Reach,
    outbox: object,  # noqa: ARG001 - its settings come first
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[AnsweringFake]:
    """Route SMS to Twilio's fake; the only recipient has the number PERSON."""
    with closing(twilio_fake()) as fake:
        for name, value in {
            "ACCOUNT_SID": ACCOUNT,
            "AUTH_TOKEN": TOKEN,
            "FROM": NUMBER,
            "URL": fake.origin,
        }.items():
            monkeypatch.setenv(f"NOTIFY_TWILIO_{name}", value)
        routing.forget()
        ProviderRoute.objects.create(channel=Channel.SMS, provider="twilio")
        reach(sms=PERSON)
        yield fake
    routing.forget()


def sent(take: Accept) -> Delivery:
    [delivery] = deliveries_of(take(channels=["sms"], priority="P1"))
    deliver.deliver([delivery.pk])
    delivery.refresh_from_db()
    return delivery


def post(form: dict[str, str], query: str = "") -> None:
    """Post a callback as Twilio signs it."""
    signed = f"http://testserver{PATH}{query}"
    signed += "".join(name + form[name] for name in sorted(form))
    digest = hmac.digest(TOKEN.encode(), signed.encode(), "sha1")
    answer = Client().post(
        PATH + query,
        urlencode(form),
        content_type="application/x-www-form-urlencoded",
        headers={"x-twilio-signature": b64encode(digest).decode()},
    )
    assert answer.status_code < 300


def says(body: str, message_id: str, **more: str) -> None:
    about = {"From": PERSON, "To": NUMBER, "MessageSid": message_id, "SmsStatus": "received"}
    post({"Body": body, **about, **more})


def report_opt_out(delivery: Delivery) -> None:
    form = {"MessageSid": delivery.provider_message_id, "MessageStatus": "failed"}
    post(form | {"ErrorCode": "21610"}, f"?delivery_id={delivery.pk}")


def is_opted_out() -> bool:
    contact = Contact.objects.get(address=PERSON)
    assert contact.invalidated_at is None
    found = Suppression.objects.filter(undone_at=None)
    assert {each.reason for each in found} <= {Cause.STOP_KEYWORD}
    return found.exists()


def test_an_opted_out_number_gets_texts_again_after_start(
    twilio: AnsweringFake, take: Accept
) -> None:
    twilio.answer = refusal(400, 21610, "Attempt to send to unsubscribed recipient")
    refused = sent(take)
    assert (refused.status, is_opted_out()) == (Status.FAILED, True)
    twilio.answer = None
    stopped = sent(take)
    assert (stopped.status, stopped.reason) == (Status.SUPPRESSED, "suppression_list")
    says("UNSTOP", "SM1")
    assert not is_opted_out()
    assert sent(take).status == Status.SENT


def test_a_messaging_service_that_finds_the_opt_out_later_counts_as_well(
    twilio: AnsweringFake, take: Accept
) -> None:
    del twilio
    delivery = sent(take)
    report_opt_out(delivery)
    delivery.refresh_from_db()
    assert (delivery.status, is_opted_out()) == (Status.BOUNCED, True)


def test_a_report_of_an_opt_out_that_comes_again_after_start_stops_nothing(
    twilio: AnsweringFake, take: Accept
) -> None:
    del twilio
    delivery = sent(take)
    report_opt_out(delivery)
    says("START", "SM1")
    report_opt_out(delivery)
    assert not is_opted_out()
    later = sent(take)
    assert later.status == Status.SENT
    # In the test's transaction now() stands still, so that the call seems older than START.
    Attempt.objects.filter(delivery_id=later.pk).update(started_at=Now())
    report_opt_out(later)
    assert is_opted_out()


def test_twilios_reading_of_a_text_decides_before_its_words(
    twilio: AnsweringFake, take: Accept
) -> None:
    says("Por favor, no mas", "SM1", OptOutType="STOP")
    assert is_opted_out()
    says("STOP", "SM2", OptOutType="HELP")
    says("JOIN", "SM3")
    assert is_opted_out()
    says("JOIN", "SM4", OptOutType="START")
    assert not is_opted_out()
    says("STOP", "SM5", OptOutType="HELP")
    assert not is_opted_out()
    assert sent(take).status == Status.SENT
    assert len(twilio.requests) == 1
