"""Parts of a message that a provider can refuse without refusing all messages."""

from __future__ import annotations

from enum import StrEnum


class RefusedPart(StrEnum):
    """The part of a message that a refusal is about.

    A `Rejected` with a part is no verdict on the provider: no circuit breaker counts the refusal,
    and the next provider is asked.
    """

    NONE = ""
    """The refusal names no part."""
    SENDER = "sender"
    """The account may not send from the sender of the message. `Misconfigured` if the sender is the
    provider's setting; a message with a sender of its own is `Rejected` (`delivery.answers`)."""
    TEMPLATE = "template"
    """The vendor's template of the message is missing, paused, or takes other parameters."""
    SANDBOX = "sandbox"
    """The account is in the vendor's sandbox or a trial, and the address is not on its list."""
