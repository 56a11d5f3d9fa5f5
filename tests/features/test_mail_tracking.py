"""Opens and clicks are recorded for the types that ask for it, and for no other message."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.db import Error
from django.test import Client

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.feedback import client_receipts
from notifications.core.feedback.client_receipts import ClientReceipt
from notifications.core.models import (
    Contact,
    Delivery,
    Event,
    Notification,
    NotificationType,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.rules.client_receipts import ClientReceiptKind, TokenHolder
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.rules.texts.mail_tracking import PIXEL
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import erasure
from notifications.core.store.rate_limits import address_limits
from notifications.core.store.rate_limits.address_limits import Bucket
from notifications.core.store.templates import template_cache
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]
PERSON = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1"
BOT = "Mozilla/5.0 (compatible; ScannerBot/1.0)"
APPLES_PROXY = "Mozilla/5.0"
SCANNER = "Mozilla/4.0 (compatible; ms-office; MSOffice 16)"
TARGET = "https://shop.example/orders/4521?from=mail&campaign=a-long-name-for-a-short-thing"
HTML = f'<p>Hi {{{{ name }}}}</p><a href="{html.escape(TARGET)}">See it</a>'


@pytest.fixture(autouse=True)
def _fresh_limits() -> Iterator[None]:
    address_limits.forget()
    yield
    notification_types.forget()
    address_limits.forget()


@pytest.fixture
def send(take: Accept, reach: Reach, outbox: Outbox) -> Callable[..., tuple[UUID, dict[str, Any]]]:
    """Send one message of a type with this tracking; returns what the sandbox got."""
    reach(email="maria@sandbox.example", sms="+4915112345678")

    def send(channel: Channel = Channel.EMAIL, **tracks: bool) -> tuple[UUID, dict[str, Any]]:
        NotificationType.objects.update_or_create(
            name="NEWS", defaults={"priority": Priority.P2, "category": "news", **tracks}
        )
        notification_types.forget()
        made, _ = Template.objects.get_or_create(template_id="news", published_at=None)
        TemplateText.objects.create(template=made, channel=Channel.EMAIL, title="News", html=HTML)
        TemplateText.objects.create(
            template=made, channel=Channel.SMS, body=f"See {TARGET}", shorten_links=True
        )
        Template.objects.filter(pk=made.pk).update(published_at="2026-01-01T00:00:00Z")
        template_cache.forget()
        taken = take(type="NEWS", template_id="news", channels=[channel.label])
        [row] = deliveries_of(taken)
        deliver.deliver([row.id])
        [message] = outbox(row.id)
        return row.id, message

    return send


Send = Callable[..., tuple[UUID, dict[str, Any]]]


def _get(url: str, agent: str = PERSON) -> Any:  # noqa: ANN401 - the client's answer
    return Client(headers={"User-Agent": agent}).get(urlsplit(html.unescape(url)).path)


def _links(message: dict[str, Any]) -> tuple[str, str]:
    """The target of the link, and the URL of the pixel."""
    [link] = re.findall(r'<a [^>]*href="([^"]+)"[^>]*>\s*See it', message["html"])
    pixels = re.findall(r'<img src="([^"]+)"', message["html"])
    return link, "".join(pixels)


def _state(delivery_id: UUID) -> tuple[Status, str]:
    row = Delivery.objects.get(pk=delivery_id)
    return Status(row.status), row.reason


def test_without_the_wish_of_the_type_a_mail_has_no_pixel_and_its_own_links(send: Send) -> None:
    _, message = send()
    assert _links(message) == (html.escape(TARGET), "")


@pytest.mark.parametrize("agent", [PERSON, BOT, APPLES_PROXY, SCANNER])
def test_a_pixel_records_the_opening_of_a_person(send: Send, agent: str) -> None:
    delivery_id, message = send(tracks_opens=True)
    link, pixel = _links(message)
    assert link == html.escape(TARGET)
    answer = _get(pixel, agent)
    assert (answer.status_code, answer.content) == (200, PIXEL)
    assert (answer["Content-Type"], answer["Cache-Control"]) == ("image/gif", "no-store")
    read = (Status.READ, "client_opened")
    assert _state(delivery_id) == (read if agent == PERSON else (Status.SENT, ""))
    assert not Contact.objects.filter(client_receipt_at__isnull=False).exists()


@pytest.mark.parametrize("agent", [PERSON, BOT, APPLES_PROXY, SCANNER])
def test_a_tracked_link_leads_to_its_target_and_records_the_click(send: Send, agent: str) -> None:
    delivery_id, message = send(tracks_clicks=True)
    link, pixel = _links(message)
    assert pixel == ""
    answer = _get(link, agent)
    assert (answer.status_code, answer["Location"]) == (302, TARGET)
    assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")
    read = (Status.READ, "client_clicked")
    assert _state(delivery_id) == (read if agent == PERSON else (Status.SENT, ""))


@pytest.mark.parametrize("tracks", [True, False])
def test_a_short_link_of_an_sms_is_a_click_if_the_type_tracks_clicks(
    send: Send, *, tracks: bool
) -> None:
    delivery_id, message = send(Channel.SMS, tracks_clicks=tracks)
    answer = _get(message["body"].removeprefix("See "))
    assert (answer.status_code, answer["Location"]) == (302, TARGET)
    read = (Status.READ, "client_clicked")
    assert _state(delivery_id) == (read if tracks else (Status.SENT, ""))


def test_a_forged_token_leads_nowhere_and_opens_nothing(send: Send) -> None:
    delivery_id, message = send(tracks_clicks=True, tracks_opens=True)
    link, pixel = (urlsplit(html.unescape(each)).path for each in _links(message))
    token_of_open, token_of_click = pixel.removeprefix("/o/"), link.removeprefix("/c/")
    for path in ("/c/x", "/c/a.b", f"/c/{token_of_open}", f"{link}x", f"/c/x{token_of_click}"):
        assert _get(path).status_code == 404
    for path in ("/o/x", f"/o/{token_of_click}", f"{pixel}x"):
        assert _get(path).content == PIXEL
    assert _state(delivery_id) == (Status.SENT, "")


def test_nothing_is_stored_about_a_recipient_who_was_erased(send: Send) -> None:
    delivery_id, message = send(tracks_clicks=True, tracks_opens=True)
    row = Delivery.objects.get(pk=delivery_id)
    person = Recipient.objects.get(pk=row.recipient_id)
    job = erasure.begin(
        mode=Mode(row.mode), user_id=person.user_id, requested_by="tests", by="tests"
    )
    assert job is not None
    while erasure.work_off(job, now=clock.now(), limit=10):
        pass
    link, pixel = _links(message)
    assert _get(link)["Location"] == TARGET
    assert _get(pixel).content == PIXEL
    holder = TokenHolder(row.recipient_id, Mode(row.mode))
    report = ClientReceipt(kind=ClientReceiptKind.RECEIVED, subject=delivery_id)
    assert client_receipts.record(holder, [report]) == 0
    assert _state(delivery_id) == (Status.SENT, "")
    assert not Event.objects.filter(delivery_id=delivery_id).exists()


def test_over_the_limit_of_the_recipient_links_work_and_nothing_is_recorded(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery_id, message = send(tracks_clicks=True, tracks_opens=True)
    # However slow the machine is, nothing is paid off during the test.
    monkeypatch.setattr(address_limits, "_price", lambda _rate: 3_600_000_000.0)
    recipient = str(Delivery.objects.get(pk=delivery_id).recipient_id)
    while not address_limits.take(Bucket.RECIPIENT, recipient):
        pass
    link, pixel = _links(message)
    assert _get(link)["Location"] == TARGET
    assert _get(pixel).content == PIXEL
    assert _state(delivery_id) == (Status.SENT, "")


def test_a_database_that_is_away_breaks_no_link(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, message = send(tracks_clicks=True, tracks_opens=True)

    def away(*_args: object, **_options: object) -> int:
        raise Error

    monkeypatch.setattr(client_receipts, "record", away)
    link, pixel = _links(message)
    assert _get(link)["Location"] == TARGET
    assert _get(pixel).content == PIXEL


def test_a_database_that_goes_away_after_the_target_was_read_breaks_no_short_link(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, message = send(Channel.SMS, tracks_clicks=True)

    def away(*_args: object, **_options: object) -> int:
        raise Error

    monkeypatch.setattr(Notification.objects, "filter", away)
    assert _get(message["body"].removeprefix("See "))["Location"] == TARGET
    monkeypatch.setattr(notification_types, "every", away)
    assert _get(message["body"].removeprefix("See "))["Location"] == TARGET
