"""Each link of each admin page leads to a page; no id in an address ends in a server error."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from notifications.models import Delivery, NotificationType
from notifications.rules import in_app
from notifications.rules.states import Status
from notifications.store.postgres import rollups
from providers import dry_run, registry
from providers.contract import Channel
from tests.admin import crawl
from tests.admin.conftest import MakeDelivery

_PROVIDERS = sorted({*(each.name for each in registry.VENDORS), in_app.PROVIDER, dry_run.NAME})


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


def test_no_link_of_an_admin_page_is_dead(
    door: Client, operator: User, make_delivery: MakeDelivery
) -> None:
    assert operator.is_superuser
    assert not NotificationType.objects.filter(pk="ORDER_SHIPPED").exists()
    rollups.count_next(limit=1)
    statuses = (Status.DELIVERED, Status.FAILED, Status.SCHEDULED)
    for place, provider in enumerate(_PROVIDERS):
        channel = Channel.IN_APP if provider == in_app.PROVIDER else Channel.EMAIL
        made = make_delivery(status=statuses[place % 3], channel=channel)
        Delivery.objects.filter(pk=made.pk).update(provider=provider)
    while rollups.count_next(limit=1_000).more:
        pass
    assert crawl.dead_links(door, ["/admin/", "/admin/live"]) == {}


def _paths(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[str]:
    for each in patterns:
        path = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _paths(each.url_patterns, path)
        else:
            yield path


@pytest.mark.parametrize("given", ["abc", "9" * 30, "%00", "²"])
def test_an_id_of_no_row_is_never_an_error_of_the_server(door: Client, given: str) -> None:
    asked = {
        re.sub(r"<(?:\w+:)?\w+>", given, path)
        for path in _paths(get_resolver().url_patterns)
        if path.startswith("/admin/") and "<" in path
    }
    assert len(asked) > 100
    failed = [path for path in asked if door.get(path).status_code >= 500]
    assert failed == []


def test_a_malformed_id_is_a_page_that_says_so(door: Client) -> None:
    answer = door.get("/admin/notifications/producer/abc/change/", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "This page does not exist" in answer.content.decode()
