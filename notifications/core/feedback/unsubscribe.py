"""Unsubscribe: apply and undo the choices of the unsubscribe page.

    /unsubscribe/{token} ── unsubscribe_links.read(token) ──> Link
                            leave(link, choice) ──> undo_token;  undo(link, undo_token)

The holder of a token can unsubscribe the token's recipient, undo the same choice within UNDO_FOR,
and nothing else.
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Final

import structlog
from django.core.signing import BadSignature, TimestampSigner
from django.db import transaction

from notifications.core.delivery import unsubscribe_links
from notifications.core.delivery.unsubscribe_links import BadLink, Link, token_fields
from notifications.core.models import Contact
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import recipients, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry

MARKETING: Final = "marketing"
"""The category of all marketing messages."""
_UNDO_SALT: Final = "notifications.unsubscribe.undo"
UNDO_FOR: Final = dt.timedelta(hours=1)
"""Lifetime of an undo token."""
_BY: Final = "the recipient"

_log = structlog.get_logger(__name__)


class Choice(StrEnum):
    """The recipient's choice on the unsubscribe page."""

    TOPIC = "topic"
    """The category or type of the e-mail with the link."""
    MARKETING = "marketing"
    """All marketing."""
    CHANNEL = "channel"
    """All messages on the channel, security codes included."""


def leave(link: Link, choice: Choice) -> str:
    """Apply a choice, also to queued deliveries. Safe to run twice.

    Returns:
        The token for `undo`; empty if nothing changed.
    """
    category = _category(link, choice)
    with transaction.atomic():
        link = unsubscribe_links.hold(link)
        if category:
            changed = recipients.leave_category(link.recipient_id, category=category)
        else:
            changed = _leave_channel(link)
    _log.info("unsubscribed", **_log_fields(link, choice), changed=changed)
    return _undo_signer().sign_object([*token_fields(link), choice]) if changed else ""


def undo(link: Link, undo_token: str) -> None:
    """Undo an applied choice. Safe to run twice.

    Raises:
        BadLink: the undo token is forged, belongs to another link, or is older than UNDO_FOR.
    """
    try:
        *fields, chosen = _undo_signer().unsign_object(undo_token, max_age=UNDO_FOR)
    except BadSignature as error:
        raise BadLink from error
    if fields != token_fields(link):
        raise BadLink
    choice = Choice(chosen)
    category = _category(link, choice)
    with transaction.atomic():
        link = unsubscribe_links.hold(link)
        if category:
            changed = recipients.return_to_category(link.recipient_id, category=category)
        else:
            changed = _return_to_channel(link)
    _log.info("unsubscribe_undone", **_log_fields(link, choice), changed=changed)


def _category(link: Link, choice: Choice) -> str:
    """Return the category of a choice; empty for the whole channel."""
    match choice:
        case Choice.TOPIC:
            return link.topic
        case Choice.MARKETING:
            return MARKETING
        case Choice.CHANNEL:
            return ""


def _log_fields(link: Link, choice: Choice) -> dict[str, object]:
    """Return the fields of the log line of a choice."""
    return {
        "recipient_id": link.recipient_id,
        "channel": link.channel.label,
        "choice": choice.value,
        "topic": link.topic,
    }


def _leave_channel(link: Link) -> bool:
    """Suppress every address of the recipient on the channel; operators can undo each entry."""
    cause = Cause.UNSUBSCRIBE_ALL
    entries = [
        SuppressionEntry(channel=link.channel, address=each, cause=cause)
        for each in _addresses(link)
    ]
    return suppressions.add(entries, by=_BY) > 0


def _return_to_channel(link: Link) -> bool:
    """Remove the entries of this cause; a bounced address stays suppressed."""
    undone = 0
    for each in _addresses(link):
        rows = suppressions.of_address(link.channel, each).filter(reason=Cause.UNSUBSCRIBE_ALL)
        undone += suppressions.undo(rows, by=_BY, note="on the unsubscribe page")
    return undone > 0


def _addresses(link: Link) -> list[str]:
    found = Contact.objects.filter(
        recipient_id=link.recipient_id, channel=link.channel, invalidated_at=None
    )
    return list(found.values_list("address", flat=True))


def _undo_signer() -> TimestampSigner:
    return TimestampSigner(salt=_UNDO_SALT, sep=".")
