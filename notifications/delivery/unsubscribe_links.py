"""Unsubscribe links: the signed URL in each P2 and P3 e-mail of live mode.

    render ── url_for(delivery) ──> List-Unsubscribe
    /unsubscribe/{token} ── read(token) ──> Link, whose choice `feedback.unsubscribe` applies

The token names a recipient, a topic and the channel. The token is signed and does not expire, so
the link of an old e-mail still works. The first secret key signs, any key verifies
(NOTIFY_SECRET_KEY_FALLBACKS). Tokens are never logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.conf import settings

from notifications import conf
from notifications.delivery.claimed import ClaimedDelivery
from notifications.models import Recipient
from notifications.rules import signed_token
from notifications.rules.lane import Mode
from notifications.rules.signed_token import Key
from notifications.store.cached import notification_types
from providers.contract import Channel

_PURPOSE: Final = "notifications.unsubscribe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The content of a token."""

    recipient_id: int
    channel: Channel
    topic: str
    """The category, or the type of a message without a category."""


class BadLink(Exception):
    """The token's signature is wrong, or its recipient was erased."""


def url_for(claimed: ClaimedDelivery) -> str:
    """Return the unsubscribe URL of a delivery; empty if the message has none.

    A message that the recipient cannot decline has none: the link would promise what is not done.
    """
    delivery, notification = claimed.delivery, claimed.notification
    offers = delivery.channel is Channel.EMAIL and delivery.mode is Mode.LIVE
    is_mandatory = notification_types.is_mandatory(notification.type)
    if not offers or delivery.priority.is_urgent or is_mandatory:
        return ""
    link = Link(
        recipient_id=delivery.recipient_id,
        channel=delivery.channel,
        topic=notification.category or notification.type,
    )
    return f"{conf.current().public_url}/unsubscribe/{token_of(link)}"


def token_of(link: Link) -> str:
    """Return the signed token of a link, in characters that a URL may contain."""
    return signed_token.write(token_fields(link), key=_keys()[0])


def read(token: str) -> tuple[Link, Recipient]:
    """Return the link and its recipient.

    Raises:
        BadLink: the token is forged or truncated, or the recipient was erased.
    """
    said = signed_token.verify(token, keys=_keys())
    if said is None:
        raise BadLink
    recipient_id, channel, topic = said
    link = Link(recipient_id=recipient_id, channel=Channel(channel), topic=topic)
    recipient = Recipient.objects.filter(pk=recipient_id, mode=Mode.LIVE).first()
    if recipient is None:
        raise BadLink
    return link, recipient


def token_fields(link: Link) -> list[str | int]:
    """Return the fields of a token: recipient, channel, topic."""
    return [link.recipient_id, int(link.channel), link.topic]


def _keys() -> tuple[Key, ...]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return signed_token.keys(*secrets, purpose=_PURPOSE)
