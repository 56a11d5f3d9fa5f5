"""Push addresses registered by a recipient's browser or app with a recipient token.

A recipient token is in the hands of a stranger, so its holder may register push addresses only, at
most MOST of them, and a browser only at the push services of NOTIFY_WEB_PUSH_SERVICES: the service
calls no URL that a stranger chose.
"""

from __future__ import annotations

from typing import Final

from notifications.core.delivery import routing
from notifications.core.rules import addresses
from notifications.core.store.postgres import contact_addresses
from providers.contract import Channel
from providers.push import expo_token
from providers.push.web_push import NAME, WebPush

KINDS: Final = ("web_push", "fcm_token", "apns_token", expo_token.KIND)
"""Kinds of push addresses that a token may register."""
MOST: Final = 20
"""Valid push contacts of a recipient up to which a token may add one."""
_LONGEST_TOKEN: Final = 1_024
"""Characters of a device token; FCM's have about 160."""


def web_push_key() -> str | None:
    """Return the VAPID public key in base64url; None: web push is not configured."""
    found = _web_push()
    return found.public_key if found else None


def normalize(kind: str, address: str) -> str:
    """Return the stored form of an address.

    Raises:
        ValueError: the kind or the address is not allowed; the text does not repeat the address.
    """
    if kind not in KINDS:
        msg = f"kind must be one of {', '.join(KINDS)} for a recipient token"
        raise ValueError(msg)
    if kind == NAME:
        adapter = _web_push()
        if adapter is None:
            msg = "web push is not configured here"
            raise ValueError(msg)
        return adapter.normalize(address)
    address = addresses.usable_form(Channel.PUSH, address)
    contact_addresses.kind_of(Channel.PUSH, address, kind)
    if len(address) > _LONGEST_TOKEN or not address.isascii() or not address.isprintable():
        msg = f"address must be a device token of at most {_LONGEST_TOKEN} ASCII characters"
        raise ValueError(msg)
    return address


def _web_push() -> WebPush | None:
    found = routing.providers_by_name().get(NAME)
    return found if isinstance(found, WebPush) else None
