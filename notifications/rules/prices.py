"""Prices of accepted provider calls, for the costs of the roll-ups."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from providers.contract import Channel

MICRODOLLARS: Final[Mapping[Channel, int]] = MappingProxyType({
    Channel.SMS: 10_000,
    Channel.EMAIL: 100,
})
"""Millionths of a US dollar for each SMS segment and each e-mail; other channels cost nothing."""
