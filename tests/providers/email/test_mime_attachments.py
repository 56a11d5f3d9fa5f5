"""Each e-mail provider sends the bytes, the name and the type of a file."""

from __future__ import annotations

import base64
import email
import email.policy
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import pytest

from providers import dry_run
from providers.contract import Accepted, Channel, Message
from providers.email.anymail.adapter import ATTACHMENT_BYTES
from providers.email.anymail.encoding import Backend
from providers.email.anymail.services import SERVICES
from providers.email.mime import encode, mailbox
from providers.mail_headers import NO_HEADERS
from providers.message_parts import Attachment
from providers.rounds import Unsendable
from providers.transport import Transport
from tests.providers.aws.fakes import AwsFake, SesSpeaker
from tests.providers.email.ses.world import bodies, made, outcomes
from tests.providers.messages import message, noon

FILE = Attachment(name="Grüße.pdf", media_type="application/pdf", content=bytes(range(256)) * 9)
IMAGE = Attachment(
    name="logo.png", media_type="image/png", content=b"\x89PNG\r\n\x1a\n", inline_id="logo"
)
INVITATION = Attachment(
    name="invite.ics",
    media_type="text/calendar",
    content=b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n",
)
_OPTIONS = {"api_url": "http://127.0.0.1:9/", "sender_domain": "shop.example"}


def _mail(*attachments: Attachment, **texts: str) -> Message:
    plain = message("maria@mailbox.example", Channel.EMAIL, **texts)
    return replace(plain, attachments=attachments)


def _read(raw: bytes) -> EmailMessage:
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(mail, EmailMessage)
    return mail


def _files(mail: EmailMessage) -> dict[str, Any]:
    return {
        str(each.get_filename()): each.get_payload(decode=True)
        for each in mail.walk()
        if each.get_filename()
    }


@pytest.fixture
def aws() -> Iterator[AwsFake]:
    with closing(AwsFake(SesSpeaker())) as it:
        yield it


def test_ses_gets_the_whole_mail_and_others_of_the_batch_leave_in_bulk(
    aws: AwsFake, transport: Transport
) -> None:
    ses = made(aws, transport)
    batch = [_mail(), _mail(FILE, IMAGE, html='<img src="cid:logo">'), _mail()]
    assert all(isinstance(each, Accepted) for each in outcomes(ses, batch))
    singles = [each["Content"] for each in bodies(aws) if "Content" in each]
    assert [len(each.get("BulkEmailEntries", [])) for each in bodies(aws)].count(2) == 1
    [content] = singles
    mail = _read(base64.b64decode(content["Raw"]["Data"]))
    assert _files(mail) == {"Grüße.pdf": FILE.content, "logo.png": IMAGE.content}


@pytest.mark.parametrize("length", [1, 20, 119])
@pytest.mark.parametrize("letter", ["a", "ü", "🧾", "'", "%"])
def test_a_name_of_any_letters_is_read_back_and_lines_are_short(letter: str, length: int) -> None:
    named = replace(FILE, name=letter * length)
    raw = encode(_mail(named), sender=mailbox("a@shop.example"), to="b@c.example", at=noon())
    assert list(_files(_read(raw))) == [named.name]
    assert raw.isascii()
    assert max(map(len, raw.split(b"\r\n"))) <= 200


def test_an_image_without_html_is_a_file() -> None:
    raw = encode(_mail(IMAGE), sender=mailbox("a@shop.example"), to="b@c.example", at=noon())
    kinds = [each.get_content_type() for each in _read(raw).walk()]
    assert kinds == ["multipart/mixed", "text/plain", "image/png"]


@pytest.mark.filterwarnings("ignore::anymail.exceptions.AnymailNotSupportedWarning")
@pytest.mark.parametrize("service", SERVICES)
def test_each_service_gets_the_bytes(service: str) -> None:
    backend = _backend(service)
    encoded = backend.encode(_mail(FILE, IMAGE, html='<img src="cid:logo">'))
    for each in (FILE, IMAGE):
        plain = each.content in encoded.request.body
        assert plain or base64.b64encode(each.content) in encoded.request.body, service


