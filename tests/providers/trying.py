"""Trying an adapter: what becomes of a batch, and what a start says of wrong settings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from providers.contract import Message, Outcome, Provider
from providers.errors import ConfigurationError
from providers.transport import Transport
from providers.vendor import Vendor

PATIENCE = timedelta(seconds=30)


def outcomes(provider: Provider, *batch: Message) -> list[Outcome]:
    """The outcomes, in the order of the batch."""
    found = {each.delivery_id: each.outcome for each in provider.send(batch, deadline=PATIENCE)}
    return [found[each.delivery_id] for each in batch]


def complaint(vendor: Vendor[Any], environ: Mapping[str, str]) -> str:
    """What a start says of settings that will not do; never a secret ("hunter2") among it."""
    with closing(Transport()) as transport, pytest.raises(ConfigurationError) as refused:
        vendor.configure(environ, transport=transport)
    assert "hunter" not in str(refused.value)
    return str(refused.value)
