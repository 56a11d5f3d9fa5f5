"""The sandbox's page, made from a ledger without a server: what it shows and what it never runs."""

from __future__ import annotations

import pytest

from providers.contract import Channel
from providers.sandbox_server import page
from providers.sandbox_server.ledger import Call, Ledger

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
    call = Call(at="2026-11-21T10:00:00+00:00", idempotency_key="k", effect="shown", status=202)
    ledger.record(ledger.entry(MAIL | more), call)
    return page.render(ledger, channel="").body.decode()


def test_a_mail_leads_where_a_mailbox_would_unsubscribe() -> None:
    link = "https://shop.example/unsubscribe/abc"
    assert f'List-Unsubscribe: <a href="{link}"' in shown(unsubscribe_url=link)
    assert "List-Unsubscribe" not in shown()


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "//shop.example"])
def test_what_is_no_web_address_is_no_link(link: str) -> None:
    assert link not in shown(unsubscribe_url=link)


def test_a_mails_text_part_is_there_beside_its_html() -> None:
    assert '<p dir="auto">Only this weekend.</p>' in shown()
