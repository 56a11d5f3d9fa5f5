"""Sender, Reply-To, List-Id and thread of a message reach the mailbox through each provider."""

from __future__ import annotations

import email
from email.message import EmailMessage
from email.policy import default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.contract import Channel, Message
from providers.email import mime
from providers.mail_headers import MailHeaders
from tests.providers.messages import message, noon

CONFIGURED = mime.mailbox("Company <no-reply@company.example>")
TO = "maria@mailbox.example"
BRAND = MailHeaders(
    sender_name="Größe & Co",
    sender_address="news@shop.example",
    reply_to="help@shop.example",
    list_id="social.notify.example",
    thread_id="0f2c.thread@notify.example",
)


def read(mail: MailHeaders) -> EmailMessage:
    raw = mime.encode(mail_of(mail), sender=CONFIGURED, to=TO, at=noon())
    found = email.message_from_bytes(raw, policy=default)
    assert isinstance(found, EmailMessage)
    assert not found.defects
    return found


def mail_of(mail: MailHeaders) -> Message:
    return message(TO, Channel.EMAIL, mail=mail)


def test_a_mail_has_the_headers_of_its_message() -> None:
    found = read(BRAND)
    [sender] = found["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Größe & Co", "news@shop.example")
    assert found["Reply-To"] == "help@shop.example"
    assert found["List-Id"] == "<social.notify.example>"
    assert found["In-Reply-To"] == found["References"] == "<0f2c.thread@notify.example>"
    # The Message-ID stays the same on a retry after a change of the brand.
    assert found["Message-ID"].endswith("@company.example>")


def test_a_mail_without_a_brand_has_the_configured_sender_alone() -> None:
    found = read(MailHeaders())
    assert found["From"] == "Company <no-reply@company.example>"
    assert not {"Reply-To", "List-Id", "In-Reply-To", "References"} & set(found)


@pytest.mark.parametrize(
    ("mail", "shown"),
    [
        (MailHeaders(sender_name="Shop"), "Shop <no-reply@company.example>"),
        (MailHeaders(sender_address="a@shop.example"), "Company <a@shop.example>"),
        (MailHeaders(sender_name='Shop, "Best"'), '"Shop, \\"Best\\"" <no-reply@company.example>'),
    ],
)
def test_name_and_address_of_the_sender_are_independent(mail: MailHeaders, shown: str) -> None:
    assert read(mail)["From"] == shown


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=100))
def test_each_name_of_a_sender_is_read_back_and_adds_no_header(name: str) -> None:
    found = read(MailHeaders(sender_name=name))
    assert len(found.get_all("From", [])) == 1
    assert found["From"].addresses[0].addr_spec == "no-reply@company.example"
    assert set(found) == set(read(MailHeaders()))
