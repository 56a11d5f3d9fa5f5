"""A producer's endpoints on a real server, and deliveries whose changes they learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from notifications.core.models import Producer, WebhookEndpoint
from notifications.core.rules.lane import Mode
from notifications.core.webhooks import body, endpoints
from tests.providers.fakes import HttpFake
from tests.store.stored_rows import make_delivery

__all__ = ["make_delivery"]

MakeEndpoint = Callable[..., WebhookEndpoint]


@pytest.fixture(autouse=True)
def _private_addresses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow calls on loopback, as NOTIFY_WEBHOOK_ALLOW_PRIVATE does."""
    monkeypatch.setenv("NOTIFY_WEBHOOK_ALLOW_PRIVATE", "yes")
    monkeypatch.setenv("NOTIFY_WEBHOOK_SECRETS", "whsec_dGVzdHMtc2lnbi10aGVpci13ZWJob29rcw==")
    body.policy.cache_clear()
    endpoints.forget()
    yield
    monkeypatch.undo()
    body.policy.cache_clear()


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
def fake(make_fake: Callable[[], HttpFake]) -> HttpFake:
    return make_fake()


@pytest.fixture
def make_endpoint(db: None) -> MakeEndpoint:  # noqa: ARG001 - pytest-django asks for it by name
    """Create an endpoint of producer 1, which owns the notifications of `make_delivery`."""

    def make(url: str, *, mode: Mode = Mode.LIVE, **fields: Any) -> WebhookEndpoint:  # noqa: ANN401 - columns
        Producer.objects.get_or_create(id=1, defaults={"name": "orders"})
        return WebhookEndpoint.objects.create(producer_id=1, mode=mode, url=url, **fields)

    return make
