"""Preference links: the signed URL of a recipient's preference page, in each e-mail.

    render ── url_of(recipient) ──> {{ preferences_url }}
    unsubscribe page ── path_with(token) ──> a link in the page
    /preferences/{token} ── read(token) ──> Recipient

The token names a recipient and the day of its issue, is signed, and needs no database row. A mail
is opened months later, so the token is valid for LIFETIME, as an unsubscribe link is. The token
opens the preference page and nothing else: the page shows neither an address nor a message. The
links are empty if no installed app serves the page. The first secret key signs, any key verifies
(NOTIFY_SECRET_KEY_FALLBACKS). Tokens are never logged.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.conf import settings

from notifications.core import conf
from notifications.core.models import Recipient
from notifications.core.rules import signed_token
from notifications.core.rules.brand import Brand
from notifications.core.rules.language import variables
from notifications.core.rules.signed_token import Key
from notifications.core.store.postgres import merged_recipients

PATH: Final = "/preferences/"
BRAND: Final = "brand"
"""Parameter with the producer whose brand a page shows. The token does not sign the parameter: it
chooses a look and opens nothing."""
LIFETIME: Final = dt.timedelta(days=365)
_PURPOSE: Final = "notifications.preferences"
_FIRST_DAY: Final = dt.date(2026, 1, 1)


class InvalidLink(Exception):
    """The token has a wrong signature or an erased recipient."""


class ExpiredLink(Exception):
    """The token is older than LIFETIME."""


def url_of(recipient_id: int, *, now: dt.datetime, brand: Brand) -> str:
    """Return the URL of a recipient's preference page; equal for a producer's mails of a day.

    Empty if no installed app serves the page.
    """
    url = url_with(token_of(recipient_id, now=now))
    return url + brand_query(brand) if url else ""


def brand_query(brand: Brand) -> str:
    """Return the query of a link in a mail; empty for the brand of the installation."""
    return "" if brand.producer_id is None else f"?{BRAND}={brand.producer_id}"


def url_with(token: str) -> str:
    """Return the URL of the preference page for a token; empty if no app serves the page."""
    path = path_with(token)
    return conf.current().public_url + path if path else ""


def path_with(token: str) -> str:
    """Return the path of the preference page for a token; empty if no app serves the page."""
    return PATH + token if variables.has_preference_page() else ""


def token_of(recipient_id: int, *, now: dt.datetime, lifetime: dt.timedelta = LIFETIME) -> str:
    """Return the signed token, in characters that a URL may contain.

    Args:
        recipient_id: the recipient.
        now: the day of the issue.
        lifetime: at most LIFETIME; the token is dated back by the rest.
    """
    return signed_token.write([recipient_id, _day(now - LIFETIME + lifetime)], key=_keys()[0])


def read(token: str, *, now: dt.datetime) -> Recipient:
    """Return the recipient of a token.

    Raises:
        InvalidLink: the token is forged or truncated, or the recipient was erased.
        ExpiredLink: the token is too old.
    """
    facts = signed_token.verify(token, keys=_keys())
    if facts is None:
        raise InvalidLink
    recipient_id, issued = facts
    if _day(now) - issued > LIFETIME.days:
        raise ExpiredLink
    recipient = Recipient.objects.filter(pk=recipient_id).first()
    if recipient is None:
        raise InvalidLink
    return merged_recipients.survivor_of(recipient)


def _day(now: dt.datetime) -> int:
    return (now.date() - _FIRST_DAY).days


def _keys() -> tuple[Key, ...]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return signed_token.keys(*secrets, purpose=_PURPOSE)
