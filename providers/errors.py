"""Errors of this package. What a provider answers is never one: see `contract.Outcome`."""

from __future__ import annotations


class ProviderError(Exception):
    """A mistake on our side of the wire."""


class ConfigurationError(ProviderError):
    """A provider's setting is missing or malformed; the message names it and how to mend it."""

    def __init__(self, setting: str, problem: str) -> None:
        """Name the environment variable and say what is wrong with it."""
        super().__init__(f"{setting}: {problem}")
        self.setting = setting


class InvalidSignature(ProviderError):
    """The callback was not signed by the provider: answer 401 and keep nothing of it."""


class MalformedReceipt(ProviderError):
    """The callback is signed but cannot be read: answer 400 so that the provider's log shows it."""


class CannotVerify(ProviderError):
    """What the signature is checked with cannot be had now: answer 503, so that it comes again."""


class NoReceipts(ProviderError):
    """This provider sends no callbacks: answer 404."""


class ForbiddenAddress(ProviderError):
    """An outgoing URL points at a private or malformed address: refuse it where it is entered."""
