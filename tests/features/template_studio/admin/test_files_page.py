"""The page of the attachments of a version: operators attach and remove files of a draft."""

from __future__ import annotations

import base64
import html
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from notifications.core.models import AuditEntry, Template
from notifications.core.rules import attachments
from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import versions
from notifications.features.attachments.models import Attachment
from providers.contract import Channel

PDF = b"%PDF-1.7\nterms"


@pytest.fixture
def draft(db: None) -> Template:  # noqa: ARG001 - asked for by name
    text = contents.words(Channel.EMAIL, "en", title="Hi", body="See the terms.")
    return versions.draft("order", contents.content([text]), by="ana")


def url(version: Template, page: str = "attachments") -> str:
    return reverse(f"admin:notifications_template_{page}", args=[version.pk])


def post(door: Client, version: Template, content: bytes, name: str, **more: str) -> str:
    """Return the page after an upload."""
    given = {"do": "add", "file": SimpleUploadedFile(name, content), **more}
    return html.unescape(door.post(url(version), given, follow=True).content.decode())


def test_a_file_is_attached_shown_compared_and_removed(door: Client, draft: Template) -> None:
    versions.publish(versions.draft("order", versions.content_of(draft), by="ana"), by="ben")
    made = versions.draft("order", versions.content_of(draft), by="ana")
    assert "terms.pdf is attached." in post(door, made, PDF, "terms.pdf")
    made.refresh_from_db()
    [stored] = made.attachments
    assert (stored["name"], stored["type"]) == ("terms.pdf", "application/pdf")
    [entry] = AuditEntry.objects.filter(operation="edit_template")
    assert entry.after is not None
    assert entry.after["attachments"] == made.attachments
    editor = door.get(url(made, "editor")).content.decode()
    assert "Attachments (1)" in editor
    assert "terms.pdf (" in editor
    assert stored["digest"] in door.get(url(made, "publish")).content.decode()
    door.post(url(made), {"do": "remove", "name": "terms.pdf"})
    made.refresh_from_db()
    assert made.attachments == []


@pytest.mark.parametrize(
    ("content", "name", "inline_id", "said"),
    [
        (b"MZ", "a.exe", "", "a.exe: the name must end with one of .pdf, .png"),
        (b"MZ", "a.pdf", "", "begins with other bytes"),
        (PDF, "a.pdf", "logo", "inline_id: is for an image"),
        (PDF, ".pdf", "", "must be a file name without a path"),
        (b"", "a.pdf", "", "the file is empty"),
        (b"%PDF-" + bytes(10_000_000), "a.pdf", "", "at most"),
    ],
)
def test_a_wrong_file_is_told_and_nothing_is_attached(
    door: Client, draft: Template, content: bytes, name: str, inline_id: str, said: str
) -> None:
    assert said in post(door, draft, content, name, inline_id=inline_id)
    draft.refresh_from_db()
    assert draft.attachments == []


def test_a_published_version_keeps_its_files(door: Client, draft: Template) -> None:
    post(door, draft, PDF, "terms.pdf")
    versions.publish(draft, by="ben")
    assert "This version is published" in post(door, draft, PDF, "more.pdf")
    Attachment.objects.all().delete()
    answer = door.post(url(draft, "new_draft"), follow=True).content.decode()
    assert "Not done: attachments: the content of terms.pdf" in answer
    draft.refresh_from_db()
    assert [each["name"] for each in draft.attachments] == ["terms.pdf"]


def test_a_viewer_sees_the_files_and_changes_none(
    door: Client, window: Client, draft: Template
) -> None:
    post(door, draft, PDF, "terms.pdf")
    page = window.get(url(draft)).content.decode()
    assert "terms.pdf" in page
    assert 'value="add"' not in page
    assert window.post(url(draft), {"do": "remove", "name": "terms.pdf"}).status_code == 403


PNG = b"\x89PNG\r\n\x1a\nlogo"
PICTURE = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def with_logo(door: Client, blocks: str) -> Template:
    text = TextSource(channel=Channel.EMAIL, locale="en", title="Hi", blocks=blocks)
    version = versions.draft("order", contents.content([text]), by="ana")
    post(door, version, PNG, "logo.png", inline_id="logo")
    version.refresh_from_db()
    return version


def test_the_preview_shows_the_images_of_the_version(door: Client) -> None:
    version = with_logo(door, "![Logo](cid:logo)\n\ncid:logo")
    page = html.unescape(html.unescape(door.get(url(version, "editor")).content.decode()))
    assert page.count(f'src="{PICTURE}"') == 1
    assert "cid:logo</p>" in page, "a text is no image"
    typed = {"do": "render", "locale": "en", "email-title": "Hi", "email-written-as": "html"}
    typed |= {"email-body": "x", "email-html": "<img src='cid:logo'><img src=cid:none>"}
    frame = json.loads(door.post(url(version, "editor"), typed).content)["frames"]["email"]
    shown = html.unescape(frame)
    assert PICTURE in shown
    assert "cid:none" in shown


def test_a_preview_leaves_out_images_that_are_too_large_or_deleted(door: Client) -> None:
    from notifications.core.admin import preview_images  # noqa: PLC0415 - the admin of other apps goes first

    version = with_logo(door, "![Logo](cid:logo)")
    named = attachments.of_template(version.attachments)
    large = [each._replace(size=preview_images.MOST_BYTES // 2 + 1) for each in named]
    twice = preview_images.show('<img src="cid:logo"><img src="cid:logo">', large)
    assert twice.source == f'<img src="{PICTURE}"><img src="cid:logo">'
    assert twice.too_large == ("logo.png",)
    Attachment.objects.all().delete()
    assert preview_images.show('<img src="cid:logo">', named).source == '<img src="cid:logo">'
