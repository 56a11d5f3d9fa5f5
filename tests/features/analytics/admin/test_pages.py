"""Insights and the pages of subjects show the roll-ups of the time range, and are linked."""

from __future__ import annotations

import datetime as dt
from http import HTTPStatus

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import NotificationType, Producer, Template, TemplateEvent
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules import in_app
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.postgres import plot_annotations
from providers import dry_run, registry
from providers.contract import Channel
from tests.admin.conftest import MakeDelivery
from tests.admin.live_figures import live, sums
from tests.figures.conftest import MakeRollup

AGO = dt.timedelta(minutes=10)
_DAY = dt.timedelta(days=1)
_PROVIDERS = sorted({*(each.name for each in registry.VENDORS), in_app.PROVIDER, dry_run.NAME})


def _days_ago(since: int, until: int) -> dict[str, str]:
    """Return the query of a time that began and ended so many days ago."""
    now = clock.now()
    times = {"from": now - since * _DAY, "to": now - until * _DAY}
    return {name: f"{each:%Y-%m-%dT%H:%MZ}" for name, each in times.items()}


def test_the_table_of_failures_leads_to_the_pages_of_the_parts(
    door: Client, make_rollup: MakeRollup
) -> None:
    producer = Producer.objects.create(name="order-service")
    make_rollup(clock.now() - AGO, {"sent": 3}, producer_id=producer.pk)
    failed = {"producer_id": producer.pk, "reason": "permanent"}
    make_rollup(clock.now() - AGO, {"failed": 1}, **failed)
    part = live(door)["parts"]["failing"]
    assert f'href="/admin/insights/producer/{producer.pk}/">order-service' in part
    assert 'href="/admin/insights/provider/twilio/">twilio' in part
    assert 'href="/admin/insights/type/ORDER/">ORDER' in part
    assert "25.0%" in part


def test_insights_show_what_was_sent_what_it_cost_and_the_reactions(
    door: Client, make_rollup: MakeRollup
) -> None:
    counts = {"sent": 100, "delivered": 90, "read": 40, "clicked": 4, "cost_micros": 750_000}
    make_rollup(clock.now() - AGO, counts)
    found = live(door, "insights/")
    assert sums(found["plots"]["cost"]) == {"sms": pytest.approx(0.75)}
    assert sums(found["plots"]["reactions"]) == {"Delivered": 90, "Read": 40, "Clicked": 4}
    assert "40 (40%)" in found["parts"]["by_template"]
    assert "$0.75" in found["parts"]["by_type"]


@pytest.mark.parametrize(
    "path",
    [
        "insights/provider/twilio/",
        "insights/provider/twilio/sms/",
        "insights/template/order/",
        "insights/type/ORDER/",
        "insights/producer/{producer}/",
    ],
)
def test_the_page_of_a_part_shows_that_part_alone(
    door: Client, make_rollup: MakeRollup, path: str
) -> None:
    producer = Producer.objects.create(name="order-service")
    NotificationType.objects.create(name="ORDER")
    Template.objects.create(template_id="order")
    other = {"provider": "ses", "channel": Channel.EMAIL, "type": "B", "template": "b"}
    make_rollup(clock.now() - AGO, {"sent": 5}, producer_id=producer.pk)
    make_rollup(clock.now() - AGO, {"sent": 50}, producer_id=producer.pk + 1, **other)
    path = path.format(producer=producer.pk)
    assert door.get(f"/admin/{path}").status_code == 200
    assert sums(live(door, path)["plots"]["traffic"]) == {"Sent": 5}


def test_the_last_failures_lead_to_the_message(door: Client, make_delivery: MakeDelivery) -> None:
    failed = make_delivery(status=Status.FAILED, reason=Reason.PERMANENT)
    make_delivery(status=Status.DELIVERED)
    part = live(door, "insights/provider/sandbox/")["parts"]["failures"]
    assert f"/admin/notifications/notification/{failed.notification_id}/change/" in part
    assert part.count("/change/") == 1
    assert "unavailable 503 (HTTP 503)" in part
    assert "ORDER_SHIPPED" in part
    before = _days_ago(100, 99)
    assert "None" in live(door, "insights/provider/sandbox/", **before)["parts"]["failures"]


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["", "insights/", "insights/provider/sandbox/"])
@pytest.mark.parametrize("days", [(399, 0), (700, 600), (730, 400), (731, 700)])
def test_a_time_whose_comparison_is_no_longer_kept_has_figures(
    door: Client, page: str, days: tuple[int, int]
) -> None:
    live(door, page, **_days_ago(*days))


