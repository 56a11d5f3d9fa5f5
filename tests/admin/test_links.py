"""Each link of each admin page leads to a page; no id in an address ends in a server error."""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

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
from tests.admin.conftest import MakeDelivery

_HREF = re.compile(r"href=\\?[\"']([^\"'\\]+)")
_MOST_PAGES = 250
_LEFT_OUT = ("/admin/logout/", "/admin/jsi18n/")
_PROVIDERS = sorted({*(each.name for each in registry.VENDORS), in_app.PROVIDER, dry_run.NAME})


def _links(page: str, *, at: str) -> set[str]:
    found = set()
    for href in _HREF.findall(page):
        parts = urlsplit(urljoin(at, html.unescape(href)))
        is_ours = parts.path.startswith("/admin/") and not parts.netloc
        if is_ours and not parts.path.startswith(_LEFT_OUT):
            found.add(parts._replace(fragment="").geturl())
    return found


def _shape(address: str) -> str:
    """Return the address without ids and values: two pages of a shape are looked at."""
    parts = urlsplit(address)
    path = re.sub(r"/(\d+|[0-9a-f-]{36})(?=/)", "/ID", parts.path)
    return path + "?" + "&".join(sorted(pair.split("=")[0] for pair in parts.query.split("&")))


def _dead_links(client: Client) -> dict[str, tuple[int, str]]:
    """Follow the links from Overview; returns address -> status and the page with the link."""
    waiting = deque([("/admin/", ""), ("/admin/live", "")])
    known, shapes, dead = {"/admin/", "/admin/live"}, dict[str, int](), dict[str, tuple[int, str]]()
    for _ in range(_MOST_PAGES):
        if not waiting:
            break
        address, source = waiting.popleft()
        answer = client.get(address, follow=False)
        if answer.status_code >= 400:
            dead[address] = (answer.status_code, source)
            continue
        if answer.status_code // 100 == 3:
            body = f'href="{answer.headers["Location"]}"'
        elif answer.streaming or "charset" not in answer.headers.get("Content-Type", "json"):
            body = "" if answer.streaming else answer.content.decode(errors="replace")
        else:
            body = answer.content.decode()
        for link in sorted(_links(body, at=address)):
            shape = _shape(link)
            if link not in known and shapes.get(shape, 0) < 2:
                known.add(link)
                shapes[shape] = shapes.get(shape, 0) + 1
                waiting.append((link, address))
    return dead


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
    assert _dead_links(door) == {}


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
    answer = door.get("/admin/notifications/template/abc/change/", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "This page does not exist" in answer.content.decode()
