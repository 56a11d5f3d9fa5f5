"""Fields shared by several request models."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

from providers.contract import Channel

_CHANNELS: Final = {channel.label: channel for channel in Channel}


def _channel(value: object) -> object:
    if isinstance(value, str) and value in _CHANNELS:
        return _CHANNELS[value]
    msg = f"must be one of {', '.join(_CHANNELS)}"
    raise ValueError(msg)


AskedChannel = Annotated[
    Channel,
    BeforeValidator(_channel),
    WithJsonSchema({"type": "string", "enum": list(_CHANNELS)}),
]
"""A channel as callers write it."""
