"""The activity list and the search box find a message by everything that support knows."""

from __future__ import annotations

import datetime as dt
import html
import re
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import Contact, Delivery, Notification, Producer, Template
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import activity, db, idempotency
from notifications.core.store.postgres.idempotency import IdempotencyKey, IdempotencyRecord
from providers.contract import Channel
from tests.admin.conftest import ADDRESS, MakeDelivery

LIST = reverse("admin:notifications_activity")


def shown(door: Client, **query: str) -> str:
    answer = door.get(LIST, query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def has(page: str, delivery: Delivery) -> bool:
    return f"#{delivery.pk}" in page


def test_a_line_has_recipient_type_template_channel_status_reason_time_and_producer(
    door: Client, make_delivery: MakeDelivery
) -> None:
    template = Template.objects.create(template_id="order_shipped")
    delivery = make_delivery(status=Status.FAILED, reason="permanent", template=template.pk)
    page = shown(door)
    [line] = re.findall(rf"<tr>(?:(?!</tr>).)*#{delivery.pk}.*?</tr>", page)
    for text in ("u_789012", "ORDER_SHIPPED", "order_shipped", "email", "failed", "order-service"):
        assert text in line
    assert "The provider rejected the message for good." in line
    assert f"{Notification.objects.get().created_at:%H:%M:%S}" in line


@pytest.mark.parametrize("term", ["u_789012", ADDRESS, "sbx", "id", "delivery", "digits", "key"])
def test_an_index_finds_each_term(door: Client, make_delivery: MakeDelivery, term: str) -> None:
    delivery, other = make_delivery(idempotency_key="order-91-shipped"), make_delivery()
    ids = {
        "sbx": delivery.provider_message_id,
        "id": str(delivery.notification_id),
        "delivery": str(delivery.pk),
        "digits": str(delivery.pk)[:28],
        "key": "order-91-shipped",
    }
    if term == "key":
        keep_key("order-91-shipped", delivery)
    page = shown(door, q=ids.get(term, term))
    assert has(page, delivery)
    assert has(page, other) is (term in {"u_789012", ADDRESS})
    assert "found by index" in page


def keep_key(name: str, delivery: Delivery) -> None:
    key = IdempotencyKey(Producer.objects.get().pk, Mode.LIVE, name)
    answer = {"notification_id": str(delivery.notification_id)}
    entries = [IdempotencyRecord(key, b"0" * 16, answer)]
    db.insert(idempotency.rows(entries, now=clock.now()))


@pytest.mark.parametrize("term", ["ORD-4521", "order-91", "4711", "ORDER_SHIPPED"])
def test_a_scan_finds_a_value_of_metadata_or_variables_an_old_key_and_a_type(
    door: Client, make_delivery: MakeDelivery, term: str
) -> None:
    delivery = make_delivery(
        idempotency_key="order-91", metadata={"order": "ORD-4521"}, variables={"number": 4711}
    )
    other = make_delivery()
    page = shown(door, q=term)
    assert has(page, delivery)
    assert has(page, other) is (term == "ORDER_SHIPPED")
    assert not has(shown(door, q=term[:-1]), delivery)


def test_each_filter_narrows_and_is_a_chip_that_can_be_removed(
    door: Client, make_delivery: MakeDelivery
) -> None:
    template = Template.objects.create(template_id="order_shipped")
    wanted = make_delivery(status=Status.FAILED, reason="permanent", template=template.pk)
    other = make_delivery(status=Status.DELIVERED, reason="sent")
    Delivery.objects.filter(pk=other.pk).update(provider="ses", channel=Channel.SMS)
    Notification.objects.filter(pk=other.notification_id).update(
        type="OTHER", producer_id=0, mode=Mode.TEST, priority=1
    )
    for name, value in {
        "status": str(Status.FAILED.value),
        "channel": str(Channel.EMAIL.value),
        "provider": "sandbox",
        "reason": "permanent",
        "type": "ORDER_SHIPPED",
        "template": "order_shipped",
        "producer": str(Producer.objects.get().pk),
        "mode": str(Mode.LIVE.value),
        "priority": "2",
    }.items():
        page = shown(door, **{name: value})
        assert (has(page, wanted), has(page, other)) == (True, False), name
        assert "Remove the filter" in page


def test_an_invalid_filter_counts_as_no_filter(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery()
    page = shown(door, status="x", channel="99", producer="y", before="z", within="q")
    assert has(page, delivery)


def test_the_span_bounds_the_list(door: Client, make_delivery: MakeDelivery) -> None:
    old = make_delivery(age=dt.timedelta(days=2))
    assert has(shown(door), old)
    assert not has(shown(door, within="day"), old)


def test_a_scan_that_ends_early_says_so_and_goes_on(
    door: Client, make_delivery: MakeDelivery
) -> None:
    old = make_delivery(metadata={"order": "ORD-4521"}, age=dt.timedelta(hours=1))
    newer = [make_delivery(age=dt.timedelta(minutes=minute)) for minute in (3, 2)]
    with patch.object(activity, "SCANNED", 2):
        page = shown(door, q="ORD-4521")
        assert "No message among the 2 deliveries after" in page
        assert not any(has(page, each) for each in newer)
        [older] = re.findall(r'href="\?([^"]*before=[^"]*)"', page)
        assert has(door.get(f"{LIST}?{older.replace('&amp;', '&')}").content.decode(), old)


def test_a_scan_whose_time_is_over_says_so_and_goes_on(
    door: Client, make_delivery: MakeDelivery
) -> None:
    old = make_delivery(metadata={"order": "ORD-4521"}, age=dt.timedelta(hours=1))
    for minute in (3, 2):
        make_delivery(age=dt.timedelta(minutes=minute))
    with patch.multiple(activity, _ROWS_PER_READ=1, SCAN_SECONDS=0):
        assert "No message among the 1 deliveries after" in shown(door, q="ORD-4521")
    with patch.object(activity, "_ROWS_PER_READ", 1):
        assert has(shown(door, q="ORD-4521"), old)


def test_a_viewer_reads_and_a_person_without_rights_does_not(
    window: Client, door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery()
    assert has(shown(window), delivery)
    door.get(LIST)
    assert Client().get(LIST).status_code == 302


def palette(door: Client, term: str) -> str:
    return door.get(reverse("admin:search"), {"s": term, "extended": "1"}).content.decode()


def test_the_search_box_finds_messages_people_templates_and_producers(
    door: Client, make_delivery: MakeDelivery
) -> None:
    Template.objects.create(template_id="order_shipped")
    delivery = make_delivery()
    Contact.objects.update(address="Maria@Sandbox.example")
    assert f"#{delivery.pk}" in palette(door, str(delivery.pk))
    assert "ORDER_SHIPPED to u_789012" in palette(door, "u_789012")
    person = reverse("admin:notifications_recipient_change", args=[delivery.recipient_id])
    assert person in palette(door, "Maria@Sandbox.example")
    assert "order_shipped v1" in palette(door, "order_sh")
    assert "order-service" in palette(door, "order-ser")
    assert f"{LIST}?q=ORD-4521" in palette(door, "ORD-4521")


def test_the_search_box_shows_no_person_and_no_message_without_the_rights(
    make_delivery: MakeDelivery, django_user_model: object
) -> None:
    make_delivery()
    django_user_model.objects.create_user("nobody", password="x", is_staff=True)  # type: ignore[attr-defined]  # the user model
    client = Client()
    client.force_login(django_user_model.objects.get(username="nobody"))  # type: ignore[attr-defined]  # the user model
    page = palette(client, "u_789012")
    assert "ORDER_SHIPPED" not in page
    assert "All messages" not in page
    assert client.get(LIST).status_code == 403


def test_an_address_in_a_title_is_masked(door: Client, make_delivery: MakeDelivery) -> None:
    make_delivery(content={"title": f"For {ADDRESS}", "body": "Hi"})
    assert "For m***@" in shown(door)
    assert ADDRESS not in shown(door)


@pytest.mark.parametrize(
    ("reason", "label"), [("", "scheduled"), ("scheduled", "scheduled"), ("breaker", "held")]
)
def test_a_delivery_that_waits_for_a_failure_is_held_and_not_scheduled(
    door: Client, make_delivery: MakeDelivery, reason: str, label: str
) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason=reason)
    page = door.get(reverse("admin:notifications_activity"))
    [line] = page.context["lines"]
    assert line.label[0] == label
    message = reverse("admin:notifications_notification_change", args=[line.row.notification_id])
    [shown_delivery] = door.get(message).context["lines"]
    assert shown_delivery.effort.label == line.label
    assert shown_delivery.effort.delivery.id == delivery.pk


def test_the_link_to_unknown_deliveries_has_a_span_that_the_list_knows(
    door: Client, make_delivery: MakeDelivery
) -> None:
    old = make_delivery(status=Status.UNKNOWN, age=dt.timedelta(days=2))
    page = door.get(reverse("admin:notifications_activity")).content.decode()
    [link] = re.findall(r'href="([^"]+status__exact=14[^"]+)"', page)
    assert str(old.pk) in door.get(html.unescape(link)).content.decode()
