"""Sender, List-Id and thread of an e-mail, as delivery hands the headers to a provider."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notifications.core import clock, conf
from notifications.core.delivery import batch, mail_headers, render
from notifications.core.delivery.render import Lookups
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.intake.validation import Caller
from notifications.core.store.postgres import claims
from notifications.features.brands import models, rows
from providers.mail_headers import MailHeaders
from tests.journey import Accept, Reach, deliveries_of

DOT_ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")


@given(st.text(max_size=200))
@example("news.weekly")
@example("a" * 64)
@example("::")
def test_each_topic_has_a_list_id_of_the_standard(topic: str) -> None:
    found = mail_headers.list_id(topic)
    assert DOT_ATOM.fullmatch(found)
    assert len(found) <= 255
    assert "." in found


@pytest.fixture(autouse=True)
def _fresh_brands() -> Iterator[None]:
    rows.forget()
    yield
    rows.forget()


def headers_of(answer: AcceptedRequest | Refused) -> MailHeaders:
    """Return the headers that the provider would get."""
    [row] = deliveries_of(answer)
    [ready] = batch.load(claims.claim([row.pk], now=clock.now())).deliveries
    return render.message(ready, Lookups([ready], now=clock.now())).mail


def test_the_brand_at_the_time_of_sending_gives_the_sender(
    caller: Caller, reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@example.com")
    permitted = replace(conf.current(), mail_senders=frozenset({"@shop.example"}))
    monkeypatch.setattr(conf, "current", lambda: permitted)
    before = take()
    models.Brand.objects.create(name="All", sender_name="All", reply_to="help@all.example")
    rows.forget()
    headers = headers_of(before)
    assert (headers.sender_name, headers.reply_to) == ("All", "help@all.example")
    models.Brand.objects.create(
        producer_id=caller.producer_id, name="Shop", sender_address="news@shop.example"
    )
    rows.forget()
    headers = headers_of(take())
    assert (headers.sender_name, headers.sender_address) == ("", "news@shop.example")
    assert headers.reply_to == ""


def test_a_sender_that_is_no_longer_permitted_is_left_out(
    caller: Caller, reach: Reach, take: Accept
) -> None:
    reach(email="maria@example.com")
    models.Brand.objects.create(
        producer_id=caller.producer_id, name="Shop", sender_address="news@shop.example"
    )
    rows.forget()
    assert headers_of(take()).sender_address == ""


@pytest.mark.parametrize(
    ("priority", "listed"), [("P0", ""), ("P1", ""), ("P2", "social"), ("P3", "social")]
)
def test_marketing_and_social_mails_name_their_list(
    reach: Reach, take: Accept, priority: str, listed: str
) -> None:
    reach(email="maria@example.com")
    found = headers_of(take(priority=priority)).list_id
    assert found.partition(".")[0] == listed


def test_mails_with_a_collapse_key_are_one_thread_for_each_recipient(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@example.com")
    reach("ana", email="ana@example.com")
    first, second = (headers_of(take(collapse_key="order-7")).thread_id for _ in range(2))
    assert first == second
    assert re.fullmatch(r"[0-9a-f]{32}\.thread@[a-z0-9.-]+", first)
    assert "order" not in first
    other_key = headers_of(take(collapse_key="order-8")).thread_id
    other_person = headers_of(take(collapse_key="order-7", user_id="ana")).thread_id
    assert len({first, other_key, other_person}) == 3
    assert headers_of(take()).thread_id == ""


def test_another_channel_has_no_headers_of_mails(
    caller: Caller, reach: Reach, take: Accept
) -> None:
    reach(sms="+4915112345678")
    models.Brand.objects.create(producer_id=caller.producer_id, name="S", sender_name="S")
    rows.forget()
    assert headers_of(take(channels=["sms"], collapse_key="order-7")) == MailHeaders()


@pytest.mark.usefixtures("outbox")
def test_links_of_a_mail_name_the_brand_of_its_producer(
    caller: Caller, reach: Reach, take: Accept
) -> None:
    reach(email="maria@example.com")

    def link() -> str:
        [row] = deliveries_of(take(priority="P3"))
        [ready] = batch.load(claims.claim([row.pk], now=clock.now())).deliveries
        return render.message(ready, Lookups([ready], now=clock.now())).unsubscribe_url

    assert "?" not in link()
    models.Brand.objects.create(producer_id=caller.producer_id, name="Shop")
    rows.forget()
    assert link().endswith(f"?brand={caller.producer_id}")
