"""Unsubscribe links: the signed URL in each P2 and P3 e-mail of live mode.

    render ── UnsubscribeLinks.url_for(delivery) ──> List-Unsubscribe
    /unsubscribe/{token} ── read(token) ──> Link, whose choice `feedback.unsubscribe` applies

The token names a recipient, a topic, the channel and the day of its issue, and is signed. A link
works for LIFETIME. Laws ask for 30 days (CAN-SPAM) or 60 days (CASL) after the mail, and an old
mail passed on must not open the recipient's settings for ever. The first secret key signs,
any key verifies (NOTIFY_SECRET_KEY_FALLBACKS). Tokens are never logged.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.conf import settings

from notifications.core import conf
from notifications.core.delivery import preference_links
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.preference_links import ExpiredLink
from notifications.core.models import Recipient
from notifications.core.rules import signed_token
from notifications.core.rules.brand import Brand
from notifications.core.rules.lane import Mode
from notifications.core.rules.signed_token import Key
from notifications.core.store.cached.notification_types import TypeRule
from notifications.core.store.postgres import merged_recipients
from providers.contract import Channel

LIFETIME: Final = dt.timedelta(days=365)
"""As long as that of a preference link, because the unsubscribe page leads to the preferences."""
_PURPOSE: Final = "notifications.unsubscribe"
_FIRST_DAY: Final = dt.date(2026, 1, 1)
_UNDATED: Final = dt.date(2026, 12, 31)
"""The day of issue of links written before links had one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The content of a token."""

    recipient_id: int
    channel: Channel
    topic: str
    """The category, or the type of a message without a category."""


class BadLink(Exception):
    """The token has a wrong signature or an erased recipient."""


class UnsubscribeLinks:
    """The unsubscribe URLs of a wave; settings and key are read once."""

    def __init__(self, types: Mapping[str, TypeRule], *, now: dt.datetime) -> None:
        """Sign links of the day of `now`, except for mandatory types."""
        self._types = types
        self._day = _day(now.date())
        self._key = _keys()[0]
        self._path = f"{conf.current().public_url}/unsubscribe/"

    def url_for(self, claimed: ClaimedDelivery, *, brand: Brand) -> str:
        """Return the unsubscribe URL of a delivery; empty for a message without a link.

        A mandatory message has no link, because the link would have no effect.
        """
        delivery, notification = claimed.delivery, claimed.notification
        if delivery.channel is not Channel.EMAIL or delivery.mode is not Mode.LIVE:
            return ""
        rule = self._types.get(notification.type)
        if delivery.priority.is_urgent or (rule is not None and rule.is_mandatory):
            return ""
        topic = notification.category or notification.type
        fields: list[str | int] = [delivery.recipient_id, int(delivery.channel), topic, self._day]
        token = signed_token.write(fields, key=self._key)
        return self._path + token + preference_links.brand_query(brand)


def token_of(link: Link, *, now: dt.datetime) -> str:
    """Return the token of a link of today, in characters of a URL."""
    return signed_token.write([*token_fields(link), _day(now.date())], key=_keys()[0])


def read(token: str, *, now: dt.datetime) -> tuple[Link, Recipient]:
    """Return the link and the recipient.

    Raises:
        BadLink: the token is forged or truncated, or the recipient was erased.
        ExpiredLink: the token is too old.
    """
    said = signed_token.verify(token, keys=_keys())
    if said is None:
        raise BadLink
    recipient_id, channel, topic, *rest = said
    [issued] = rest or [_day(_UNDATED)]
    if _day(now.date()) - issued > LIFETIME.days:
        raise ExpiredLink
    link = Link(recipient_id=recipient_id, channel=Channel(channel), topic=topic)
    recipient = Recipient.objects.filter(pk=recipient_id, mode=Mode.LIVE).first()
    if recipient is None:
        raise BadLink
    stays = merged_recipients.survivor_of(recipient)
    return replace(link, recipient_id=stays.pk), stays


def hold(link: Link) -> Link:
    """Return the link of the recipient that stays, until the open transaction ends."""
    recipient = Recipient.objects.filter(pk=link.recipient_id).first()
    if recipient is None:
        return link
    return replace(link, recipient_id=merged_recipients.staying(recipient).pk)


def token_fields(link: Link) -> list[str | int]:
    """Return the fields without the day: recipient, channel, topic."""
    return [link.recipient_id, int(link.channel), link.topic]


def _day(date: dt.date) -> int:
    return (date - _FIRST_DAY).days


def _keys() -> tuple[Key, ...]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return signed_token.keys(*secrets, purpose=_PURPOSE)