@pytest.mark.filterwarnings("ignore::anymail.exceptions.AnymailNotSupportedWarning")
@pytest.mark.parametrize("service", SERVICES)
def test_each_service_shows_an_image_in_the_html_if_its_row_says_so(service: str) -> None:
    strict = _backend(service)
    strict._backend.ignore_unsupported_features = False
    mail = _mail(IMAGE, html='<img src="cid:logo">')
    strict_too = replace(mail, mail=NO_HEADERS, unsubscribe_url="")
    if SERVICES[service].inline_images:
        assert b"logo" in strict.encode(strict_too).request.body
    else:
        with pytest.raises(Unsendable, match="cannot_encode"):
            strict.encode(strict_too)


@pytest.mark.filterwarnings("ignore::anymail.exceptions.AnymailNotSupportedWarning")
@pytest.mark.parametrize("service", SERVICES)
def test_each_service_gets_an_image_without_html_as_a_file(service: str) -> None:
    mail = _mail(IMAGE)
    plain = replace(mail, attachments=(replace(IMAGE, inline_id=""),))
    bodies_of_both = [_form(_backend(service).encode(each).request.body) for each in (mail, plain)]
    assert bodies_of_both[0] == bodies_of_both[1]


def _form(body: bytes) -> bytes:
    """Return a body without what each request draws: the boundary of a form, and a UUID."""
    return re.sub(rb"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", b"", body)


@pytest.mark.filterwarnings("ignore::anymail.exceptions.AnymailNotSupportedWarning")
@pytest.mark.parametrize("service", SERVICES)
def test_each_service_gets_the_method_of_an_invitation_if_its_row_says_so(service: str) -> None:
    body = _backend(service).encode(_mail(INVITATION)).request.body
    assert (b"method=" in body and b"REQUEST" in body) is SERVICES[service].invitations


@pytest.mark.parametrize("service", ["postmark", "mailgun"])  # JSON, and a multipart form
def test_a_service_takes_the_stated_size_and_refuses_more(service: str) -> None:
    backend = _backend(service)
    whole = replace(FILE, content=bytes(ATTACHMENT_BYTES))
    assert len(backend.encode(_mail(whole)).request.body) > ATTACHMENT_BYTES
    with pytest.raises(Unsendable, match="payload_too_large"):
        backend.encode(_mail(replace(FILE, content=bytes(2 * ATTACHMENT_BYTES))))


def _backend(service: str) -> Backend:
    known = SERVICES[service]
    options: dict[str, object] = {name: _OPTIONS.get(name, "x") for name in known.needs}
    if "sender_domain" in known.knows:
        options["sender_domain"] = "shop.example"
    sender = mailbox("Shop <no-reply@shop.example>")
    return Backend(service, options=options, sender=sender, codes={})


def test_a_dry_run_takes_files_of_any_size() -> None:
    assert dry_run.DryRun().capabilities.attachment_bytes > 10**9


def test_a_message_never_shows_a_content() -> None:
    shown = repr(_mail(FILE))
    assert "Grüße" not in shown
    assert repr(FILE.content)[2:20] not in shown


@pytest.mark.parametrize(
    ("media_type", "charset"),
    [("text/csv", "utf-8"), ("text/plain", "utf-8"), ("application/json", None)],
)
def test_the_mail_names_the_charset_of_a_text(media_type: str, charset: str | None) -> None:
    text = "Name;Größe\r\nÄpfel;12 €\r\n"
    file = Attachment(name="list.txt", media_type=media_type, content=text.encode())
    sent = _mail(file, body="Hi")
    mail = _read(encode(sent, sender=mailbox("a@shop.example"), to=sent.address, at=noon()))
    [part] = mail.iter_attachments()
    assert (part.get_content_type(), part.get_content_charset()) == (media_type, charset)
    found = part.get_content()
    assert (found if charset else found.decode()) == text
