"""Files leave with the e-mail as they were uploaded."""

from __future__ import annotations

import email
import email.policy
import os
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from typing import Any
from uuid import UUID

import pytest

from notifications.core.delivery import attached, deliver, routing
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.intake.accept import Refused
from notifications.core.models import DeadLetter, Delivery, Notification, ProviderRoute
from notifications.core.operations import replay
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.states import Status
from notifications.features.attachments import rows
from notifications.features.attachments.models import Attachment
from providers.conformance import Act
from providers.contract import Channel
from tests.features.attachments.conftest import PDF, Upload
from tests.journey import Accept, AddVendor, Reach, deliveries_of, statuses, take_rows
from tests.providers.fakes import SmtpFake

pytestmark = pytest.mark.django_db(transaction=True)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
INVITATION = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"


def _mails(server: SmtpFake) -> list[EmailMessage]:
    return [_mail(each) for each in server.contents]


def _mail(raw: bytes) -> EmailMessage:
    found = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(found, EmailMessage)
    return found


def _files(mail: EmailMessage) -> dict[str, bytes]:
    return {
        str(each.get_filename()): each.get_payload(decode=True)  # type: ignore[misc] # no multipart
        for each in mail.walk()
        if each.get_filename()
    }


def test_files_arrive_byte_for_byte(
    mail_server: SmtpFake, reach: Reach, take: Accept, upload: Upload
) -> None:
    reach(email="maria@mailbox.example")
    random = b"%PDF-1.4\n" + os.urandom(300_000)
    asked = [
        {"id": str(upload()), "name": "invoice.pdf"},
        {"id": str(upload(random)), "name": "Rechnung für März 🧾.pdf"},
    ]
    found = take_rows(take, 1, attachments=asked)
    deliver.deliver(found)
    assert statuses(found) == [Status.SENT]
    [mail] = _mails(mail_server)
    assert mail.get_content_type() == "multipart/mixed"
    assert _files(mail) == {"invoice.pdf": PDF, "Rechnung für März 🧾.pdf": random}
    text = mail.get_body(("plain",))
    assert text is not None
    assert "Ana: 4711" in str(text.get_content())
    assert all(len(line) <= 998 for line in mail_server.contents[0].split(b"\r\n"))


def test_an_image_stands_beside_the_html_and_an_invitation_beside_the_text(
    mail_server: SmtpFake, reach: Reach, take: Accept, upload: Upload
) -> None:
    reach(email="maria@mailbox.example")
    html = '<p>Hi</p><img src="cid:logo">'
    asked = [
        {"id": str(upload(PNG, "image/png")), "name": "logo.png", "inline_id": "logo"},
        {"id": str(upload(INVITATION, "text/calendar")), "name": "invite.ics"},
    ]
    content = {"title": "Hi", "body": "Hi", "html": html}
    found = take_rows(take, 1, attachments=asked, content=content, template_id=None, variables={})
    deliver.deliver(found)
    [mail] = _mails(mail_server)
    shape = [each.get_content_type() for each in mail.walk()]
    assert shape == [
        *("multipart/mixed", "multipart/alternative", "text/plain"),
        *("multipart/related", "text/html", "image/png", "text/calendar", "text/calendar"),
    ]
    [image] = [each for each in mail.walk() if each.get_content_type() == "image/png"]
    assert (image["Content-ID"], image.get_payload(decode=True)) == ("<logo>", PNG)
    invitation, attached_file = [
        each for each in mail.walk() if each.get_content_type() == "text/calendar"
    ]
    assert invitation.get_param("method") == "REQUEST"
    assert invitation.get_payload(decode=True) == attached_file.get_payload(decode=True)
    assert attached_file.get_payload(decode=True) == INVITATION


