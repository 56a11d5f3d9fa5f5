"""Headers of an e-mail besides subject and recipient."""

from __future__ import annotations

from typing import Final

from providers.records import record


@record
class MailHeaders:
    """Headers that a message of a provider call may set; an empty value: no such header."""

    sender_name: str = ""
    """Display name of the From header; empty: that of the provider's setting."""
    sender_address: str = ""
    """Address of the From header, in the canonical form of `mailboxes`; empty: that of the
    provider's setting."""
    reply_to: str = ""
    """Address of the Reply-To header, in the canonical form of `mailboxes`."""
    list_id: str = ""
    """Identifier of the List-Id header without brackets (RFC 2919): `news.notify.example`."""
    thread_id: str = ""
    """Message id without brackets that begins the thread: the In-Reply-To and References headers
    (RFC 5322, 3.6.4). Mail programs show mails with the same id as one conversation."""


NO_HEADERS: Final = MailHeaders()
