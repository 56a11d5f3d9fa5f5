"""A Message as the bytes of an e-mail.

Header injection is impossible: addresses are checked earlier, and a title becomes one line. The
standard library's `EmailMessage` is not used, because `EmailMessage` parses and folds each header
by a full grammar: 0.7 ms a mail, more than the rest of the sending.
"""

from __future__ import annotations

import functools
import re
from base64 import b64encode, encodebytes
from binascii import b2a_qp
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from email.headerregistry import Address
from email.utils import format_datetime, formataddr, getaddresses
from io import BytesIO
from typing import Final
from urllib.parse import quote

from providers import mailboxes
from providers.contract import Message
from providers.message_parts import Attachment

_SHORT: Final = 60
"""Characters of a subject that need no folding: RFC 5322 asks for lines of at most 78."""

_BASE64_GROWTH: Final = 4 / 3 * 78 / 76
"""Four bytes for three, and a line end after each 76."""

_FOLD: Final = "\r\n "
_WORD_LIMIT: Final = 75
"""Characters of an encoded word, its delimiters included (RFC 2047, 2)."""

_SENDERS: Final = 1_000
"""Senders whose mailboxes a process keeps: more than an installation has brands."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")

_METHOD: Final = re.compile(
    rb"^METHOD:(PUBLISH|REQUEST|CANCEL|REPLY)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE
)
"""The property of an invitation (RFC 5546, 1.4)."""

_LINE_OCTETS: Final = 57
"""Octets of a file that make a line of base64."""

_ENCODED_AT_ONCE: Final = _LINE_OCTETS * 4_096
"""Octets of a piece of a file."""

_NAME_OCTETS: Final = 20
"""Octets of a file name in a line; an escaped octet takes three characters."""

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


def sender_of(message: Message, configured: Address) -> Address:
    """Return the mailbox of the From header: that of the message, else the configured one."""
    mail = message.mail
    if not (mail.sender_name or mail.sender_address):
        return configured
    return _mailbox(
        mail.sender_name or configured.display_name, mail.sender_address or configured.addr_spec
    )


@functools.lru_cache(maxsize=_SENDERS)
def _mailbox(name: str, address: str) -> Address:
    return Address(display_name=name, addr_spec=address)


def list_headers(message: Message) -> dict[str, str]:
    """Return the headers of list and thread.

    The two headers of RFC 8058 stand in a message with an unsubscribe URL. Receivers trust the two
    headers only if DKIM covers the headers: the signing server must sign all headers, or must be
    configured for the two headers.
    """
    found: dict[str, str] = {}
    if message.unsubscribe_url:
        url = quote(message.unsubscribe_url, safe=_URL_SAFE, errors="replace")
        found["List-Unsubscribe"] = f"<{url}>"
        found["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    if message.mail.list_id:
        found["List-Id"] = f"<{message.mail.list_id}>"
    if message.mail.thread_id:
        found["In-Reply-To"] = found["References"] = f"<{message.mail.thread_id}>"
    return found


def bytes_without_headers(body: str, html: str, file_sizes: Iterable[int]) -> int:
    """Return the bytes of the encoded texts and files of an e-mail.

    `file_sizes`: the bytes of each content. The headers, some hundred bytes a part, do not count.
    """
    parts = len(_part(body, kind="plain")) if body or not html else 0
    parts += len(_part(html, kind="html")) if html else 0
    return parts + sum(4 * -(-size // 3) + 2 * -(-size // _LINE_OCTETS) for size in file_sizes)


def header_lines(message: Message, *, sender: Address, to: str, at: datetime) -> tuple[str, ...]:
    """Return the headers of an e-mail but those of MIME; a long header is folded.

    Args:
        message: the message.
        sender: the configured mailbox, which a message without a sender has, and whose domain is
            that of the Message-ID.
        to: the canonical address.
        at: time of the Date header.
    """
    reply_to = message.mail.reply_to
    return (
        f"From: {format_mailbox(sender_of(message, sender), separator=_FOLD, used=len('From: '))}",
        f"To: {to}",
        *([f"Reply-To: {reply_to}"] if reply_to else []),
        f"Subject: {_subject(message.title)}",
        f"Date: {format_datetime(at)}",
        f"Message-ID: <{message_id(message, sender=sender.addr_spec)}>",
        "Auto-Submitted: auto-generated",  # RFC 3834: no out-of-office answers, please
        *(f"{name}: {value}" for name, value in list_headers(message).items()),
    )


def encode(message: Message, *, sender: Address, to: str, at: datetime) -> bytes:
    """Write the e-mail as `pieces` does, whole."""
    whole = BytesIO()
    for piece in pieces(message, sender=sender, to=to, at=at):
        whole.write(piece)
    return whole.getvalue()


def pieces(message: Message, *, sender: Address, to: str, at: datetime) -> Iterator[bytes]:
    """Write the e-mail with its attachments, with CRLF line ends and in seven bits.

    The pieces of a file are short, so that a mail in pieces takes no memory beside its files. An
    e-mail with all parts is nested as mail programs expect (RFC 2046, 5.1 and RFC 2387):

        mixed ─┬─ alternative ─┬─ plain
               │               ├─ related ─┬─ html
               │               │           └─ images of the HTML
               │               └─ invitation
               └─ files

    A level with one part is left out.
    """
    headers = (*header_lines(message, sender=sender, to=to, at=at), "MIME-Version: 1.0")
    yield "\r\n".join(headers).encode() + b"\r\n"
    yield from _content(message)


def _content(message: Message) -> Iterator[bytes]:
    """Write the parts, the outermost with its headers."""
    mark = message.delivery_id.hex
    is_shown = {each.name: bool(each.inline_id and message.html) for each in message.attachments}
    images = [each for each in message.attachments if is_shown[each.name]]
    files = [each for each in message.attachments if not is_shown[each.name]]
    texts: list[Iterable[bytes]] = []
    if message.body or not message.html:
        texts.append([_part(message.body, kind="plain")])
    if message.html:
        html = [_part(message.html, kind="html")]
        shown = [html, *(_file(each, disposition="inline") for each in images)]
        texts.append(_multipart(shown, kind="related", boundary=f"=_r{mark}"))
    texts += [_invitation(each) for each in files if calendar_method(each)]
    whole = _multipart(texts, kind="alternative", boundary=f"=_{mark}")
    added = [_file(each, disposition="attachment") for each in files]
    return _multipart([whole, *added], kind="mixed", boundary=f"=_m{mark}")


def _multipart(parts: Sequence[Iterable[bytes]], *, kind: str, boundary: str) -> Iterator[bytes]:
    """Join parts; a single part stays as it is. No part has a line that begins with `--=_`."""
    if len(parts) == 1:
        yield from parts[0]
        return
    yield f'Content-Type: multipart/{kind};\r\n boundary="{boundary}"\r\n'.encode()
    limit = b"\r\n--" + boundary.encode()
    for part in parts:
        yield limit + b"\r\n"
        yield from part
    yield limit + b"--\r\n"


def _file(attachment: Attachment, *, disposition: str) -> Iterator[bytes]:
    """Write a file in base64, whose bytes the recipient gets unchanged."""
    name = _file_name(attachment.name)
    head = [
        f"Content-Type: {attachment.media_type}{_charset(attachment)}",
        "Content-Transfer-Encoding: base64",
        f"Content-Disposition: {disposition};\r\n {name}",
    ]
    if attachment.inline_id:
        head.append(f"Content-ID: <{attachment.inline_id}>")
    yield "\r\n".join(head).encode() + b"\r\n\r\n"
    yield from _base64_lines(attachment.content)


def _base64_lines(content: bytes) -> Iterator[bytes]:
    """Write a content in lines of 76 characters, some thousand lines at once."""
    for place in range(0, len(content), _ENCODED_AT_ONCE):
        lines = encodebytes(content[place : place + _ENCODED_AT_ONCE])
        yield lines.replace(b"\n", b"\r\n")


def _charset(attachment: Attachment) -> str:
    """Return the parameter of a text, which is UTF-8 (`features.attachments.rules`)."""
    return '; charset="utf-8"' if attachment.media_type.startswith("text/") else ""


def _invitation(attachment: Attachment) -> Iterator[bytes]:
    """Write the part by which a mail program shows an invitation with its buttons (RFC 6047, 2.4).

    The same file is attached too, for other mail programs.
    """
    method = calendar_method(attachment)
    head = (
        f'Content-Type: text/calendar; charset="utf-8"; method={method}\r\n'
        "Content-Transfer-Encoding: base64\r\n\r\n"
    )
    yield head.encode()
    yield from _base64_lines(attachment.content)


def calendar_method(attachment: Attachment) -> str:
    """Return the METHOD of a calendar, such as REQUEST; empty: the file is no invitation."""
    if attachment.media_type != "text/calendar":
        return ""
    found = _METHOD.search(attachment.content)
    return found[1].decode().upper() if found else ""


def _file_name(name: str) -> str:
    """Write the parameter `filename`, for a name beyond ASCII in parts as RFC 2231 says."""
    if name.isascii() and name.isprintable() and not set(name) & {'"', "\\"}:
        return f'filename="{name}"'
    octets = name.encode(errors="replace")
    parts = [octets[at : at + _NAME_OCTETS] for at in range(0, len(octets), _NAME_OCTETS)]
    return ";\r\n ".join(
        f"filename*{place}*=" + ("" if place else "utf-8''") + quote(part, safe="")
        for place, part in enumerate(parts)
    )


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
