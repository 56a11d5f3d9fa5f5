"""URLs of destinations: forms, guards, encryption, NOTIFY_ALERT_URLS."""

from __future__ import annotations

from dataclasses import replace

import pytest

from notifications.core import clock, conf
from notifications.core.alerting import destinations, notices
from notifications.core.models import AlertDestination
from notifications.core.webhooks import body
from tests.alerting.conftest import PAGERDUTY, SLACK, MakeDestination


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("mailto:oncall@shop.example", "o***@shop.example"),
        (PAGERDUTY, "pagerduty us"),
        (f"{PAGERDUTY}?region=eu", "pagerduty eu"),
        (SLACK, "slack"),
        ("https://hooks.example.com/secret", "https://hooks.example.com:443"),
    ],
)
@pytest.mark.django_db
def test_a_url_is_stored_encrypted_and_shown_without_its_secret(
    url: str, label: str, make_destination: MakeDestination
) -> None:
    row = make_destination(url)
    assert row.target == label
    assert url not in row.secret
    assert destinations.parse_row(row).label == label


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "pagerduty://short", f"{PAGERDUTY}?region=moon", "mailto:nobody", "slack", ""],
)
def test_an_unknown_form_is_refused_without_a_repeat_of_the_url(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        destinations.check(url)
    assert url not in str(caught.value) or url in {"", "slack"}


@pytest.mark.parametrize("url", ["https://10.0.0.1/x", "http://hooks.example.com/x"])
def test_a_private_address_is_refused_unless_allowed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_WEBHOOK_ALLOW_PRIVATE", "no")
    body.policy.cache_clear()
    with pytest.raises(ValueError, match=r"private|https"):
        destinations.check(url)


@pytest.mark.django_db
def test_the_environment_makes_rows_and_switches_them_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = conf.current()

    def sync(*urls: str) -> list[str]:
        monkeypatch.setattr(conf, "current", lambda: replace(settings, alert_urls=urls))
        destinations.sync_environment()
        active = AlertDestination.objects.filter(is_active=True)
        return sorted(active.values_list("target", flat=True))

    both = ["pagerduty us", "slack"]
    assert sync(PAGERDUTY, SLACK) == sync(PAGERDUTY, SLACK) == both
    assert AlertDestination.objects.count() == 2
    assert sync(SLACK) == ["slack"]
    assert sync(PAGERDUTY, SLACK) == both
    assert AlertDestination.objects.count() == 2


@pytest.mark.django_db
def test_a_url_without_its_key_is_a_failure_with_the_remedy(
    make_destination: MakeDestination,
) -> None:
    row = make_destination(PAGERDUTY)
    AlertDestination.objects.update(secret="gAAAAA")
    row.refresh_from_db()
    with pytest.raises(destinations.UnreadableUrl):
        notices.send_test(row)
    assert notices.work_off(now=clock.now(), limit=10) == 0
