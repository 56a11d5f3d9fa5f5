"""The router's rows are read once a second, however many batches ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import DjangoAssertNumQueries

from notifications.core import clock
from notifications.core.models import ProviderRoute
from notifications.core.store.cached import provider_overrides
from providers.contract import Channel


@pytest.fixture(autouse=True)
def _nothing_known(db: None) -> Iterator[None]:  # noqa: ARG001 - asked for by name
    provider_overrides.forget_routes()
    yield
    provider_overrides.forget_routes()


def test_rows_are_read_once_a_second(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    moment = 1_000.0
    monkeypatch.setattr(clock, "monotonic", lambda: moment)
    ProviderRoute.objects.create(channel=Channel.SMS, provider="sandbox", weight=3)
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="sandbox", is_enabled=False)
    with django_assert_num_queries(1):
        first, again = provider_overrides.routes(), provider_overrides.routes()
    assert first is again
    assert [(rule.provider, rule.weight) for rule in first[Channel.SMS]] == [("sandbox", 3)]
    assert Channel.EMAIL not in first
    moment += 1
    ProviderRoute.objects.all().delete()
    assert provider_overrides.routes() == {}
