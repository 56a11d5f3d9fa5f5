"""Files of a template: each e-mail has the files, and a named file stays for each version."""

from __future__ import annotations

import datetime as dt
import email
import email.policy
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection, transaction

from notifications.core import clock, conf
from notifications.core.delivery import deliver, routing
from notifications.core.intake.accept import AcceptedRequest, Caller, Refused
from notifications.core.models import Delivery, Notification, ProviderRoute, Template
from notifications.core.operations import replay
from notifications.core.rules.attachments import (
    MOST,
    RequestedAttachment,
    WrongFiles,
    request_fields,
)
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.rules.templates import contents, file_format
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.postgres import erasure
from notifications.core.store.templates import files, import_export, versions
from notifications.core.store.templates.import_export import ImportEffect
from notifications.core.store.templates.versions import NotPublishable
from notifications.features.attachments import rows
from notifications.features.attachments.models import Attachment
from notifyproj.devstack.demo.environment import until
from providers.conformance import Act
from providers.contract import Channel
from tests import interleaving
from tests.features.attachments.conftest import PDF, Upload
from tests.journey import Accept, Reach, deliveries_of, statuses
from tests.providers.fakes import SmtpFake

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
TERMS = PDF + b"terms"
Draft = Callable[..., Template]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def draft(caller: Caller) -> Draft:
    """Return a function that drafts a template with uploaded files: name -> id."""

    def make(named: dict[str, UUID], channel: Channel = Channel.EMAIL) -> Template:
        wanted = [
            RequestedAttachment(
                id=id_, name=name, inline_id="logo" if name.endswith(".png") else None
            )
            for name, id_ in named.items()
        ]
        stored = files.copy_uploads(wanted, producer_id=caller.producer_id, mode=caller.mode)
        text = contents.words(channel, "en", title="Order", body="See the terms.")
        return versions.draft("order", contents.content([text], {"attachments": stored}), by="ana")

    return make


@pytest.fixture
def order(draft: Draft, upload: Upload) -> Template:
    """A published template with one file."""
    return versions.publish(draft({"terms.pdf": upload(TERMS)}), by="ben")


def _take(take: Accept, **fields: object) -> AcceptedRequest | Refused:
    return take(template_id="order", variables={}, **fields)


def _files(raw: bytes) -> dict[str, bytes]:
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    return {
        str(each.get_filename()): each.get_payload(decode=True)  # type: ignore[misc] # no multipart
        for each in mail.walk()
        if each.get_filename()
    }


def _delete(now: dt.datetime) -> int:
    return rows.delete_expired(before=now - conf.current().retention, limit=100)


def _copies() -> list[Attachment]:
    return list(Attachment.objects.filter(producer_id__isnull=True))


def test_each_mail_has_the_files_of_the_template_beside_its_own(
    mail_server: SmtpFake, reach: Reach, take: Accept, upload: Upload, order: Template
) -> None:
    reach(email="maria@mailbox.example", sms="+15552000042")
    own = {"id": str(upload()), "name": "invoice.pdf"}
    found = [deliveries_of(_take(take))[0].id, deliveries_of(_take(take, attachments=[own]))[0].id]
    Attachment.objects.filter(producer_id__isnull=False, size=len(TERMS)).delete()
    deliver.deliver(found)
    assert statuses(found) == [Status.SENT] * 2
    sent = sorted(map(_files, mail_server.contents), key=len)  # the two calls leave at once
    assert sent == [{"terms.pdf": TERMS}, {"invoice.pdf": PDF, "terms.pdf": TERMS}]
    told = Notification.objects.latest("id").attachments
    assert request_fields(told, Channel.EMAIL) == {"attachments": [own]}
    assert versions.content_of(order).settings["attachments"][0]["name"] == "terms.pdf"


