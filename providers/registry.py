"""Vendors by name, and the vendors configured by the environment.

A new vendor takes one line in the module, a description of an SMS gateway, or an entry point of an
installed package (ADDING_A_PROVIDER.md). All HTTP adapters of a process share one transport,
because the transport's bounds apply to a single transport.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from providers import dry_run, plugins, sandbox
from providers.chat import apprise_chat, whatsapp
from providers.contract import Provider
from providers.email import ses, smtp
from providers.email.anymail import adapter as anymail
from providers.errors import ConfigurationError
from providers.push import apns, expo, fcm, web_push
from providers.sms import aws_eum, aws_sns, twilio, vonage
from providers.sms.gateways import vendors as gateways
from providers.transport import Transport, Usage
from providers.vendor import Vendor
from providers.webhook import standard as webhook

_BUILTIN: Final[tuple[Vendor[Any], ...]] = (
    sandbox.VENDOR,
    anymail.VENDOR,
    apns.VENDOR,
    apprise_chat.VENDOR,
    aws_eum.VENDOR,
    aws_sns.VENDOR,
    expo.VENDOR,
    fcm.VENDOR,
    ses.VENDOR,
    smtp.VENDOR,
    twilio.VENDOR,
    vonage.VENDOR,
    web_push.VENDOR,
    webhook.VENDOR,
    whatsapp.VENDOR,
)
_INBOX: Final = "inbox"
"""The provider of the channel `in_app`, which is a feature."""
_RESERVED: Final = frozenset({dry_run.NAME, _INBOX})
_GATEWAYS: Final = gateways.find(os.environ, builtin=_BUILTIN, reserved=_RESERVED)
_INSTALLED: Final = plugins.find([*_BUILTIN, *_GATEWAYS.vendors], reserved=_RESERVED)

VENDORS: Final = (*_BUILTIN, *_GATEWAYS.vendors, *_INSTALLED.vendors)

_SHARED: Final = Transport()

_AWS_STATUS: Final = "https://health.aws.amazon.com/health/status"
STATUS_PAGES: Final[Mapping[str, str]] = MappingProxyType({
    **_GATEWAYS.status_pages,
    "apns": "https://developer.apple.com/system-status/",
    "aws_eum": _AWS_STATUS,
    "aws_sns": _AWS_STATUS,
    "expo": "https://status.expo.dev/",
    "fcm": "https://status.firebase.google.com/",
    "ses": _AWS_STATUS,
    "twilio": "https://status.twilio.com/",
    "vonage": "https://vonageapi.statuspage.io/",
    "whatsapp": "https://metastatus.com/whatsapp-business-api",
})
"""The vendors' public status pages by the name of the provider; alerts show the address. Providers
without an entry have no server of a vendor, or many servers."""


def settings_names() -> frozenset[str]:
    """Return the names of all environment variables of vendors; start-up refuses other names."""
    return frozenset[str]().union(*(vendor.settings for vendor in VENDORS))


def settings_of_packages() -> Mapping[str, str]:
    """Return setting -> vendor of the vendors that are not the product's."""
    foreign = (*_GATEWAYS.own, *_INSTALLED.vendors)
    return {setting: vendor.name for vendor in foreign for setting in vendor.settings}


def fault() -> ConfigurationError | None:
    """Return the fault of a description or package, whose settings are then unknown; None: none."""
    return _GATEWAYS.fault or _INSTALLED.fault


def transport_usage() -> Usage:
    """Return the numbers of HTTP requests in flight and waiting, over all vendors."""
    return _SHARED.usage()


def build_all(environ: Mapping[str, str], *, transport: Transport = _SHARED) -> dict[str, Provider]:
    """Build every vendor of which at least one setting is present, by name.

    Raises:
        ConfigurationError: a vendor is configured in part, or wrongly; or a vendor of a package
            or a description of a gateway cannot be used.
    """
    found = fault()
    if found is not None:
        raise found
    return {
        vendor.name: vendor.configure(environ, transport=transport)
        for vendor in VENDORS
        if any(environ.get(name, "").strip() for name in vendor.settings)
    }
