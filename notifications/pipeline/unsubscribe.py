"""Unsubscribe: the link in a mail, and what following it does.

    render ── url_for(job) ──> List-Unsubscribe of P2 and P3 mail, live mode
    /unsubscribe/{token} ── read(token) ──> Link ── leave(link, choice)

The token is signed, not stored, and does not expire: who finds a mail after two years may still
leave. It names a person, what kind of message it came with, and the channel; whoever has it can
only unsubscribe that person, again and again with the same effect. It is made with the first secret
key and read with any (NOTIFY_SECRET_KEY_FALLBACKS). It is never logged.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

import structlog
from django.conf import settings

from notifications import conf
from notifications.models import Contact, Recipient
from notifications.pipeline.job import Job
from notifications.rules import signed_token
from notifications.rules.lane import Mode
from notifications.rules.signed_token import Key
from notifications.rules.suppression import Cause
from notifications.store import opt_outs, suppressions
from notifications.store.suppressions import Entry
from providers.contract import Channel

MARKETING: Final = "marketing"
"""The category of everything that sells."""
_PURPOSE: Final = "notifications.unsubscribe"
_BY: Final = "the recipient"

_log = structlog.get_logger(__name__)


class Choice(StrEnum):
    """What the person wants to hear no more of."""

    TOPIC = "topic"
    """The kind of message that the link came with."""
    MARKETING = "marketing"
    """Everything that sells."""
    CHANNEL = "channel"
    """Everything on the channel, security codes included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a token says."""

    recipient_id: int
    channel: Channel
    topic: str
    """A category, or the type of a message that has none."""


class BadLink(Exception):
    """The token was not made by us, or its person is gone: show how to find help instead."""


def url_for(job: Job) -> str:
    """Where the person of this job unsubscribes; empty where a message offers no such thing."""
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
    facts = (link.recipient_id, int(link.channel), link.topic)
    return signed_token.write(facts, key=_keys()[0])


def read(token: str) -> tuple[Link, Recipient]:
    """Give the link and its person.

    Raises:
        BadLink: forged, cut short, or the person is erased.
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


def leave(link: Link, choice: Choice) -> None:
    """Do what the person wants. At once, also for what is queued; twice is once."""
    match choice:
        case Choice.TOPIC:
            changed = opt_outs.leave(link.recipient_id, category=link.topic)
        case Choice.MARKETING:
            changed = opt_outs.leave(link.recipient_id, category=MARKETING)
        case Choice.CHANNEL:
            changed = _leave_channel(link)
        case never:
            assert_never(never)
    _log.info(
        "unsubscribed",
        recipient_id=link.recipient_id,
        channel=link.channel.label,
        choice=choice.value,
        topic=link.topic,
        changed=changed,
    )


def _leave_channel(link: Link) -> bool:
    """Suppress every address of theirs: an operator who is asked to can take it back."""
    addresses = Contact.objects.filter(
        recipient_id=link.recipient_id, channel=link.channel, invalidated_at=None
    ).values_list("address", flat=True)
    cause = Cause.UNSUBSCRIBE_ALL
    entries = [Entry(channel=link.channel, address=each, cause=cause) for each in addresses]
    return suppressions.add(entries, by=_BY) > 0


def _keys() -> tuple[Key, ...]:
    return _derived(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@functools.lru_cache(maxsize=4)
def _derived(*secrets: str) -> tuple[Key, ...]:
    return tuple(signed_token.key(secret, purpose=_PURPOSE) for secret in secrets)