def test_the_content_is_read_once_for_a_wave_and_never_without_attachments(
    mail_server: SmtpFake,
    reach: Reach,
    take: Accept,
    upload: Upload,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reach(email="maria@mailbox.example")
    read: list[set[UUID]] = []

    def contents(ids: set[UUID]) -> Mapping[UUID, bytes]:
        read.append(ids)
        return rows.contents(ids)

    monkeypatch.setattr(attached, "CONTENTS", (contents,))
    file = upload()
    deliver.deliver(take_rows(take, 3))
    assert read == []
    asked = [{"id": str(file), "name": "invoice.pdf"}]
    deliver.deliver(take_rows(take, 3, attachments=asked))
    assert read == [{file}]
    assert [len(_files(each)) for each in _mails(mail_server)] == [0, 0, 0, 1, 1, 1]


def test_files_that_do_not_fit_into_memory_leave_after_the_others(
    mail_server: SmtpFake,
    reach: Reach,
    take: Accept,
    upload: Upload,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reach(email="maria@mailbox.example")
    memory = attached.Memory(2 * len(PDF))
    monkeypatch.setattr(attached, "_memory", memory)
    used: list[int] = []
    read = attached.contents

    def contents(deliveries: list[ClaimedDelivery]) -> Mapping[UUID, bytes]:
        used.append(memory.used)
        return read(deliveries)

    monkeypatch.setattr(attached, "contents", contents)
    asked = [{"id": str(upload()), "name": "invoice.pdf"}]
    found = take_rows(take, 7, attachments=asked)
    deliver.deliver(found)
    assert statuses(found) == [Status.SENT] * 7
    assert len(mail_server.contents) == 7
    assert max(used) == 2 * len(PDF)
    assert memory.used == 0


def test_a_deleted_file_is_a_dead_letter_that_names_the_cure(
    mail_server: SmtpFake, reach: Reach, take: Accept, upload: Upload
) -> None:
    reach(email="maria@mailbox.example")
    found = take_rows(take, 1, attachments=[{"id": str(upload()), "name": "invoice.pdf"}])
    Attachment.objects.all().delete()
    deliver.deliver(found)
    [letter] = DeadLetter.objects.all()
    assert letter.reason == "render_error"
    assert "upload the file and send anew" in letter.detail
    assert mail_server.contents == []
    assert attached._memory.used == 0


def test_a_provider_that_does_not_take_the_size_is_passed_over(
    outbox: Callable[[UUID], list[Any]],
    reach: Reach,
    take: Accept,
    upload: Upload,
    add_vendor: AddVendor,
) -> None:
    add_vendor("small", attachment_bytes=len(PDF) - 1)
    for name in ("small", "sandbox"):
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider=name)
    reach(email="maria@sandbox.example")
    asked = [{"id": str(upload()), "name": "invoice.pdf"}]
    found = take_rows(take, 5, attachments=asked)
    deliver.deliver(found)
    sent = Delivery.objects.filter(id__in=found)
    assert {(Status(each.status), each.provider) for each in sent} == {(Status.SENT, "sandbox")}
    [message] = outbox(found[0])
    assert message["attachments"] == [
        {"name": "invoice.pdf", "type": "application/pdf", "size": len(PDF)}
    ]


def test_a_provider_without_images_in_the_html_is_passed_over_for_such_an_image_alone(
    reach: Reach, take: Accept, upload: Upload, add_vendor: AddVendor
) -> None:
    add_vendor("plain", inline_images=False)
    route = ProviderRoute.objects.create(channel=Channel.EMAIL, provider="plain")
    reach(email="maria@sandbox.example")
    file = {"id": str(upload(PNG, "image/png")), "name": "logo.png"}
    shown = {**file, "inline_id": "logo"}
    answer = take(attachments=[shown])
    assert isinstance(answer, Refused)
    [error] = answer.problem.errors
    assert error.pointer == "/attachments/0/inline_id"
    assert "leave inline_id out" in error.detail
    attached_only = take_rows(take, 1, attachments=[file])
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="sandbox", rank=1)
    routing.forget()
    with_image = take_rows(take, 1, attachments=[shown])
    deliver.deliver([*attached_only, *with_image])
    names = [Delivery.objects.get(id=each).provider for each in (*attached_only, *with_image)]
    assert names == [route.provider, "sandbox"]


def test_without_a_provider_that_takes_the_size_the_request_is_refused(
    reach: Reach, take: Accept, upload: Upload, add_vendor: AddVendor
) -> None:
    add_vendor("small", attachment_bytes=len(PDF) - 1)
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="small")
    reach(email="maria@sandbox.example")
    answer = take(attachments=[{"id": str(upload()), "name": "invoice.pdf"}])
    assert isinstance(answer, Refused)
    assert [each.pointer for each in answer.problem.errors] == ["/attachments"]


def test_a_replay_after_retention_has_the_files(
    mail_server: SmtpFake, reach: Reach, take: Accept, upload: Upload
) -> None:
    reach(email="maria@mailbox.example")
    content = {"title": "Invoice", "body": "See the file."}
    answer = take(
        attachments=[{"id": str(upload()), "name": "invoice.pdf"}],
        content=content,
        template_id=None,
        variables={},
    )
    [row] = deliveries_of(answer)
    mail_server.act(Act.REJECT)
    deliver.deliver([row.id])
    mail_server.act(Act.ACCEPT)
    assert DeadLetter.objects.count() == 1
    notification = Notification.objects.get()
    Notification.objects.all().delete()
    Delivery.objects.all().delete()
    job = replay.start(LetterFilter(), requested_by="tests", forced=False, renews_ttl=False)
    assert replay.run(job, limit=10).letters == 1
    [anew] = Delivery.objects.all()
    deliver.deliver([anew.id])
    assert Notification.objects.get().attachments == notification.attachments
    assert _files(_mails(mail_server)[-1]) == {"invoice.pdf": PDF}
