"""Accounts by the name of the provider.

A provider without a line has no control plane: `manage.py connect` then runs the adapter's `check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from providers import configuration
from providers.connect.account import ConnectableAccount
from providers.connect.aws_eum import AwsEumAccount
from providers.connect.aws_sns import AwsSnsAccount
from providers.connect.ses import SesAccount
from providers.connect.twilio import TwilioAccount
from providers.connect.vonage import VonageAccount
from providers.email import ses
from providers.sms import aws_eum, aws_sns, twilio, vonage
from providers.vendor import Vendor


class BuildAccount(Protocol):
    """Makes an account; usually the account's class."""

    def __call__(self, config: Any, /, *, receipts_url: str) -> ConnectableAccount:  # noqa: ANN401 - each vendor has a Config of its own
        """Contact no server."""


_ACCOUNTS: Final[tuple[tuple[Vendor[Any], BuildAccount], ...]] = (
    (aws_eum.VENDOR, AwsEumAccount),
    (aws_sns.VENDOR, AwsSnsAccount),
    (ses.VENDOR, SesAccount),
    (twilio.VENDOR, TwilioAccount),
    (vonage.VENDOR, VonageAccount),
)


def account_of(
    name: str, environ: Mapping[str, str], *, receipts_url: str
) -> ConnectableAccount | None:
    """Return the account of a provider; None for a provider without a control plane.

    Raises:
        ConfigurationError: a setting is missing or malformed.
    """
    for vendor, build in _ACCOUNTS:
        if vendor.name == name:
            config = configuration.load(vendor.config, vendor=name, environ=environ)
            return build(config, receipts_url=receipts_url)
    return None
