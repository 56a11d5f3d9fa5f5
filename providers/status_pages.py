"""The vendors' public status pages, by the name of the provider; alerts show the address."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_AWS: Final = "https://health.aws.amazon.com/health/status"
PAGES: Final[Mapping[str, str]] = MappingProxyType({
    "apns": "https://developer.apple.com/system-status/",
    "aws_eum": _AWS,
    "aws_sns": _AWS,
    "fcm": "https://status.firebase.google.com/",
    "ses": _AWS,
    "twilio": "https://status.twilio.com/",
    "vonage": "https://vonageapi.statuspage.io/",
})
"""Providers without an entry have no server of a vendor, or many servers."""