def test_a_retry_a_replay_and_another_provider_send_the_files_of_the_version(
    mail_server: SmtpFake,
    outbox: Callable[[UUID], list[Any]],
    reach: Reach,
    take: Accept,
    order: Template,
) -> None:
    reach(email="maria@sandbox.example")
    retried, replayed = (deliveries_of(_take(take))[0].id for _ in range(2))
    mail_server.act(Act.REJECT)
    deliver.deliver([replayed])
    mail_server.act(Act.UNAVAILABLE)
    deliver.deliver([retried])
    assert statuses([retried, replayed]) == [Status.RETRYING, Status.FAILED]
    _next(order)
    mail_server.act(Act.ACCEPT)
    job = replay.start(LetterFilter(), requested_by="tests", forced=False, renews_ttl=False)
    replay.run(job, limit=10)
    Delivery.objects.update(due_at=TransactionNow())
    deliver.deliver([retried, replayed])
    assert statuses([retried, replayed]) == [Status.SENT] * 2
    assert [_files(each) for each in mail_server.contents[-2:]] == [{"terms.pdf": TERMS}] * 2
    versions.roll_back(order, by="ben")
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="sandbox", rank=1)
    routing.forget()
    mail_server.act(Act.UNAVAILABLE)
    [moved] = deliveries_of(_take(take, priority="P1"))
    deliver.deliver([moved.id])
    [message] = outbox(moved.id)
    assert [each["name"] for each in message["attachments"]] == ["terms.pdf"]


def test_an_image_of_the_template_stands_in_a_mail_of_blocks(
    mail_server: SmtpFake, reach: Reach, take: Accept, draft: Draft, upload: Upload
) -> None:
    made = draft({"logo.png": upload(PNG, "image/png")})
    blocks = "![Logo](cid:logo)\n\nHello"
    text = contents.normalize(
        TextSource(channel=Channel.EMAIL, locale="en", title="Order", blocks=blocks)
    )
    settings = versions.content_of(made).settings
    versions.publish(versions.draft("order", contents.content([text], settings), by="a"), by="b")
    reach(email="maria@mailbox.example")
    [row] = deliveries_of(_take(take))
    deliver.deliver([row.id])
    [raw] = mail_server.contents
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    [image] = [each for each in mail.walk() if each.get_content_type() == "image/png"]
    assert (image["Content-ID"], image.get_content()) == ("<logo>", PNG)
    [html] = [each for each in mail.walk() if each.get_content_type() == "text/html"]
    assert 'src="cid:logo"' in html.get_content()


def test_a_notification_without_mail_names_no_file(
    take: Accept, reach: Reach, upload: Upload, draft: Draft, outbox: object
) -> None:
    del outbox
    made = draft({"terms.pdf": upload()})
    text = contents.words(Channel.SMS, "en", body="Sent.")
    settings = versions.content_of(made).settings
    both = contents.content([*versions.content_of(made).texts, text], settings)
    versions.publish(versions.draft("order", both, by="ana"), by="ben")
    reach(sms="+15552000042")
    _take(take, channels=["sms"])
    assert Notification.objects.get().attachments is None


