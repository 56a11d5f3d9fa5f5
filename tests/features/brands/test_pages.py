"""The pages that a link in an e-mail opens show the brand of the e-mail's producer."""

from __future__ import annotations

import base64
import re
from hashlib import sha256
from http import HTTPStatus

import pytest
from django.db import OperationalError
from django.test import Client

from notifications.core import clock
from notifications.core.delivery import preference_links, unsubscribe_links
from notifications.core.delivery.unsubscribe_links import Link
from notifications.core.models import Producer, Recipient
from notifications.core.store.cached import brands
from notifications.features.brands import models
from providers.contract import Channel

pytestmark = pytest.mark.django_db
LOGO = "https://cdn.shop.example:8443/logo.png?size=2"


@pytest.fixture
def shop() -> Producer:
    made = Producer.objects.create(name="shop")
    models.Brand.objects.create(producer=made, name="Shop & Co", logo_url=LOGO, color="#b91c1c")
    models.Brand.objects.create(name="The <Company>", color="#166534")
    return made


def pages(person: Recipient) -> list[str]:
    link = Link(recipient_id=person.pk, channel=Channel.EMAIL, topic="social")
    return [
        f"/unsubscribe/{unsubscribe_links.token_of(link, now=clock.now())}",
        preference_links.PATH + preference_links.token_of(person.pk, now=clock.now()),
        "/unsubscribe/forged",
    ]


def test_a_link_of_a_mail_opens_the_page_of_its_brand(shop: Producer, maria: Recipient) -> None:
    for path in pages(maria):
        answer = Client().get(f"{path}?brand={shop.pk}")
        page = answer.content.decode()
        assert f'<img src="{LOGO}" alt="Shop &amp; Co">' in page
        assert ":root { --deed: #b91c1c; --ink-on-deed: #ffffff }" in page
        policy = answer.headers["Content-Security-Policy"]
        assert " img-src https://cdn.shop.example:8443;" in policy
        [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        assert base64.b64encode(sha256(style.encode()).digest()).decode() in policy
        assert answer.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("query", ["", "?brand=", "?brand=0", "?brand=x", "?brand=" + "9" * 40])
def test_another_link_opens_the_page_of_the_installation(
    shop: Producer, maria: Recipient, query: str
) -> None:
    del shop  # with a brand that no link names
    for path in pages(maria):
        answer = Client().get(path + query)
        page = answer.content.decode()
        assert '<p class="brand">The &lt;Company&gt;</p>' in page
        assert "--deed: #166534" in page
        assert "img-src" not in answer.headers["Content-Security-Policy"]


def test_links_between_the_pages_keep_the_brand(shop: Producer, maria: Recipient) -> None:
    unsubscribe, preferences, _ = pages(maria)
    page = Client().get(f"{unsubscribe}?brand={shop.pk}").content.decode()
    assert re.search(rf'href="/preferences/[^"]+\?brand={shop.pk}"', page)
    page = Client().get(f"{preferences}?brand={shop.pk}").content.decode()
    assert f'href="?language=de&amp;brand={shop.pk}"' in page
    posted = Client().post(f"{unsubscribe}?brand={shop.pk}", {"List-Unsubscribe": "One-Click"})
    assert posted.status_code == HTTPStatus.OK
    assert "Shop &amp; Co" in posted.content.decode()


def test_a_page_without_postgres_has_the_default_look(
    maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_asked: object, **_named: object) -> None:
        raise OperationalError

    monkeypatch.setattr(brands, "of", away)
    monkeypatch.setattr(preference_links, "read", away)
    answer = Client().get(pages(maria)[1])
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "--deed: #1d4ed8" in answer.content.decode()
