"""Where an SMS vendor posts its receipts: an address of ours, told with each message.

Telling it with each message, instead of once in the vendor's console, lets the address carry the
delivery id: a callback then names its delivery even when the answer to our request was lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from providers import configuration
from providers.errors import ConfigurationError

PUBLIC_URL: Final = "NOTIFY_PUBLIC_URL"
"""The service's own setting: where others reach it."""


def receipts_url(environ: Mapping[str, str], *, vendor: str) -> str:
    """Give the address of a vendor's receipts, without a query.

    Raises:
        ConfigurationError: NOTIFY_PUBLIC_URL is missing or malformed.
    """
    text = environ.get(PUBLIC_URL, "").strip()
    if not text:
        raise ConfigurationError(PUBLIC_URL, f"is required: {vendor} posts its receipts there")
    try:
        return f"{configuration.http_url(text)}/v1/receipts/{vendor}"
    except ValueError as error:
        raise ConfigurationError(PUBLIC_URL, str(error)) from None