@pytest.mark.django_db
@pytest.mark.parametrize("days", [(732, 700), (5000, 4900)])
def test_a_time_before_the_kept_figures_is_refused(door: Client, days: tuple[int, int]) -> None:
    answer = door.get("/admin/insights/live", _days_ago(*days))
    assert answer.status_code == HTTPStatus.BAD_REQUEST


@pytest.mark.django_db
def test_a_page_of_a_template_draws_the_changes_of_that_template(door: Client) -> None:
    Template.objects.create(template_id="order")
    for name in ("order", "other"):
        TemplateEvent.objects.create(
            template_id=name, version=2, verb=TemplateEvent.Verb.PUBLISHED, by="ana"
        )
    plot_annotations.record_deploy("1.8.0")
    found = live(door, "insights/template/order/")["annotations"]
    assert {each["label"] for each in found} == {"Release 1.8.0", "order v2 published"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["provider/none", "provider/twilio/fax", "template/none", "producer/7", "type/none"]
)
def test_a_part_that_does_not_exist_is_not_found(door: Client, path: str) -> None:
    assert door.get(f"/admin/insights/{path}/").status_code == 404


@pytest.mark.django_db
def test_each_page_needs_the_right_to_view_its_model(client: Client) -> None:
    user = User.objects.create_user("editor", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_template"))
    client.force_login(user)
    Template.objects.create(template_id="order")
    found = live(client, "insights/template/order/")
    assert "traffic" in found["plots"]
    assert "failures" not in found["parts"]  # the list of messages needs the right to view them
    for path in ("insights/", "insights/provider/twilio/"):
        assert client.get(f"/admin/{path}live").status_code == 403
        assert client.get(f"/admin/{path}").status_code == 403


def test_lists_and_forms_lead_to_the_pages(door: Client, db: None) -> None:  # noqa: ARG001 - asked for by name
    producer = Producer.objects.create(name="order-service")
    NotificationType.objects.create(name="ORDER")
    Template.objects.create(template_id="order")
    for path, page in (
        ("producer/", f"producer/{producer.pk}/"),
        (f"producer/{producer.pk}/change/", f"producer/{producer.pk}/"),
        ("notificationtype/", "type/ORDER/"),
        ("notificationtype/ORDER/change/", "type/ORDER/"),
        ("template/", "template/order/"),
        ("breaker/", "provider/sandbox/sms/"),
        ("providerroute/providers/", "provider/sandbox/"),
    ):
        text = door.get(f"/admin/notifications/{path}").content.decode()
        assert f'href="/admin/insights/{page}"' in text, path
        assert door.get(f"/admin/insights/{page}").status_code == 200
    for path in ("producer/add/", "notificationtype/add/"):
        assert door.get(f"/admin/notifications/{path}").status_code == 200


@pytest.mark.django_db
def test_a_switch_is_drawn_on_the_page_of_its_channel_alone(door: Client) -> None:
    target = SwitchTarget(kind=SwitchKind.PROVIDER, value="sandbox", channel=Channel.SMS)
    switches.set_switch(target, reason="the vendor asked", expires_at=None, by="ana")
    page = live(door, "insights/provider/sandbox/sms/")["annotations"]
    assert [each["kind"] for each in page] == ["switch"]
    assert live(door, "insights/provider/sandbox/email/")["annotations"] == []


@pytest.mark.parametrize("provider", _PROVIDERS)
def test_each_provider_of_a_message_has_a_page(door: Client, provider: str) -> None:
    for address in (
        reverse("admin:monitoring_subject", args=["provider", provider]),
        reverse("admin:monitoring_provider_channel", args=["provider", provider, "push"]),
    ):
        assert door.get(address).status_code == 200


@pytest.mark.django_db
def test_a_provider_that_no_message_can_have_has_no_page(door: Client) -> None:
    address = reverse("admin:monitoring_subject", args=["provider", "nobody"])
    assert door.get(address).status_code == 404
