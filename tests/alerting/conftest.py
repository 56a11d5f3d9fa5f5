"""Stand-ins for PagerDuty, Slack, a webhook and a mail server, on real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from notifications.core.alerting import destinations
from notifications.core.delivery import routing
from notifications.core.models import AlertDestination, ProviderRoute
from notifications.core.webhooks import body
from providers.alert_destinations import destination
from providers.contract import Channel
from tests.providers.fakes import HttpFake, SmtpFake

KEY = "0123456789abcdef0123456789ABCDEF"
PAGERDUTY = f"pagerduty://{KEY}"
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/%23oncall"

MakeDestination = Callable[..., AlertDestination]


@pytest.fixture
def make_fake() -> Iterator[Callable[[], HttpFake]]:
    made: list[HttpFake] = []

    def make() -> HttpFake:
        made.append(HttpFake(key_header="webhook-id"))
        return made[-1]

    yield make
    for fake in made:
        fake.close()


@pytest.fixture
def hook(make_fake: Callable[[], HttpFake]) -> HttpFake:
    return make_fake()


@pytest.fixture
def pagerduty(make_fake: Callable[[], HttpFake], monkeypatch: pytest.MonkeyPatch) -> HttpFake:
    fake = make_fake()
    fake.status = 202
    origins = {"us": fake.url.removesuffix("/hook")}
    monkeypatch.setattr(destination, "PAGERDUTY_ORIGINS", origins)
    return fake


@pytest.fixture
def slack(make_fake: Callable[[], HttpFake], monkeypatch: pytest.MonkeyPatch) -> HttpFake:
    fake = make_fake()
    own = f"https://hooks.slack.com={fake.url.removesuffix('/hook')}"
    monkeypatch.setenv("NOTIFY_APPRISE_ENDPOINTS", own)
    monkeypatch.setenv("NOTIFY_APPRISE_SCHEMES", "slack")
    destinations.forget()
    return fake


@pytest.fixture
def mail_server(
    db: None,  # noqa: ARG001 - pytest-django asks for it by name
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[SmtpFake]:
    fake = SmtpFake()
    monkeypatch.setenv("NOTIFY_SMTP_URL", f"smtp://127.0.0.1:{fake.port}")
    monkeypatch.setenv("NOTIFY_SMTP_FROM", "notify@shop.example")
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="smtp")
    routing.forget()
    yield fake
    monkeypatch.undo()
    routing.forget()
    fake.close()


@pytest.fixture(autouse=True)
def _private_addresses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow calls on loopback, as NOTIFY_WEBHOOK_ALLOW_PRIVATE does."""
    monkeypatch.setenv("NOTIFY_WEBHOOK_ALLOW_PRIVATE", "yes")
    monkeypatch.setenv("NOTIFY_WEBHOOK_SECRETS", "whsec_dGVzdHMtc2lnbi10aGVpci13ZWJob29rcw==")
    routing.forget()
    body.policy.cache_clear()
    destinations.forget()
    yield
    monkeypatch.undo()
    body.policy.cache_clear()
    destinations.forget()
    routing.forget()


@pytest.fixture
def make_destination(db: None) -> MakeDestination:  # noqa: ARG001 - pytest-django asks for it by name
    def make(url: str, *, name: str = "oncall", **columns: object) -> AlertDestination:
        secret, target = destinations.seal(url)
        return AlertDestination.objects.create(name=name, secret=secret, target=target, **columns)

    return make
