"""Unsubscribe: the link in an e-mail, and its effects.

    render ── url_for(job) ──> List-Unsubscribe of P2 and P3 mail, live mode
    /unsubscribe/{token} ── read(token) ──> Link ── leave(link, choice) ──> undo_token
                                            Link ── undo(link, undo_token)

The token is signed and does not expire, so a mail of two years ago still works. The token names a
recipient, a topic and the channel; its holder can only unsubscribe that recipient, and take the
same step back within UNDO_FOR. The first secret key signs, any key reads
(NOTIFY_SECRET_KEY_FALLBACKS). Tokens are never logged.
"""

from __future__ import annotations

import datetime as dt
import functools
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import structlog
from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner

from notifications import conf
from notifications.models import Contact, Recipient
from notifications.pipeline.job import Job
from notifications.rules import signed_token
from notifications.rules.lane import Mode
from notifications.rules.signed_token import Key
from notifications.rules.suppression import Cause
from notifications.store import address_book, suppressions
from notifications.store.suppressions import Entry
from providers.contract import Channel

MARKETING: Final = "marketing"
"""The category of all marketing messages."""
_PURPOSE: Final = "notifications.unsubscribe"
_UNDO_SALT: Final = "notifications.unsubscribe.undo"
UNDO_FOR: Final = dt.timedelta(hours=1)
"""For a recipient who pressed the wrong button."""
_BY: Final = "the recipient"

_log = structlog.get_logger(__name__)


class Choice(StrEnum):
    """What the recipient opts out of."""

    TOPIC = "topic"
    """The category or type of the message with the link."""
    MARKETING = "marketing"
    """All marketing."""
    CHANNEL = "channel"
    """Everything on the channel, security codes included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The content of a token."""

    recipient_id: int
    channel: Channel
    topic: str
    """A category, or the type of a message without one."""


class BadLink(Exception):
    """The token was not made by us, or its recipient is erased."""


def url_for(job: Job) -> str:
    """Return the unsubscribe URL of a job; empty if the message has none."""
    delivery, asked = job.delivery, job.asked
    offers = delivery.channel is Channel.EMAIL and delivery.mode is Mode.LIVE
    if not offers or delivery.priority.is_urgent:
        return ""
    link = Link(
        recipient_id=delivery.recipient_id,
        channel=delivery.channel,
        topic=asked.category or asked.type,
    )
    return f"{conf.current().public_url}/unsubscribe/{token_of(link)}"


def token_of(link: Link) -> str:
    """Sign a link, in characters that a URL may hold."""
    return signed_token.write(_facts(link), key=_keys()[0])


def read(token: str) -> tuple[Link, Recipient]:
    """Return the link and its recipient.

    Raises:
        BadLink: forged, cut short, or the recipient is erased.
    """
    facts = signed_token.read(token, keys=_keys())
    if facts is None:
        raise BadLink
    recipient_id, channel, topic = facts
    link = Link(recipient_id=recipient_id, channel=Channel(channel), topic=topic)
    recipient = Recipient.objects.filter(pk=recipient_id, mode=Mode.LIVE).first()
    if recipient is None:
        raise BadLink
    return link, recipient


def leave(link: Link, choice: Choice) -> str:
    """Apply a choice, also to queued deliveries; safe to run twice.

    Returns:
        The token for `undo`; empty if nothing was changed.
    """
    category = _category(link, choice)
    if category:
        changed = address_book.leave_category(link.recipient_id, category=category)
    else:
        changed = _leave_channel(link)
    _tell("unsubscribed", link, choice, changed=changed)
    return _undo_signer().sign_object([*_facts(link), choice]) if changed else ""


def undo(link: Link, undo_token: str) -> None:
    """Take back what `leave` has done; safe to run twice.

    Raises:
        BadLink: forged, of another link, or older than UNDO_FOR.
    """
    try:
        *said, chosen = _undo_signer().unsign_object(undo_token, max_age=UNDO_FOR)
    except BadSignature as error:
        raise BadLink from error
    if said != _facts(link):
        raise BadLink
    choice = Choice(chosen)
    category = _category(link, choice)
    if category:
        changed = address_book.return_to_category(link.recipient_id, category=category)
    else:
        changed = _return_to_channel(link)
    _tell("unsubscribe_undone", link, choice, changed=changed)


def _category(link: Link, choice: Choice) -> str:
    """Return the category of a choice; empty: the whole channel."""
    match choice:
        case Choice.TOPIC:
            return link.topic
        case Choice.MARKETING:
            return MARKETING
        case Choice.CHANNEL:
            return ""


def _tell(event: str, link: Link, choice: Choice, *, changed: bool) -> None:
    _log.info(
        event,
        recipient_id=link.recipient_id,
        channel=link.channel.label,
        choice=choice.value,
        topic=link.topic,
        changed=changed,
    )


def _leave_channel(link: Link) -> bool:
    """Suppress every address of the recipient on the channel; an operator can undo each."""
    cause = Cause.UNSUBSCRIBE_ALL
    entries = [Entry(channel=link.channel, address=each, cause=cause) for each in _addresses(link)]
    return suppressions.add(entries, by=_BY) > 0


def _return_to_channel(link: Link) -> bool:
    """Undo this cause alone: a bounced address stays suppressed."""
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


def _facts(link: Link) -> list[str | int]:
    return [link.recipient_id, int(link.channel), link.topic]


def _undo_signer() -> TimestampSigner:
    return TimestampSigner(salt=_UNDO_SALT, sep=".")


def _keys() -> tuple[Key, ...]:
    return _derived(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@functools.lru_cache(maxsize=4)
def _derived(*secrets: str) -> tuple[Key, ...]:
    return tuple(signed_token.key(secret, purpose=_PURPOSE) for secret in secrets)
