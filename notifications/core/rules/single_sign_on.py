"""Settings of single sign-on; `features.single_sign_on` has the pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit


class SecondFactorBy(StrEnum):
    """Party that asks an operator with single sign-on for the second factor."""

    PROVIDER = "provider"
    """The identity provider; this service asks for none."""
    SERVICE = "service"
    """This service, as for operators with a password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A configured identity provider."""

    issuer: str
    """URL without a slash at the end; the discovery document is below."""
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    """Name of the provider on the button of the sign-in page."""
    scopes: str
    groups_claim: str
    """Claim with a person's groups; a dot leads into an object: `realm_access.roles`."""
    roles: Mapping[str, str]
    """Group of the identity provider -> role."""
    domains: Sequence[str]
    """Allowed domains of e-mail addresses; empty: all domains."""
    hosts: Sequence[str]
    """Hosts of endpoints beside the host of the issuer."""
    algorithm: str
    """Signature of ID tokens: RS256, PS256 or ES256."""
    needs_verified_email: bool
    second_factor: SecondFactorBy

    @property
    def all_hosts(self) -> frozenset[str]:
        """The hosts that the service calls."""
        return frozenset({urlsplit(self.issuer).hostname or "", *self.hosts})
