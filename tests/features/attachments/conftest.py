"""A producer that uploads files, and a real SMTP server that gets the mails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

import pytest

from notifications.core.delivery import in_flight, routing
from notifications.core.intake.accept import Caller
from notifications.core.models import ProviderRoute
from notifications.features.attachments import rows
from providers.contract import Channel
from tests.journey import add_vendor, caller, outbox, reach, take
from tests.providers.fakes import SmtpFake

__all__ = ["add_vendor", "caller", "outbox", "reach", "take"]

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 40
Upload = Callable[..., UUID]


@pytest.fixture
def upload(caller: Caller) -> Upload:
    """Return a function that stores a file of the producer."""

    def store(content: bytes = PDF, type_: str = "application/pdf") -> UUID:
        found = rows.store(caller.producer_id, caller.mode, type_=type_, content=content)
        return found.file.id

    return store


@pytest.fixture
def mail_server(
    outbox: Callable[[UUID], list[Any]], caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SmtpFake]:
    """Route e-mail to a real SMTP server."""
    del outbox, caller  # their settings and rows come first
    with closing(SmtpFake(data_size_limit=33_554_432)) as server:
        monkeypatch.setenv("NOTIFY_SMTP_URL", f"smtp://127.0.0.1:{server.port}")
        monkeypatch.setenv("NOTIFY_SMTP_FROM", "Shop <no-reply@shop.example>")
        for module in (routing, in_flight):
            module.forget()
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider="smtp")
        yield server
    for module in (routing, in_flight):
        module.forget()
