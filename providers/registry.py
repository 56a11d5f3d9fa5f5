"""Vendors by name, and which of them the environment configures.

A vendor is a module with NAME, SETTINGS and `configure`; adding one is one line here
(ADDING_A_PROVIDER.md). All HTTP adapters of a process share one transport: its bounds only mean
something if it is the only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from providers import sandbox
from providers.chat import apprise_chat
from providers.contract import Provider
from providers.email import ses, smtp
from providers.push import apns, fcm, web_push
from providers.sms import aws_eum, aws_sns, twilio, vonage
from providers.transport import Transport
from providers.webhook import standard as webhook


class Vendor(Protocol):
    """What a vendor's module has."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module's constant
        """As in routes, rows and `NOTIFY_<NAME>_*`."""

    @property
    def SETTINGS(self) -> frozenset[str]:  # noqa: N802 - a module's constant
        """Every environment variable that it reads."""

    def configure(self, environ: Mapping[str, str], *, transport: Transport) -> Provider:
        """Build the adapter, or raise ConfigurationError."""


VENDORS: Final[tuple[Vendor, ...]] = (
    sandbox,
    apns,
    apprise_chat,
    aws_eum,
    aws_sns,
    fcm,
    ses,
    smtp,
    twilio,
    vonage,
    web_push,
    webhook,
)

_GUESTS: Final[list[Vendor]] = []
"""Vendors that may not live here, because their package needs Django."""

_SHARED: Final = Transport()


def add(vendor: Vendor) -> None:
    """Take in a vendor from outside. Call it before any settings are read."""
    _GUESTS.append(vendor)


def everyone() -> tuple[Vendor, ...]:
    """Every vendor, from here and from outside."""
    return (*VENDORS, *_GUESTS)


def settings_names() -> frozenset[str]:
    """Name every environment variable that any vendor reads; start-up refuses all others."""
    return frozenset[str]().union(*(vendor.SETTINGS for vendor in everyone()))


def configured(
    environ: Mapping[str, str], *, transport: Transport = _SHARED
) -> dict[str, Provider]:
    """Build every vendor of which at least one setting is present, by name.

    Raises:
        ConfigurationError: a vendor is configured in part, or wrongly.
    """
    return {
        vendor.NAME: vendor.configure(environ, transport=transport)
        for vendor in everyone()
        if any(environ.get(name, "").strip() for name in vendor.SETTINGS)
    }
