"""Errors of the package. A provider's answer is never an error: see `contract.Outcome`."""

from __future__ import annotations


class ProviderError(Exception):
    """Base of the errors on the local side of a call."""


class ConfigurationError(ProviderError):
    """A provider's setting is missing or malformed; the message names setting and remedy."""

    def __init__(self, setting: str, problem: str) -> None:
        """Name the environment variable and the error."""
        super().__init__(f"{setting}: {problem}")
        self.setting = setting


class InvalidSignature(ProviderError):
    """The provider did not sign the callback: answer 401 and store nothing."""


class MalformedReceipt(ProviderError):
    """The callback is signed but unreadable: answer 400, so that the provider logs the error."""


class CannotVerify(ProviderError):
    """The signature cannot be checked now: answer 503, so that the callback comes again."""


class NoReceipts(ProviderError):
    """The provider sends no callbacks: answer 404."""


class ForbiddenAddress(ProviderError):
    """An outgoing URL has a private or malformed address: refuse the URL at the entry."""
