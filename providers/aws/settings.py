"""Settings of all AWS vendors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from providers import configuration, verdicts
from providers.configuration import InvalidValue, parse_with

_REGION: Final = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[1-9]")
_TOPIC: Final = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}")
_PRICE: Final = re.compile(r"[0-9]{0,2}\.[0-9]{1,5}")
_NAME: Final = re.compile(r"[A-Za-z0-9_:/+-]{1,256}")


def region(text: str) -> str:
    """Read a region: `eu-west-1`.

    Raises:
        ValueError: the text is malformed.
    """
    return _matching(_REGION, text, "write a region, such as eu-west-1")


def topics(text: str) -> frozenset[str]:
    """Read the ARNs of SNS topics, separated by commas.

    Raises:
        ValueError: an entry of the list is no such ARN.
    """
    problem = "write topic ARNs, such as arn:aws:sns:eu-west-1:123456789012:mail-events"
    return frozenset(_matching(_TOPIC, part.strip(), problem) for part in text.split(","))


def price(text: str) -> str:
    """Read the highest price of one message, in US dollars.

    Raises:
        ValueError: the text is no price.
    """
    return _matching(_PRICE, text, "write US dollars with a point, such as 0.25")


def name(text: str) -> str:
    """Read the name, id or ARN of a resource of the account.

    Raises:
        ValueError: the text cannot be such a name.
    """
    return _matching(_NAME, text, "write a name, id or ARN: letters, digits and _ : / + -")


def _matching(pattern: re.Pattern[str], text: str, problem: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(problem)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The first fields of the vendors' Config."""

    region: str = field(metadata=parse_with(region))
    """Region of the account: `eu-central-1`."""
    endpoint: str = field(default="", metadata=parse_with(configuration.http_url))
    """URL of a stand-in, a proxy or a VPC endpoint; empty: the region's public endpoint."""
    access_key_id: str = field(default="", metadata=parse_with(str))
    """Set the key id and the next setting, or neither. Without keys, botocore's chain looks in the
    environment, a profile, the container's or the machine's role."""
    secret_access_key: str = field(default="", repr=False, metadata=parse_with(str))
    """The second part of the key."""
    session_token: str = field(default="", repr=False, metadata=parse_with(str))
    """The third part of a temporary key."""
    codes: verdicts.Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))
    """Lines of the vendor's table that the operator changed."""

    def __post_init__(self) -> None:
        """Check for a whole key or no key.

        Raises:
            InvalidValue: half of the pair is missing.
        """
        pair = ("access_key_id", "secret_access_key")
        missing = [part for part in pair if not getattr(self, part)]
        if len(missing) == 1 or (missing and self.session_token):
            raise InvalidValue(missing[0], "is required once another part of the key is set")

    def endpoint_of(self, host: str) -> str:
        """Return the base URL of a service, `email` or `sns`, without a final slash."""
        suffix = "amazonaws.com.cn" if self.region.startswith("cn-") else "amazonaws.com"
        return self.endpoint or f"https://{host}.{self.region}.{suffix}"