@pytest.mark.usefixtures("outbox", "order")
def test_the_files_of_both_must_fit_together(
    reach: Reach, take: Accept, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    file = str(upload())

    def refused(*names: str) -> tuple[str, str]:
        answer = _take(take, attachments=[{"id": file, "name": name} for name in names])
        assert isinstance(answer, Refused), answer
        [error] = answer.problem.errors
        return error.pointer, error.detail

    place, said = refused("invoice.pdf", "terms.pdf")
    assert (place, "the template" in said) == ("/attachments/1/name", True)
    place, said = refused(*(f"{number}.pdf" for number in range(MOST)))
    assert (place, "are 11 with those of the template" in said) == ("/attachments", True)
    changed = replace(conf.current(), attachments_max_bytes=len(PDF) + len(TERMS) - 1)
    monkeypatch.setattr(conf, "current", lambda: changed)
    place, said = refused("invoice.pdf")
    assert (place, "with those of the template, at most" in said) == ("/attachments", True)
    assert isinstance(_take(take), AcceptedRequest)


@pytest.mark.usefixtures("outbox")
def test_a_version_whose_files_cannot_leave_is_not_published(
    upload: Upload, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotPublishable, match="need a text for email"):
        versions.publish(draft({"terms.pdf": upload()}, Channel.PUSH), by="ben")
    made = draft({"terms.pdf": upload(), "logo.png": upload(PNG, "image/png")})
    changed = replace(conf.current(), attachments_max_bytes=len(PDF) + len(PNG) - 1)
    monkeypatch.setattr(conf, "current", lambda: changed)
    with pytest.raises(NotPublishable, match="bytes together"):
        versions.publish(made, by="ben")
    monkeypatch.undo()


@pytest.mark.usefixtures("outbox")
def test_a_file_stays_while_a_version_names_it_and_is_nobodys_data(
    reach: Reach, take: Accept, upload: Upload, draft: Draft, caller: Caller, order: Template
) -> None:
    reach(email="maria@sandbox.example")
    _take(take, attachments=[{"id": str(upload(TERMS)), "name": "mine.pdf"}])
    unused = draft({"old.pdf": upload(PDF + b"old")})
    erasure.begin(mode=caller.mode, user_id="maria", requested_by="x", by="x")
    assert {len(bytes(each.content)) for each in _copies()} == {len(TERMS), len(PDF + b"old")}
    later = clock.now() + conf.current().retention + dt.timedelta(days=3)
    _delete(later)
    assert len(_copies()) == 2
    unused.delete()
    _delete(later)
    assert len(_copies()) == 2, "the deletion has moved"
    _delete(later + conf.current().retention + dt.timedelta(days=3))
    [left] = _copies()
    assert bytes(left.content) == TERMS
    assert versions.roll_back(_next(order), by="ben").attachments == order.attachments


def _next(order: Template) -> Template:
    """Publish a version without files, and return the version before."""
    plain = contents.content(versions.content_of(order).texts)
    versions.publish(versions.draft("order", plain, by="ana"), by="ben")
    return order


def _expire() -> None:
    Attachment.objects.filter(producer_id__isnull=True).update(kept_until=clock.now())


def _sweep() -> None:
    """Run the sweep in an hour: it deletes the files whose time is now, and no upload of today."""
    _delete(clock.now() + dt.timedelta(hours=1))


@pytest.mark.usefixtures("outbox")
def test_a_sweep_during_a_new_version_deletes_no_file_of_the_version(
    upload: Upload, draft: Draft
) -> None:
    unused = draft({"terms.pdf": upload(TERMS)})
    named = versions.content_of(unused)
    unused.delete()
    _expire()
    with interleaving.before(
        ('INSERT INTO "notifications_template"', _sweep),
        ('INSERT INTO "notifications_templateevent"', _sweep),
    ):
        made = versions.draft("other", named, by="ana")
    [copy] = _copies()
    assert bytes(copy.content) == TERMS
    assert copy.kept_until > clock.now() + conf.current().retention
    _expire()
    with interleaving.before(('UPDATE "notifications_template"', _sweep)):
        versions.publish(made, by="ben")
    _sweep()
    assert len(_copies()) == 1


@pytest.mark.usefixtures("outbox")
def test_a_version_that_waits_for_the_sweep_is_refused_or_stores_the_file_anew(
    upload: Upload, draft: Draft
) -> None:
    unused = draft({"terms.pdf": (id_ := upload(TERMS))})
    told = file_format.write(versions.content_of(unused))
    unused.delete()

    def sweeping(work: Callable[[], object]) -> Future[object]:
        def closing() -> object:
            try:
                return work()
            finally:
                connection.close()

        _expire()
        with transaction.atomic():
            _sweep()
            begun = threads.submit(closing)
            until(interleaving.is_awaited, what="the version waits for the sweep")
        return begun

    with ThreadPoolExecutor(1) as threads:
        loaded = sweeping(lambda: import_export.load("new", told, by="files", publish=False))
        with pytest.raises(BrokenFiles, match="is not stored here: upload the file"):
            loaded.result()
        assert versions.newest("new") is None
        draft({"terms.pdf": id_}).delete()
        made = sweeping(lambda: draft({"terms.pdf": id_})).result()
    assert isinstance(made, Template)
    assert [bytes(each.content) for each in _copies()] == [TERMS]


@pytest.mark.usefixtures("outbox")
def test_a_version_without_its_contents_is_not_published_until_the_file_is_stored(
    upload: Upload, draft: Draft, order: Template
) -> None:
    newer = draft({"terms.pdf": upload(TERMS)})
    told = file_format.write(versions.content_of(order))
    Attachment.objects.all().delete()
    with pytest.raises(NotPublishable, match="is not stored here: upload the file"):
        versions.publish(newer, by="ben")
    _next(order)
    with pytest.raises(NotPublishable, match="is not stored here"):
        versions.roll_back(order, by="ben")
    with pytest.raises(BrokenFiles, match=r"copy/template\.json: .* is not stored here"):
        import_export.preview("copy", told, publish=False)
    files.store("application/pdf", TERMS)
    assert import_export.preview("copy", told, publish=False) is ImportEffect.DRAFT
    assert versions.roll_back(order, by="ben").attachments == order.attachments


@pytest.mark.usefixtures("outbox")
def test_a_content_is_stored_once_for_all_templates(upload: Upload, draft: Draft) -> None:
    first = draft({"terms.pdf": upload(TERMS)})
    [copy] = _copies()
    second = draft({"again.pdf": copy.pk, "terms.pdf": upload(TERMS)})
    assert [each.pk for each in _copies()] == [copy.pk]
    assert len(second.attachments) == 2
    assert first.attachments == second.attachments[1:]


@pytest.mark.usefixtures("outbox")
def test_files_of_templates_find_their_contents_by_the_digest(
    order: Template, upload: Upload
) -> None:
    told = file_format.write(versions.content_of(order))
    assert '"name": "terms.pdf"' in told["template.json"]
    import_export.load("copy", told, by="files", publish=True)
    made = versions.current("copy")
    assert made is not None
    assert made.attachments == order.attachments
    other = {
        "template.json": told["template.json"].replace(order.attachments[0]["digest"], "0" * 64)
    }
    with pytest.raises(BrokenFiles, match=r"terms\.pdf .* is not stored here"):
        import_export.load("third", {**told, **other}, by="files", publish=False)
    size = {"template.json": told["template.json"].replace(f": {len(TERMS)}", ": 1")}
    with pytest.raises(BrokenFiles, match=f"terms.pdf has {len(TERMS)} bytes, and not 1"):
        import_export.load("third", {**told, **size}, by="files", publish=False)
    wrong = {"template.json": told["template.json"].replace("terms.pdf", "terms.exe")}
    with pytest.raises(BrokenFiles, match=r"attachments/0/name: must end with \.pdf"):
        import_export.load("third", {**told, **wrong}, by="files", publish=False)
    with pytest.raises(WrongFiles, match="attachments/0/id"):
        files.copy_uploads(
            [RequestedAttachment(id=upload(), name="a.pdf")], producer_id=0, mode=Mode.LIVE
        )


def test_a_replay_after_retention_has_the_files_of_the_template_once(
    mail_server: SmtpFake, reach: Reach, take: Accept, order: Template
) -> None:
    del order
    reach(email="maria@mailbox.example")
    [row] = deliveries_of(_take(take))
    mail_server.act(Act.REJECT)
    deliver.deliver([row.id])
    mail_server.act(Act.ACCEPT)
    Notification.objects.all().delete()
    Delivery.objects.all().delete()
    job = replay.start(LetterFilter(), requested_by="tests", forced=False, renews_ttl=False)
    assert replay.run(job, limit=10).letters == 1
    deliver.deliver([Delivery.objects.get().id])
    assert _files(mail_server.contents[-1]) == {"terms.pdf": TERMS}
