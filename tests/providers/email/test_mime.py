"""Whatever a title and a text hold, a mail reader shows the same, and no header is added."""

from __future__ import annotations

import email
import re
from email.header import decode_header, make_header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import default
from email.utils import parseaddr

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from providers.contract import Channel
from providers.email import mime
from tests.providers.messages import message, noon

SENDER = mime.mailbox("Pizza Ärger <no-reply@shop.example>")
HEADERS = [
    "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version",
    "Content-Type",
]  # fmt: skip
PLAIN = ["Content-Type", "Content-Transfer-Encoding"]
"""In place of the last one, where a mail has one part."""
PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
ANYTHING = st.text(st.characters(exclude_categories=["Cs"]))


def written(**text: str) -> bytes:
    to = "maria@mailbox.example"
    return mime.encode(message(to, Channel.EMAIL, **text), sender=SENDER, to=to, at=noon())


def read(raw: bytes) -> EmailMessage:
    mail = email.message_from_bytes(raw, policy=default)
    assert isinstance(mail, EmailMessage)
    assert not mail.defects
    return mail


def part(mail: EmailMessage, subtype: str) -> str:
    found = mail.get_body((subtype,))
    assert isinstance(found, EmailMessage)
    content = found.get_payload(decode=True)
    assert isinstance(content, bytes)
    return content.decode()


def lines(text: str) -> str:
    """Text as a mail holds it: CRLF everywhere, also at the end."""
    return re.sub("\r\n|\r|\n", "\r\n", text).removesuffix("\r\n") + "\r\n"


@given(PRINTABLE)
@example("Pizza fertig 🍕 " * 30)
@example("word " * 40)
@example("=?utf-8?q?not_encoded?=")
def test_a_title_is_read_as_it_was_written(title: str) -> None:
    assert read(written(title=title))["Subject"] == " ".join(title.split())


@given(title=ANYTHING, body=ANYTHING, html=ANYTHING)
@example(title="Hi\r\nBcc: eve@evil.example", body="--=_\r\n--", html="=_" * 50)
@example(title="Hi\x0bBcc: x\x85y\u2028z", body=" \n.\n \t\r\n\r", html="x" * 2_000)
@example(title="\x00", body="ü" * 2_000, html="\x00\x01")
def test_nothing_adds_a_header_or_a_long_line_or_an_eighth_bit(
    title: str, body: str, html: str
) -> None:
    raw = written(title=title, body=body or "-", html=html or "-")
    assert raw.isascii()
    assert max(map(len, raw.split(b"\r\n"))) <= 78
    assert b"\n" not in raw.replace(b"\r\n", b"")
    mail = read(raw)
    assert mail.keys() == HEADERS
    assert part(mail, "plain") == lines(body or "-")
    assert part(mail, "html") == lines(html or "-")


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).map(
    lambda name: " ".join(name.split()) or "x"
)


@given(title=PRINTABLE, name=NAMES)
@example(title="я" * 200, name="Пиццерия «Мария» на Невском проспекте, дом двадцать восемь " * 3)
@example(title="🍕" * 100, name="🍕" * 100)
@example(title="a" * 59 + "é", name="é" * 60)
def test_no_encoded_word_is_longer_than_rfc_2047_allows(title: str, name: str) -> None:
    sender = Address(display_name=name, addr_spec="no-reply@shop.example")
    to = "maria@mailbox.example"
    raw = mime.encode(
        message(to, Channel.EMAIL, title=title), sender=sender, to=to, at=noon()
    ).decode()
    head = raw.partition("\r\n\r\n")[0]
    for line in head.split("\r\n"):
        if "=?utf-8?" in line:
            assert len(line) <= 76
    mail = read(raw.encode())
    assert mail["Subject"] == " ".join(title.split())
    written = head.partition("From: ")[2].partition("\r\nTo: ")[0].replace("\r\n ", " ")
    shown, _, address = written.rpartition(" ")
    assert address == "<no-reply@shop.example>"
    whole = parseaddr(written)[0] if name.isascii() else str(make_header(decode_header(shown)))
    assert whole == name


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Grüße aus unserer kleinen Küche, Maria", "quoted-printable"),
        ("пицца готова", "base64"),
        ("ASCII", "quoted-printable"),
    ],
)
def test_a_text_is_written_in_the_shorter_encoding(text: str, encoding: str) -> None:
    assert read(written(body=text))["Content-Transfer-Encoding"] == encoding


def test_half_a_character_becomes_a_question_mark() -> None:
    mail = read(written(title="a \ud83c", body="b \ud83c"))
    assert mail["Subject"] == "a ?"
    assert part(mail, "plain") == "b ?\r\n"


def test_a_mail_that_can_be_unsubscribed_from_says_so_as_rfc_8058_wants() -> None:
    mail = read(written(unsubscribe_url="https://notify.example/unsubscribe/WzFd.x_-"))
    assert mail["List-Unsubscribe"] == "<https://notify.example/unsubscribe/WzFd.x_->"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


@given(ANYTHING)
@example("https://x.example/>\r\nBcc: eve@evil.example")
def test_no_unsubscribe_url_adds_a_header(url: str) -> None:
    raw = written(unsubscribe_url=url)
    assert raw.isascii()
    own = ["List-Unsubscribe", "List-Unsubscribe-Post"] if url else []
    assert read(raw).keys() == [*HEADERS[:6], *own, HEADERS[6], *PLAIN]
