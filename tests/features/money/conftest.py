"""A provider of text messages without budgets, and fixtures of roll-ups."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from notifications.core.models import Budget
from notifications.features.money import known as cached
from providers.contract import Channel
from tests.figures.conftest import make_rollup
from tests.journey import Reach, routed_to_scripted
from tests.vendors import Scripted

__all__ = ["make_rollup"]


@pytest.fixture
def provider(
    outbox: object,  # noqa: ARG001 - its settings come first
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Scripted]:
    """Route text messages to the scripted provider; the person has a number only."""
    with routed_to_scripted(monkeypatch, Channel.SMS) as scripted:
        reach(sms="+4915112345678")
        Budget.objects.all().delete()
        yield scripted
        cached.forget()
