"""Mail tracking: opens and clicks of e-mails, by notification type.

    render ── apply(claimed, text) ──> HTML with a pixel (`/o/...`) and tracked links (`/c/...`)
    /o/{token} ── read_open(token) ──> TrackedDelivery
    /c/{token} ── read_click(token) ──> TrackedDelivery and the target of the link

Without `tracks_opens` or `tracks_clicks` of the type a mail has no pixel and no changed link. The
token names recipient, mode and delivery, and the token of a link the target too, so a mail writes
no row, and a link leads only to targets that this installation has signed. Tokens do not expire:
the link of an old e-mail still works, as long as its secret key is in NOTIFY_SECRET_KEY_FALLBACKS.
Tokens are never logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings

from notifications.core import conf
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import signed_token
from notifications.core.rules.client_receipts import TokenHolder
from notifications.core.rules.lane import Mode
from notifications.core.rules.language.templating import Rendered
from notifications.core.rules.language.variables import MailLinks
from notifications.core.rules.signed_token import Key
from notifications.core.rules.texts import mail_tracking
from notifications.core.store.cached.notification_types import TypeRule

OPEN_PATH: Final = "/o/"
CLICK_PATH: Final = "/c/"
_OPEN: Final = "notifications.opens"
_CLICK: Final = "notifications.clicks"


@dataclass(frozen=True, slots=True)
class TrackedDelivery:
    """The delivery and the recipient of a token."""

    holder: TokenHolder
    delivery_id: UUID


def apply(
    claimed: ClaimedDelivery, rendered: Rendered, rule: TypeRule, *, keep: MailLinks
) -> Rendered:
    """Return the text of an e-mail with HTML with the tracking of the notification type."""
    if not (rule.tracks_opens or rule.tracks_clicks):
        return rendered
    html, delivery = rendered.html, claimed.delivery
    url = conf.current().public_url
    facts: list[str | int] = [int(delivery.mode), delivery.recipient_id, delivery.id.hex]
    if rule.tracks_clicks:
        key = _keys(_CLICK)[0]
        html = mail_tracking.replace_links(
            html,
            lambda target: url + CLICK_PATH + signed_token.write([*facts, target], key=key),
            keep=keep,
        )
    if rule.tracks_opens:
        token = signed_token.write(facts, key=_keys(_OPEN)[0])
        html = mail_tracking.add_pixel(html, url + OPEN_PATH + token)
    return rendered._replace(html=html)


def read_open(token: str) -> TrackedDelivery | None:
    """Return the delivery of a pixel; None for a forged token."""
    facts = signed_token.verify(token, keys=_keys(_OPEN))
    return _delivery_of(*facts) if facts is not None else None


def read_click(token: str) -> tuple[TrackedDelivery, str] | None:
    """Return the delivery and the target of a tracked link; None for a forged token."""
    facts = signed_token.verify(token, keys=_keys(_CLICK))
    return (_delivery_of(*facts[:3]), facts[3]) if facts is not None else None


def _delivery_of(mode: int, recipient_id: int, delivery: str) -> TrackedDelivery:
    return TrackedDelivery(TokenHolder(recipient_id, Mode(mode)), UUID(hex=delivery))


def _keys(purpose: str) -> tuple[Key, ...]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return signed_token.keys(*secrets, purpose=purpose)
