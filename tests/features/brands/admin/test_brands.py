"""Brands are edited in the admin, with previews."""

from __future__ import annotations

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core.models import AuditEntry, Producer
from notifications.features.brands.models import Brand

LIST = reverse("admin:notifications_brand_changelist")
ADD = reverse("admin:notifications_brand_add")
WHOLE = {
    "producer": "",
    "name": "Shop",
    "logo_url": "https://cdn.shop.example/logo.png",
    "logo_alt": "",
    "color": "#b91c1c",
    "font": "georgia",
    "footer": "You have an account.",
    "postal_address": "Street 1\n10115 Berlin",
    "website_url": "https://shop.example",
    "links": "Help and contact https://shop.example/help\n\nTerms https://shop.example/terms",
    "sender_name": "Shop",
    "sender_address": "",
    "reply_to": "help@shop.example",
}


@pytest.mark.usefixtures("db")
def test_a_brand_is_added_changed_and_listed(door: Client) -> None:
    answer = door.post(ADD, WHOLE)
    assert answer.status_code == 302, answer.content
    row = Brand.objects.get()
    assert row.links == [
        {"label": "Help and contact", "url": "https://shop.example/help"},
        {"label": "Terms", "url": "https://shop.example/terms"},
    ]
    page = door.get(LIST).content.decode()
    assert "all without a brand" in page
    url = reverse("admin:notifications_brand_change", args=[row.pk])
    assert door.post(url, {**WHOLE, "name": "Store"}).status_code == 302
    entry = AuditEntry.objects.get(operation="change_brand")
    assert (entry.before["name"], entry.after["name"]) == ("Shop", "Store")


@pytest.mark.usefixtures("db")
def test_the_page_shows_previews_and_permits_the_server_of_the_logo_alone(door: Client) -> None:
    row = Brand.objects.create(name="Shop", logo_url="https://cdn.shop.example:8443/logo.png")
    answer = door.get(reverse("admin:notifications_brand_change", args=[row.pk]))
    page = unescape(answer.content.decode())
    for title in ("E-mail in a light program", "E-mail in a dark program", "E-mail on a phone"):
        assert title in page
    assert "<iframe sandbox" in page
    policy = answer.headers["Content-Security-Policy"]
    assert "img-src 'self' data: https://cdn.shop.example:8443;" in policy
    assert "cdn.shop" not in door.get(LIST).headers["Content-Security-Policy"]


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("color", "#ffcc00", "Color has a contrast of 1.51 to 1 on white"),
        ("name", "", "required"),
        ("links", "https://shop.example", "Line 1 needs a label and a URL"),
        ("links", "Help http://shop.example", "Links link 1 must be an https URL"),
        ("sender_address", "news@shop.example", "NOTIFY_MAIL_SENDERS permits no sender"),
        ("reply_to", "nobody", "must be a mailbox"),
        ("logo_url", "data:image/png;base64,AAAA", "Logo URL must be an https URL"),
    ],
)
def test_a_wrong_brand_is_refused(field: str, value: str, said: str, door: Client) -> None:
    answer = door.post(ADD, {**WHOLE, field: value})
    assert said in unescape(answer.content.decode())
    assert not Brand.objects.exists()


@pytest.mark.usefixtures("db")
def test_a_second_brand_of_a_producer_is_refused(door: Client) -> None:
    shop = Producer.objects.create(name="shop")
    for producer in ("", shop.pk):
        assert door.post(ADD, {**WHOLE, "producer": producer}).status_code == 302
        answer = door.post(ADD, {**WHOLE, "producer": producer})
        assert "change that brand" in unescape(answer.content.decode())
    assert Brand.objects.count() == 2


@pytest.mark.usefixtures("db")
def test_the_list_tells_a_sender_that_is_no_longer_permitted(door: Client) -> None:
    Brand.objects.create(name="Shop", sender_address="news@gone.example")
    page = door.get(LIST).content.decode()
    assert "not used: NOTIFY_MAIL_SENDERS does not permit it" in page
