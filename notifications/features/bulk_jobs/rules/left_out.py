"""Recipients of an audience without a message, and the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from notifications.core.rules.channels import Target
from notifications.core.rules.described import Described
from notifications.core.rules.reasons import Reason
from providers.contract import Channel

ONCE: Final = frozenset(Channel) - {Channel.IN_APP, Channel.WEBHOOK}
"""Channels on which a job with `unique_by: address` reaches an address once. Each recipient has an
inbox; a webhook gets a message for each recipient, because a program receives the messages."""


class LeftOut(Described):
    """Reason for which a bulk job leaves out a recipient; the values are counted for each range."""

    OPTED_OUT = "opted_out", "The recipient has switched the topic or the channel off."
    SUPPRESSION_LIST = "suppression_list", "Each address is on the suppression list."
    NO_CONTACT = "no_contact", "No valid contact on a channel of the job."
    NO_TEXT = "no_text", "The template has no text for a channel of the recipient."
    ERASED = "erased", "The recipient was deleted during the expansion."
    INVALID_VARIABLES = (
        "invalid_variables",
        "A variable of the template is missing or has a wrong type.",
    )
    SMS_TOO_LONG = "sms_too_long", "The SMS takes more segments than the limit."
    SAME_ADDRESS = "same_address", "The job has a message to the same address already."
    HOLDOUT = "holdout", "The recipient is in the group without a message, for comparison."
    FAILED = "failed", "The row of the recipient raised an error; the log has the error."


def sentence(reason: str) -> str:
    """Return the explanation of a stored reason; an unknown reason unchanged."""
    return next((each.sentence for each in LeftOut if each.value == reason), reason)


_ORDER: Final = (
    (Reason.OPTED_OUT, LeftOut.OPTED_OUT),
    (Reason.SUPPRESSION_LIST, LeftOut.SUPPRESSION_LIST),
    (Reason.NO_CONTACT, LeftOut.NO_CONTACT),
)
"""A recipient with several reasons counts for the first: a wish before a missing address."""


def reason_of(stops: Iterable[Reason | None]) -> LeftOut:
    """Return the reason for a recipient with a reason on every channel."""
    found = set(stops)
    return next((left for reason, left in _ORDER if reason in found), LeftOut.NO_CONTACT)


def usable(targets: Iterable[Target]) -> list[tuple[int, int]]:
    """Return channel and contact id of the targets with a contact."""
    return [
        (target.channel, target.contact_id)
        for target in targets
        if target.stop is None and target.contact_id is not None
    ]
