"""A Message as the bytes of an e-mail.

Header injection is impossible: addresses are checked earlier, and a title becomes one line. The
standard library's `EmailMessage` is not used, because `EmailMessage` parses and folds each header
by a full grammar: 0.7 ms a mail, more than the rest of the sending.
"""

from __future__ import annotations

import re
from base64 import b64encode, encodebytes
from binascii import b2a_qp
from datetime import datetime
from email.headerregistry import Address
from email.utils import format_datetime, formataddr, getaddresses
from typing import Final
from urllib.parse import quote

from providers import mailboxes
from providers.contract import Message

_SHORT: Final = 60
"""Characters of a subject that need no folding: RFC 5322 asks for lines of at most 78."""

_BASE64_GROWTH: Final = 4 / 3 * 78 / 76
"""Four bytes for three, and a line end after each 76."""

_FOLD: Final = "\r\n "
_WORD_LIMIT: Final = 75
"""Characters of an encoded word, its delimiters included (RFC 2047, 2)."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")

_URL_SAFE: Final = ":/?#[]@!$&'()*+,;=%"
"""Characters with a meaning in a URL; other characters beyond letters are escaped, above all line
ends."""


def mailbox(text: str) -> Address:
    """Read `Shop <no-reply@shop.example>` or a bare address.

    Raises:
        ValueError: the text has neither form.
    """
    addresses = getaddresses([text])
    if len(addresses) != 1 or not text.isprintable():
        raise ValueError("write one address, or Name <address>")
    ((name, address),) = addresses
    return Address(display_name=name, addr_spec=mailboxes.check(address))


def message_id(message: Message, *, sender: str) -> str:
    """Return the Message-ID without brackets: the same on every retry, to show repeats."""
    return f"{message.delivery_id}@{sender.rpartition('@')[2]}"


def unsubscribe_headers(message: Message) -> dict[str, str]:
    """Return the two headers of RFC 8058, or no header if the message names no URL.

    Receivers trust the two headers only if DKIM covers the headers: the signing server must sign
    all headers, or must be configured for the two headers.
    """
    if not message.unsubscribe_url:
        return {}
    url = quote(message.unsubscribe_url, safe=_URL_SAFE, errors="replace")
    return {
        "List-Unsubscribe": f"<{url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def header_lines(message: Message, *, sender: Address, to: str, at: datetime) -> tuple[str, ...]:
    """Return the headers of an e-mail but those of MIME; a long header is folded."""
    return (
        f"From: {format_mailbox(sender, separator=_FOLD, used=len('From: '))}",
        f"To: {to}",
        f"Subject: {_subject(message.title)}",
        f"Date: {format_datetime(at)}",
        f"Message-ID: <{message_id(message, sender=sender.addr_spec)}>",
        "Auto-Submitted: auto-generated",  # RFC 3834: no out-of-office answers, please
        *(f"{name}: {value}" for name, value in unsubscribe_headers(message).items()),
    )


def encode(message: Message, *, sender: Address, to: str, at: datetime) -> bytes:
    """Write the e-mail: text, HTML or both, with CRLF line ends and in seven bits."""
    headers = (*header_lines(message, sender=sender, to=to, at=at), "MIME-Version: 1.0")
    head = "\r\n".join(headers).encode() + b"\r\n"
    if not message.html:
        return head + _part(message.body, kind="plain")
    if not message.body:
        return head + _part(message.html, kind="html")
    boundary = f"=_{message.delivery_id.hex}".encode()
    return b"\r\n".join((
        head + b'Content-Type: multipart/alternative;\r\n boundary="' + boundary + b'"',
        b"",
        b"--" + boundary,
        _part(message.body, kind="plain"),
        b"--" + boundary,
        _part(message.html, kind="html"),
        b"--" + boundary + b"--",
        b"",
    ))


def _subject(title: str) -> str:
    """Return a header value: one short line unchanged, other text as encoded words (RFC 2047)."""
    line = " ".join(title.encode(errors="replace").decode().split())
    if line.isascii() and line.isprintable() and len(line) < _SHORT and "=?" not in line:
        return line
    return _FOLD.join(_encode_words(line, used=len("Subject: ")))


def format_mailbox(mailbox: Address, *, separator: str = " ", used: int = 0) -> str:
    """Write `Name <address>` as a header value; a name beyond ASCII becomes encoded words.

    `separator` stands between encoded words: a fold, or a space if the value goes elsewhere.
    `used` is the number of characters that are already taken in the first line.
    """
    name = mailbox.display_name
    if name.isascii():
        return formataddr((name, mailbox.addr_spec))
    return separator.join((*_encode_words(name, used=used), f"<{mailbox.addr_spec}>"))


def _encode_words(text: str, *, used: int) -> list[str]:
    """Write a text as encoded words of at most 75 characters (RFC 2047, 2).

    No character is divided between two words (RFC 2047, 5), and with `used` characters before the
    first word the first line ends within 76 characters (RFC 2047, 2).
    """
    words: list[str] = []
    part = b""
    room = _octets_in(_WORD_LIMIT + 1 - used)
    for character in text:
        octets = character.encode()
        if len(part) + len(octets) > room:
            words.append(_encode_word(part))
            part, room = b"", _octets_in(_WORD_LIMIT)
        part += octets
    return [*words, _encode_word(part)]


def _octets_in(characters: int) -> int:
    """Return the number of octets that an encoded word of so many characters holds in base64."""
    return (characters - len(_encode_word(b""))) // 4 * 3


def _encode_word(octets: bytes) -> str:
    return f"=?utf-8?b?{b64encode(octets).decode()}?="


def _part(text: str, *, kind: str) -> bytes:
    """Write one text with the text's headers, in the shorter encoding.

    Neither encoding can produce `=_`, so no text can contain the boundary.
    """
    raw = _LINE_END.sub("\r\n", text).encode(errors="replace")
    raw += b"" if raw.endswith(b"\r\n") else b"\r\n"
    encoding, content = b"quoted-printable", b2a_qp(raw)
    if len(content) > len(raw) * _BASE64_GROWTH:
        encoding, content = b"base64", encodebytes(raw).replace(b"\n", b"\r\n")
    return (
        b'Content-Type: text/%s; charset="utf-8"\r\nContent-Transfer-Encoding: %s\r\n\r\n%s'
    ) % (kind.encode(), encoding, content)
