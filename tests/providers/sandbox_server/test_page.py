"""The sandbox's page, made from a ledger without a server: what it shows and what it never runs."""

from __future__ import annotations

import html

import pytest

from providers.contract import Channel
from providers.sandbox_server import page
from providers.sandbox_server.ledger import Ledger, RecordedCall
from providers.sandbox_server.page import MANY, PageQuery
from providers.sandbox_server.steering import (
    STEERING_DIGITS,
    STEERING_WORDS,
    Steering,
    steering_of,
)

MAIL = {
    "delivery_id": "d-1",
    "notification_id": "n-1",
    "channel": Channel.EMAIL.label,
    "address": "maria@sandbox.example",
    "title": "Two for one",
    "body": "Only this weekend.",
    "html": "<p>Only this weekend.</p>",
}


def shown(**more: str) -> str:
    ledger = Ledger()
    call = RecordedCall(
        at="2026-11-21T10:00:00+00:00", idempotency_key="k", effect="shown", status=202
    )
    ledger.record(ledger.entry(MAIL | more), call)
    return seen(ledger)


def seen(ledger: Ledger, *, admin_url: str = "", **asked: str) -> str:
    return page.render(ledger, PageQuery(**asked), admin_url=admin_url).body.decode()


def got(ledger: Ledger, number: int, **more: str) -> None:
    call = RecordedCall(
        at="2026-11-21T10:00:00+00:00", idempotency_key="k", effect="shown", status=202
    )
    message = {"delivery_id": f"d-{number}", "address": f"p{number}@sandbox.example", **more}
    ledger.record(ledger.entry(MAIL | message), call)


def test_a_mail_leads_where_a_mailbox_would_unsubscribe() -> None:
    link = "https://shop.example/unsubscribe/abc"
    assert f'List-Unsubscribe: <a href="{link}"' in shown(unsubscribe_url=link)
    assert "List-Unsubscribe" not in shown()


def test_a_mail_shows_its_headers_and_no_other_message_has_any() -> None:
    link = "https://shop.example/unsubscribe/abc?x=<b>"
    page_of_mail = html.unescape(shown(unsubscribe_url=link, title="Zwei für eins"))
    for line in (
        "To: maria@sandbox.example",
        "Subject: =?utf-8?b?",
        "Message-ID: <d-1@sandbox.example>",
        "Date: Sat, 21 Nov 2026 10:00:00 +0000",
        "List-Unsubscribe: <https://shop.example/unsubscribe/abc?x=%3Cb%3E>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ):
        assert line in page_of_mail
    assert "Message-ID" not in shown(channel=Channel.SMS.label)


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "//shop.example"])
def test_what_is_no_web_address_is_no_link(link: str) -> None:
    assert f'href="{link}' not in shown(unsubscribe_url=link)


def test_a_mails_text_part_is_there_beside_its_html() -> None:
    assert '<p dir="auto">Only this weekend.</p>' in shown()


def test_a_campaign_is_one_entry_below_what_came_alone() -> None:
    ledger = Ledger()
    got(ledger, 1, title="Your order", body="is ready")
    for number in range(2, 202):
        got(ledger, number, title="Weekend", body="Two for one")
    html = seen(ledger)
    assert html.count("<article") == 2
    assert html.index("Your order") < html.index("Sent to many") < html.index("Weekend")
    assert "and 199 with the same text" in html


def test_a_few_equal_messages_stay_together_and_come_first() -> None:
    ledger = Ledger()
    for number in range(MANY - 1):
        got(ledger, number)
    assert "Sent to many" not in seen(ledger)


def test_a_search_finds_by_address_text_or_id_and_shows_each() -> None:
    ledger = Ledger()
    for number in range(20):
        got(ledger, number, title="Weekend", notification_id=f"n-{number}")
    got(ledger, 50, title="Your order ORD-7", body="is ready", notification_id="n-50")
    assert seen(ledger, words="weekend").count("<article") == 20
    for words in ("P50@sandbox", "ord-7", "n-50", "order your"):
        assert seen(ledger, words=words).count("<article") == 1, words
    assert "Nothing with these words" in seen(ledger, words="nobody")
    assert seen(ledger, channel="sms").count("<article") == 0


def test_a_message_leads_to_its_timeline() -> None:
    ledger = Ledger()
    got(ledger, 1, notification_id="0190-a")
    assert 'href="http://x/admin/notifications/notification/0190-a/change/"' in seen(
        ledger, admin_url="http://x/admin"
    )
    assert "timeline in admin" not in seen(ledger)


def test_the_page_lists_addresses_that_steer_and_each_of_them_does() -> None:
    html = seen(Ledger())
    for address, _ in (*STEERING_WORDS, *STEERING_DIGITS):
        assert address in html
        assert steering_of(address) != Steering(), address


def test_what_is_searched_for_is_text_on_the_page() -> None:
    html = seen(Ledger(), words='"><script>alert(1)</script>')
    assert "<script>alert" not in html
