"""Mailbox addresses: the accepted forms, and the canonical spelling.

The API and every adapter use the same rule, so that every stored address can be sent to.

    maria@faß.example    ->  maria@xn--fa-hia.example      IDNA 2008, UTS 46 non-transitional
    Maria@EXAMPLE.COM    ->  Maria@example.com             domains have no case (RFC 5321, 2.4)

The older IDNA 2003 (Python's `idna` codec) would write `fass`, which is another domain. A local
part is an RFC 5322 dot-atom of at most 64 ASCII characters: few servers take quoted or non-ASCII
local parts.
"""

from __future__ import annotations

import re
from typing import Final

import idna

_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_LOCAL_LIMIT: Final = 64
_LABEL: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_DOMAIN_LIMIT: Final = 253
"""Characters (RFC 5321, 4.5.3.1; a domain of 255 octets in DNS)."""


class MalformedAddress(ValueError):
    """The text is no e-mail address that servers commonly take: correct the text at the entry."""


def check(text: str) -> str:
    """Return a mailbox address that is safe in an envelope, with the domain in lower-case ASCII.

    Raises:
        MalformedAddress: the text is no address; the message names the part, without the text.
    """
    local, at, domain = text.rpartition("@")
    if not at:
        raise MalformedAddress("must be a mailbox, like maria@example.com")
    if len(local) > _LOCAL_LIMIT or not _LOCAL.fullmatch(local):
        raise MalformedAddress(
            "must have 1 to 64 ASCII letters, digits or !#$%&'*+/=?^_`{|}~- before the @, "
            "with single dots between them"
        )
    return f"{local}@{ascii_domain(domain)}"


def ascii_domain(domain: str) -> str:
    """Return a domain name in DNS form, in lower case.

    Raises:
        MalformedAddress: the text is no domain name.
    """
    wanted = MalformedAddress("must have a domain name after the @, like example.com")
    if len(domain) > _DOMAIN_LIMIT:
        raise wanted
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True, std3_rules=True).decode()
        except UnicodeError:
            raise wanted from None
    if len(domain) > _DOMAIN_LIMIT or not all(map(_LABEL.fullmatch, domain.split("."))):
        raise wanted
    return domain.lower()
