"""A Message as the bytes of an e-mail.

Header injection is impossible: the standard library's policy refuses line breaks in headers, and
addresses are checked before they get there.
"""

from __future__ import annotations

import re
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses
from typing import Final

from providers.contract import Message

_POLICY: Final = SMTP.clone(cte_type="7bit")
"""Any server takes seven bits; quoted-printable and base64 cost a few bytes."""

_ADDRESS: Final = re.compile(r"(?P<local>[!-~]{1,64})@(?P<domain>[^@\s]{1,255})")
_FORBIDDEN: Final = frozenset('<>()[],;:\\"@')


class MalformedAddress(ValueError):
    """Not an e-mail address that servers commonly take: correct it where it was entered."""


def checked_address(text: str) -> str:
    """Give a mailbox address that is safe in an envelope, its domain in ASCII.

    Raises:
        MalformedAddress: it is none. Quoted and non-ASCII local parts are refused too: few
        servers take them.
    """
    parts = _ADDRESS.fullmatch(text)
    if parts is None or _FORBIDDEN.intersection(parts["local"] + parts["domain"]):
        raise MalformedAddress("not an e-mail address of the usual form")
    try:
        domain = parts["domain"].encode("idna").decode()
    except UnicodeError as error:
        raise MalformedAddress("the part after the @ is no domain name") from error
    return f"{parts['local']}@{domain}"


def mailbox(text: str) -> Address:
    """Read `Shop <no-reply@shop.example>` or a bare address.

    Raises:
        ValueError: it is neither.
    """
    addresses = getaddresses([text])
    if len(addresses) != 1 or not text.isprintable():
        raise ValueError("write one address, or Name <address>")
    ((name, address),) = addresses
    return Address(display_name=name, addr_spec=checked_address(address))


def message_id(message: Message, *, sender: str) -> str:
    """Give the Message-ID without brackets: the same on every retry, so receivers can tell."""
    return f"{message.delivery_id}@{sender.rpartition('@')[2]}"


def encode(message: Message, *, sender: Address, to: str, at: datetime) -> bytes:
    """Write the e-mail: text, HTML or both, with CRLF line ends."""
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = sender
    mail["To"] = Address(addr_spec=to)
    mail["Subject"] = " ".join(message.title.split())
    mail["Date"] = at
    mail["Message-ID"] = f"<{message_id(message, sender=sender.addr_spec)}>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office answers, please
    if message.html and not message.body:
        mail.set_content(message.html, subtype="html")
    else:
        mail.set_content(message.body)
        if message.html:
            mail.add_alternative(message.html, subtype="html")
    return mail.as_bytes()
