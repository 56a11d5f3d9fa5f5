"""Headers of an e-mail: sender and Reply-To of the brand, List-Id and thread.

    List-Id                   P2 and P3: one list for each topic, as for the unsubscribe link
    In-Reply-To, References   with a collapse key: one thread for each recipient and key

The thread begins with an id that no mail has. Mail programs group mails by the ids in References
(RFC 5256, 2.2 "THREAD=REFERENCES" makes a dummy for a missing root), so the order of sending and a
deleted first mail do not matter. The id is a keyed hash, so it tells neither key nor recipient.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from notifications.core import conf
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.brand import Brand
from providers.contract import Channel
from providers.mail_headers import MailHeaders

_NONE: Final = MailHeaders()
_NOT_OF_LABEL: Final = re.compile(r"[^a-z0-9_-]+")
_HOST: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*")
_NO_DOMAIN: Final = "localhost"
"""Domain of an installation whose URL has no name of a host, as RFC 2919, 3 permits for lists."""
_LONGEST_LABEL: Final = 100
"""Characters of a topic in a List-Id, which has at most 255 (RFC 2919, 6)."""
_LONGEST_KEY: Final = 64
"""Bytes of a key that BLAKE2b takes."""
_THREAD_BYTES: Final = 16


def of(claimed: ClaimedDelivery, *, brand: Brand) -> MailHeaders:
    """Return the headers of a delivery; none on another channel."""
    if claimed.delivery.channel is not Channel.EMAIL:
        return _NONE
    notification = claimed.notification
    is_urgent = claimed.delivery.priority.is_urgent
    topic = "" if is_urgent else notification.category or notification.type
    headers = _without_thread(brand.sender_name, brand.sender_address, brand.reply_to, topic)
    if not notification.collapse_key:
        return headers
    return replace(headers, thread_id=_thread_id(claimed))


@functools.lru_cache(maxsize=1024)
def _without_thread(name: str, address: str, reply_to: str, topic: str) -> MailHeaders:
    return MailHeaders(
        sender_name=name,
        sender_address=address,
        reply_to=reply_to,
        list_id=list_id(topic) if topic else "",
    )


def list_id(topic: str) -> str:
    """Return the List-Id of a topic: `order_shipped.notify.example`."""
    label = _NOT_OF_LABEL.sub("-", topic.lower()).strip("-")[:_LONGEST_LABEL]
    return f"{label or 'messages'}.{_domain()}"


def _thread_id(claimed: ClaimedDelivery) -> str:
    notification = claimed.notification
    key = conf.current().hash_key[:_LONGEST_KEY]
    thread = hashlib.blake2b(key=key, digest_size=_THREAD_BYTES)
    where = f"{notification.producer_id} {claimed.delivery.recipient_id} "
    thread.update((where + notification.collapse_key).encode())
    return f"{thread.hexdigest()}.thread@{_domain()}"


@functools.cache
def _domain() -> str:
    host = urlsplit(conf.current().public_url).hostname or ""
    return host if _HOST.fullmatch(host) else _NO_DOMAIN
