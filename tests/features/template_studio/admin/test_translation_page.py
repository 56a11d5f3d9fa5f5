"""The page for translators: the file of a version, and the draft of an uploaded file."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from notifications.core.models import Template
from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.admin import axe
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser

BLOCKS = "# Hello {{ name }}\n\n::: button [Pay now](https://shop.example)"


@pytest.fixture
def draft(db: None) -> Template:  # noqa: ARG001 - asked for by name
    mail = TextSource(channel=Channel.EMAIL, locale="en", title="Hi", blocks=BLOCKS)
    content = contents.content([contents.normalize(mail)], {"default_locale": "en"})
    return versions.draft("order_sent", content, by="ana")


def url(version: Template, page: str = "translate") -> str:
    return reverse(f"admin:notifications_template_{page}", args=[version.pk])


def translated(door: Client, version: Template) -> bytes:
    """Return the downloaded XLIFF file with German texts."""
    text = door.get(url(version), {"from": "en", "to": "de"}).content.decode()
    german = {"Hi": "Hallo", "Hello ": "Guten Tag ", "Pay now": "Bezahlen"}
    for english, target in german.items():
        begin = f"<source>{english}"
        line = next(line for line in text.splitlines() if line.startswith(begin))
        text = text.replace(
            line, line + line.replace("source>", "target>").replace(english, target, 1)
        )
    return text.encode()


def upload(door: Client, version: Template, data: bytes, name: str = "a.xlf") -> tuple[str, str]:
    """Return the path after the upload, and the page."""
    given = {"file": SimpleUploadedFile(name, data)} if data else {}
    answer = door.post(url(version), given, follow=True)
    return answer.request["PATH_INFO"], html.unescape(answer.content.decode())


def test_a_download_is_a_file_with_the_name_of_version_and_language(
    door: Client, draft: Template
) -> None:
    answer = door.get(url(draft), {"from": "en", "to": "pt_br", "format": "csv"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="order_sent-v1.pt-BR.csv"'
    )
    assert "email.blocks.2#" in answer.content.decode()
    xliff = door.get(url(draft), {"from": "en", "to": "de", "format": "xlf"})
    assert xliff.headers["Content-Type"] == "application/x-xliff+xml"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"to": "klingon", "from": "en"}, "'klingon' is no known locale"),
        ({"to": "en", "from": "en"}, "are the same: en"),
        ({"to": "de", "from": "it"}, "order_sent v1 has no words in it"),
        ({"to": "de"}, "'' is no known locale"),
        ({"to": "de", "from": "en", "format": "pdf"}, "ends with .xlf, .xliff or .csv"),
    ],
)
def test_a_download_that_cannot_be_made_is_told(
    door: Client, draft: Template, asked: dict[str, str], told: str
) -> None:
    assert told in html.unescape(door.get(url(draft), asked).content.decode())


def test_an_upload_opens_the_draft_in_its_language(door: Client, draft: Template) -> None:
    path, page = upload(door, draft, translated(door, draft))
    made = Template.objects.get(version=2)
    assert path == url(made, "editor")
    assert "order_sent v2 is a draft with the texts in de." in page
    german = made.texts.get(locale="de")
    assert german.blocks == "# Guten Tag {{ name }}\n\n::: button [Bezahlen](https://shop.example)"
    assert made.published_at is None
    again = upload(door, made, translated(door, draft))[1]
    assert "order_sent v2 has these texts in de already." in again


def test_a_fault_is_shown_and_nothing_is_stored(door: Client, draft: Template) -> None:
    other = versions.draft("other", versions.content_of(draft), by="ana")
    good = translated(door, draft)
    broken = good.replace(b'Guten Tag <ph id="1">{{ name }}</ph>', b"Guten Tag")
    assert broken != good
    for version, data, name, told in (
        (draft, broken, "a.xlf", "the variable name is missing"),
        (draft, b"<!DOCTYPE a><a/>", "a.xlf", "document type"),
        (draft, good, "a.docx", "ends with .xlf, .xliff or .csv"),
        (draft, b"", "a.xlf", "choose a file"),
        (other, good, "a.xlf", "the file is for the template 'order_sent'"),
    ):
        path, page = upload(door, version, data, name)
        assert told in page
        assert path == url(version)
    assert Template.objects.count() == 2


def test_a_viewer_downloads_and_does_not_upload(
    window: Client, door: Client, draft: Template
) -> None:
    data = translated(door, draft)
    assert window.get(url(draft), {"from": "en", "to": "de"}).status_code == 200
    assert 'id="upload"' not in window.get(url(draft)).content.decode()
    assert 'id="upload"' in door.get(url(draft)).content.decode()
    answer = window.post(url(draft), {"file": SimpleUploadedFile("a.xlf", data)})
    assert answer.status_code == 403
    assert Template.objects.count() == 1


needs_browser = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
)


@needs_browser
@pytest.mark.django_db(transaction=True)
def test_an_operator_takes_a_file_out_and_in(
    browser: Browser, door: Client, draft: Template, tmp_path: Path
) -> None:
    browser.open(f"notifications/template/{draft.pk}/editor")
    browser.click("#editor a[href*='/translate']")
    browser.see("#download [name=to]").send_keys("de")
    path = tmp_path / "order_sent.de.xlf"
    path.write_bytes(translated(door, draft))
    browser.see("#upload [name=file]").send_keys(str(path))
    browser.click("#upload button[type=submit]")
    browser.wait_for_in_frame(".nc-frame iframe", "td.sheet", "Guten Tag Name")
    assert "locale=de" in browser.chrome.current_url
    browser.open(f"notifications/template/{draft.pk}/translate?to=klingon&from=en")
    browser.wait_for("[role=alert]", "'klingon' is no known locale")
    browser.open("notifications/template/upload")
    browser.see("[name=archive]").send_keys(str(path))
    assert browser.errors() == []


@needs_browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_page_follows_wcag_at_each_size(browser: Browser, draft: Template) -> None:
    browser.open(f"notifications/template/{draft.pk}/translate?to=klingon&from=en")
    found: list[str] = []
    for name in axe.looks(browser.chrome):
        browser.wait_for("[role=alert]", "no known locale")
        found += axe.violations(browser.chrome, name=f"translate-{name}")
        assert not axe.scrolls_sideways(browser.chrome), name
    assert found == []
