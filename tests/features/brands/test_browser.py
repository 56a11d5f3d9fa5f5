"""The pages of a brand in a real browser: each text can be read in each look."""

from __future__ import annotations

import base64

import pytest
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver import Chrome

from notifications.core import clock
from notifications.core.delivery import preference_links, unsubscribe_links
from notifications.core.delivery.unsubscribe_links import Link
from notifications.core.models import Recipient
from notifications.core.rules.brand import FONTS, Brand, BrandLink
from notifications.features.brands import models, preview
from providers.contract import Channel
from tests.admin import axe
from tests.preference_browser import NEEDS_BROWSER

pytestmark = [
    NEEDS_BROWSER,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not axe.SCRIPT.exists(), reason="npm ci --prefix .ci/axe --ignore-scripts"),
]
COLORS = ["#b91c1c", "#767676", "#000000"]


@pytest.mark.parametrize("color", COLORS)
def test_the_pages_suit_everybody_in_the_colour_of_a_brand(
    live_server: LiveServer, chrome: Chrome, maria: Recipient, color: str
) -> None:
    models.Brand.objects.create(
        name="Lieferung", logo_url="https://cdn.invalid/logo.png", color=color
    )
    link = Link(recipient_id=maria.pk, channel=Channel.EMAIL, topic="social")
    pages = {
        "unsubscribe": f"/unsubscribe/{unsubscribe_links.token_of(link, now=clock.now())}",
        "preferences": preference_links.PATH + preference_links.token_of(maria.pk, now=clock.now()),
    }
    for name, path in pages.items():
        chrome.get(live_server.url + path)
        for look in axe.looks(chrome):
            assert axe.violations(chrome, name=f"brand-{name}-{color[1:]}-{look}") == []
            assert not axe.scrolls_sideways(chrome), look


@pytest.mark.parametrize("color", COLORS)
def test_a_mail_suits_everybody_in_the_colour_of_a_brand(
    live_server: LiveServer, chrome: Chrome, color: str
) -> None:
    brand = Brand(
        name="Lieferung",
        color=color,
        font=min(FONTS),
        footer="You get this e-mail because you have an account.",
        postal_address="Lieferung GmbH\nHauptstraße 1\n10115 Berlin",
        website_url="https://example.com",
        links=(BrandLink("Help", "https://example.com/help"),),
    )
    shown = preview.previews(brand)[0].html.replace("@media not all", preview.DARK_QUERY)
    # A mail program shows the subject; axe asks for a title of a page.
    shown = shown.replace("<head>", "<head><title>Your order is on its way</title>", 1)
    chrome.get(live_server.url + "/unsubscribe/none")
    for look in axe.looks(chrome):
        chrome.get("data:text/html;charset=utf-8;base64," + _encoded(shown))
        assert axe.violations(chrome, name=f"brand-mail-{color[1:]}-{look}") == []
        assert not axe.scrolls_sideways(chrome), look


def _encoded(html: str) -> str:
    return base64.b64encode(html.encode()).decode()
