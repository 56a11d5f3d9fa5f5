"""Each link of each admin page leads to a page; no id in an address ends in a server error."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver

from notifications.core.models import Delivery, NotificationType
from notifications.core.rules import in_app
from notifications.core.rules.states import Status
from notifications.core.store.postgres import rollups
from providers import dry_run, registry
from providers.contract import Channel
from tests.admin import crawl
from tests.admin.conftest import MakeDelivery
from tests.admin.live_figures import live

_PROVIDERS = sorted({*(each.name for each in registry.VENDORS), in_app.PROVIDER, dry_run.NAME})


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


@pytest.mark.django_db
def test_names_are_no_links_without_the_pages_with_plots(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def has_none(*_: object, **__: object) -> str:
        raise NoReverseMatch

    assert door.get("/admin/").status_code == 200
    monkeypatch.setattr("notifications.core.admin.monitoring.links.reverse", has_none)
    lists = ("breaker/", "providerroute/providers/", "producer/")
    paths = [f"/admin/notifications/{path}" for path in lists]
    texts = [door.get(path).content.decode() for path in paths]
    for text in (live(door)["parts"]["providers"], *texts[:2]):
        assert "sandbox" in text
    for text in (*live(door)["parts"].values(), *texts):
        assert 'href=""' not in text
        assert "/admin/insights/p" not in text


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
