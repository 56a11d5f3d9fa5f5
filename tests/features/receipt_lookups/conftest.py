"""Expo behind its stand-in, as the provider of the platform `expo_token`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from notifications.core.delivery import routing
from notifications.core.models import ProviderRoute
from notifications.core.store.cached import provider_overrides
from providers import registry
from providers.contract import Channel
from providers.transport import Transport
from tests.certificate import make_certificate
from tests.providers.push.vendors import ExpoFake


@pytest.fixture
def expo(
    outbox: object, db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ExpoFake]:
    assert outbox  # its settings come first
    del db
    certificate = tmp_path / "localhost.pem"
    make_certificate(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("NOTIFY_EXPO_ACCESS_TOKEN", "access-token")
    with closing(ExpoFake(certificate=certificate)) as server, closing(Transport()) as transport:
        monkeypatch.setenv("NOTIFY_EXPO_URL", server.url)
        build = partial(registry.build_all, transport=transport)
        monkeypatch.setattr(registry, "build_all", build)
        ProviderRoute.objects.create(channel=Channel.PUSH, provider="expo", platform="expo_token")
        routing.forget()
        provider_overrides.forget()
        yield server
    routing.forget()
    provider_overrides.forget()
