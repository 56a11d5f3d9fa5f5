"""An operator finds a message and sees everything of it; nobody sees what is nobody's business."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from notifications.core.models import Delivery, Event, Notification, Recipient, Template
from notifications.core.rules.states import Status
from tests.admin.conftest import ADDRESS, MakeDelivery

LIST = reverse("admin:notifications_notification_changelist")
DELIVERIES = reverse("admin:notifications_delivery_changelist")
UNKNOWN = {"status__exact": str(Status.UNKNOWN.value)}


def page_of(delivery: Delivery) -> str:
    return reverse("admin:notifications_notification_change", args=[delivery.notification_id])


@pytest.mark.parametrize(
    "term", ["u_789012", ADDRESS, "{0.notification_id}", "{0.id}", "{0.provider_message_id}"]
)
@pytest.mark.parametrize("where", [LIST, DELIVERIES])
def test_a_message_is_found_by_whatever_is_in_hand(
    door: Client, make_delivery: MakeDelivery, term: str, where: str
) -> None:
    delivery = make_delivery(age=dt.timedelta(days=2))
    found = door.get(where, {"q": term.format(delivery)}, follow=True)
    assert str(delivery.notification_id)[:30] in found.content.decode()


def test_an_unknown_term_finds_nothing(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery()
    found = door.get(LIST, {"q": "somebody@else.example"}, follow=True)
    assert str(delivery.notification_id) not in found.content.decode()


def test_the_page_tells_calls_and_events_and_no_address(
    door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery(status=Status.RETRYING, reason="unavailable")
    page = door.get(page_of(delivery)).content.decode()
    assert "try again later" in page
    assert "HTTP 503" in page
    assert "asked to wait 30 s" in page
    assert len(re.findall(r">\s*retrying\s*<", page)) >= 2
    assert delivery.provider_message_id in page
    assert ADDRESS not in page


def test_the_page_tells_the_stages_and_the_time_of_a_receipt(
    door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery(status=Status.SENT)
    accepted = Notification.objects.get(pk=delivery.notification_id).created_at
    Event.objects.create(
        notification_id=delivery.notification_id,
        seq=10_000_000_000,
        delivery_id=delivery.id,
        status=Status.DELIVERED,
        reason="receipt_delivered",
        at=accepted + dt.timedelta(hours=2),
        occurred_at=accepted + dt.timedelta(seconds=4.5),
    )
    page = door.get(page_of(delivery)).content.decode()
    assert "delivered 4.500 s" in page
    assert f"{accepted + dt.timedelta(seconds=4.5):%Y-%m-%d %H:%M:%S}" in page


def test_a_sensitive_variable_is_masked(door: Client, make_delivery: MakeDelivery) -> None:
    template = Template.objects.create(template_id="otp", sensitive_variables=["code"])
    delivery = make_delivery(template=template.pk, variables={"code": "493021", "app": "Shop"})
    page = door.get(page_of(delivery)).content.decode()
    assert "493021" not in page
    assert "Shop" in page


def test_a_delivery_leads_to_its_notification(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery()
    answer = door.get(reverse("admin:notifications_delivery_change", args=[delivery.id]))
    assert answer.headers["Location"] == f"{page_of(delivery)}#{delivery.id}"


@pytest.mark.parametrize("nonsense", ["0", "not-an-id", "018f0000-0000-7000-8000-000000000000"])
def test_what_does_not_exist_is_not_found(door: Client, nonsense: str) -> None:
    for model in ("notification", "delivery"):
        page = reverse(f"admin:notifications_{model}_change", args=[nonsense])
        assert door.get(page, follow=True).status_code == 404


def test_an_old_list_leads_to_the_activity_with_its_filters(door: Client) -> None:
    activity = reverse("admin:notifications_activity")
    query = {"q": "u_789012", "within": "week", "mode__exact": "1", "status__exact": "12"}
    wanted = f"{activity}?q=u_789012&within=week&mode=1&status=12"
    for where in (LIST, DELIVERIES):
        assert door.get(where, query).headers["Location"] == wanted
        assert door.get(where).headers["Location"] == activity


@pytest.mark.django_db
@pytest.mark.parametrize("where", [LIST, DELIVERIES])
def test_an_old_list_leads_nobody_without_the_right(where: str) -> None:
    client = Client()
    client.force_login(User.objects.create_user("nobody", is_staff=True))
    assert client.get(where).status_code == 403


def test_the_list_of_unknown_deliveries_never_counts_a_partitioned_table_whole(
    door: Client, make_delivery: MakeDelivery
) -> None:
    unknown = {"status": Status.UNKNOWN}
    old, new = make_delivery(age=dt.timedelta(days=2), **unknown), make_delivery(**unknown)
    other = make_delivery()
    with CaptureQueriesContext(connection) as queries:
        page = door.get(DELIVERIES, UNKNOWN).content.decode()
    counts = [query["sql"] for query in queries if "COUNT(" in query["sql"]]
    assert str(new.pk) in page
    assert str(old.pk) not in page
    assert str(other.pk) not in page
    assert str(old.pk) in door.get(DELIVERIES, UNKNOWN | {"within": "week"}).content.decode()
    assert counts
    assert all("LIMIT" in sql and '"id" >= ' in sql for sql in counts if "delivery" in sql)


def test_unknown_deliveries_are_settled_by_hand(door: Client, make_delivery: MakeDelivery) -> None:
    unknown, other = make_delivery(status=Status.UNKNOWN), make_delivery(status=Status.FAILED)
    data = {"action": "was_sent", "_selected_action": [str(unknown.id), str(other.id)]}
    door.post(DELIVERIES, data)
    unknown.refresh_from_db()
    other.refresh_from_db()
    assert (unknown.status, other.status) == (Status.SENT, Status.FAILED)


def test_who_may_only_look_settles_nothing(window: Client, make_delivery: MakeDelivery) -> None:
    unknown = make_delivery(status=Status.UNKNOWN)
    window.post(DELIVERIES, {"action": "was_sent", "_selected_action": [str(unknown.id)]})
    unknown.refresh_from_db()
    assert unknown.status == Status.UNKNOWN


def test_the_page_tells_the_persons_own_time_and_why_in_words(
    door: Client, make_delivery: MakeDelivery
) -> None:
    Recipient.objects.update(timezone="Pacific/Kiritimati")
    delivery = make_delivery(status=Status.SCHEDULED, reason="do_not_disturb")
    page = door.get(page_of(delivery)).content.decode()
    assert delivery.sent_at is not None
    there = delivery.sent_at.astimezone(dt.timezone(dt.timedelta(hours=14)))
    assert f"{there:%a %-d %b %H:%M:%S} there" in page
    assert "The recipient set do-not-disturb until a given time." in page


def test_the_list_of_deliveries_is_called_so(door: Client, make_delivery: MakeDelivery) -> None:
    make_delivery(status=Status.UNKNOWN)
    assert "deliverys" not in door.get(DELIVERIES, UNKNOWN).content.decode().lower()
