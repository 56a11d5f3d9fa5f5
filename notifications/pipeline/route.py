"""Route: which provider takes a delivery.

One provider a channel, from the environment; a test key's deliveries go to the sandbox, whatever
the channel. Adapters are built once a process, on first use, because their connections must not
cross a fork.
"""

from __future__ import annotations

import functools
import os

from notifications import conf
from notifications.rules.lane import Mode
from providers import registry
from providers.contract import Channel, Provider


@functools.cache
def _configured() -> dict[str, Provider]:
    return registry.configured(os.environ)


def forget() -> None:
    """Build the adapters anew on their next use: their settings have changed."""
    _configured.cache_clear()


def provider_named(name: str) -> Provider | None:
    """A configured adapter by its name."""
    return _configured().get(name)


def provider_for(channel: Channel, mode: Mode) -> Provider | None:
    """The adapter for a channel; None when none is configured for it."""
    settings = conf.current()
    name = settings.routes.get(channel, "") if mode is Mode.LIVE else settings.test_provider
    provider = provider_named(name)
    return provider if provider and channel in provider.capabilities.channels else None
