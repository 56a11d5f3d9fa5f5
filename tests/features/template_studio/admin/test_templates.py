"""An author writes, sees faults by line, publishes, goes back; what is published stays."""

from __future__ import annotations

import html
import io
import re
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from notifications.core.models import Template, TemplateEvent, TemplateText
from notifications.core.rules.templates import contents
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.admin.confirming import confirm

ADD = reverse("admin:notifications_template_add")
DOWNLOAD = reverse("admin:notifications_template_download")
UPLOAD = reverse("admin:notifications_template_upload")


def form(**text: str) -> dict[str, Any]:
    words = {"channel": int(Channel.EMAIL), "locale": "pt_br", "title": "", "body": "x", "html": ""}
    inline = {f"texts-0-{name}": value for name, value in (words | text).items()}
    management = {"texts-TOTAL_FORMS": 1, "texts-INITIAL_FORMS": 0}
    about = {"template_id": "hello", "sensitive_variables": "", "note": ""}
    return (
        about
        | {"default_locale": "en", "variables": "[]", "confirm_seconds": 0}
        | management
        | inline
    )


def page(name: str, template: Template) -> str:
    return reverse(f"admin:notifications_template_{name}", args=[template.pk])


def says(body: str) -> TemplateContent:
    words = contents.words(Channel.EMAIL, "en", title="Hi", body=body)
    return contents.content([words], {"sensitive_variables": ["code"]})


def upload(door: Client, packed: bytes, **more: str) -> str:
    archive = SimpleUploadedFile("templates.zip", packed)
    answer = door.post(UPLOAD, {"archive": archive, **more}, follow=True)
    return html.unescape(answer.content.decode())


@pytest.fixture
def draft(db: None) -> Template:  # noqa: ARG001 - asked for by name
    made = Template.objects.create(
        template_id="hello",
        sensitive_variables=["code"],
        variables=[{"name": "name", "type": "string", "example": "Ada"}],
        default_locale="de",
    )
    TemplateText.objects.create(
        template=made,
        channel=Channel.EMAIL,
        locale="en",
        title="Hi {{ name }}",
        body="Hello {{ name }}",
        html="<b>{{ name }}</b>",
    )
    return made


def test_a_new_template_is_a_draft_with_a_spelled_locale(door: Client) -> None:
    answer = door.post(ADD, form())
    assert answer.status_code == 302
    made = Template.objects.get(template_id="hello")
    assert (made.version, made.published_at) == (1, None)
    assert made.texts.get().locale == "pt-BR"
    assert made.created_by == "operator"


def test_a_fault_is_told_with_its_line_and_nothing_is_saved(door: Client) -> None:
    answer = door.post(ADD, form(body="fine\n{{ x.__class__ }}"))
    assert "Line 2: __class__: names must not begin with an underscore." in answer.content.decode()
    assert not Template.objects.exists()


CHAT = str(int(Channel.CHAT))


@pytest.mark.parametrize(
    ("channel", "template", "told"),
    [
        (CHAT, '{"ids": {"whatsapp": 5}}', "Write ids, by provider, and parameters"),
        (CHAT, '{"parameters": ["a"]}', "ids must name the template of a provider"),
        (CHAT, '{"ids": {"whatsapp": "x"}, "parameters": ["{{ y"]}', "parameter 1 of the vendor"),
        ("1", '{"ids": {"whatsapp": "x/en"}}', "Only a chat text has a template of a vendor."),
    ],
)
def test_a_fault_of_a_vendor_template_is_told(
    door: Client, channel: str, template: str, told: str
) -> None:
    answer = door.post(ADD, form(channel=channel, vendor_template=template))
    assert told in answer.content.decode()
    assert not Template.objects.exists()


def test_a_vendor_template_is_stored_as_written(door: Client) -> None:
    template = '{"ids": {"whatsapp": "shipped/en"}, "parameters": ["{{ name }}"]}'
    assert door.post(ADD, form(channel=CHAT, vendor_template=template)).status_code == 302
    [source] = versions.content_of(Template.objects.get()).texts
    assert source.vendor_template.ids == (("whatsapp", "shipped/en"),)
    assert source.vendor_template.parameters == ("{{ name }}",)


def test_publishing_freezes_a_version(door: Client, draft: Template) -> None:
    confirm(door, page("publish", draft))
    draft.refresh_from_db()
    assert draft.published_at is not None
    assert draft.published_by == "operator"
    door.post(page("change", draft), form(body="changed"))
    assert draft.texts.get().body == "Hello {{ name }}"


def test_a_link_publishes_nothing(door: Client, draft: Template) -> None:
    assert "Publish: hello v1" in door.get(page("publish", draft)).content.decode()
    draft.refresh_from_db()
    assert draft.published_at is None


def test_a_version_without_texts_is_not_published(door: Client) -> None:
    empty = Template.objects.create(template_id="empty")
    told = confirm(door, page("publish", empty), follow=True)
    assert "Not done: a version without a text cannot be published." in told.content.decode()
    empty.refresh_from_db()
    assert empty.published_at is None


def test_a_new_draft_takes_texts_and_secrets_along(door: Client, draft: Template) -> None:
    confirm(door, page("publish", draft))
    opened = door.post(page("new_draft", draft))
    copy = Template.objects.get(template_id="hello", version=2)
    assert opened.headers["Location"] == page("editor", copy)
    assert copy.published_at is None
    assert copy.sensitive_variables == ["code"]
    assert (copy.variables, copy.default_locale) == (draft.variables, "de")
    assert copy.texts.get().html == "<b>{{ name }}</b>"


def test_who_may_only_look_publishes_nothing(window: Client, draft: Template) -> None:
    assert window.post(page("publish", draft)).status_code == 403
    draft.refresh_from_db()
    assert draft.published_at is None


def test_going_back_publishes_the_old_words_again(door: Client, draft: Template) -> None:
    confirm(door, page("publish", draft))
    newer = versions.draft("hello", says("Bye"), by="ana")
    confirm(door, page("publish", newer))
    door.post(page("roll_back", draft))
    current = versions.current("hello")
    assert current is not None
    assert (current.version, current.texts.get().body) == (3, "Hello {{ name }}")


def test_every_step_leaves_a_line_with_its_author(door: Client, draft: Template) -> None:
    door.post(ADD, form())
    made = Template.objects.get(version=2)
    door.post(page("delete", made), {"post": "yes"})
    confirm(door, page("publish", draft))
    listed = door.get(reverse("admin:notifications_templateevent_changelist")).content.decode()
    assert "operator" in listed
    events = TemplateEvent.objects.order_by("pk")
    assert [(event.version, event.verb) for event in events] == [
        *((2, "drafted"), (2, "deleted"), (1, "published"))
    ]


def test_a_comparison_shows_both_sides_escaped(door: Client, draft: Template) -> None:
    newer = versions.draft("hello", says("<b>Bye</b>"), by="ana")
    shown = door.get(page("compare", newer)).content.decode()
    assert "email.en.txt" in shown
    assert "Hello {{ name }}" in shown
    assert "&lt;b&gt;Bye&lt;/b&gt;" in shown
    assert "<b>Bye</b>" not in shown
    alone = Template.objects.create(template_id="alone")
    assert "No other version exists." in door.get(page("compare", alone)).content.decode()
    assert draft.version == 1


def test_a_download_uploaded_again_changes_nothing(door: Client, draft: Template) -> None:
    confirm(door, page("publish", draft))
    packed = door.get(DOWNLOAD).content
    assert packed == door.get(DOWNLOAD).content
    assert 'name="publish"' in door.get(UPLOAD).content.decode()
    told = upload(door, packed, publish="yes")
    assert "hello: unchanged" in told
    assert Template.objects.count() == 1


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"hello/push.en.txt": b"Hi\n\nx"}, "hello: new draft"),
        ({"all/hello/push.en.txt": b"Hi\n\nx", "__MACOSX/._x": b"x"}, "hello: new draft"),
        ({"hello/push.en.txt": b"Hi\n\nx", "bye/sms.en.txt": b"{{ x() }}"}, "bye/sms.en.txt: line"),
        ({"hello/sms.en.txt": b"x" * 900_000}, "hello/sms.en.txt: too large"),
        ({"hello/sms.en.txt": b"\xff"}, "hello/sms.en.txt: the file is not UTF-8"),
        ({"../../etc/passwd": b"x"}, "The zip file has no template."),
    ],
)
def test_an_upload_is_taken_whole_or_not_at_all(
    door: Client, files: dict[str, bytes], told: str
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    assert told in upload(door, packed.getvalue())
    assert Template.objects.exists() == (told == "hello: new draft")


def test_what_is_no_zip_is_told(door: Client, window: Client) -> None:
    assert "cannot be read as a zip file" in upload(door, b"PK nothing")
    assert door.post(UPLOAD).status_code == 400
    assert window.post(UPLOAD).status_code == 403


def test_what_is_not_fit_for_sending_is_not_published(door: Client, draft: Template) -> None:
    TemplateText.objects.create(template=draft, channel=Channel.SMS, body="{{ other }}")
    told = confirm(door, page("publish", draft), follow=True).content.decode()
    assert "sms en: it needs other, which no producer has to send" in told
    draft.refresh_from_db()
    assert draft.published_at is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"default_locale": "klingon"}, "Unknown locale"),
        ({"texts-0-locale": "no such"}, "Unknown locale"),
        ({"variables": '[{"name": "a", "type": "text"}]'}, "its type is one of string"),
        ({"variables": "["}, "valid JSON"),
    ],
)
def test_what_means_nothing_is_not_saved(door: Client, fields: dict[str, str], told: str) -> None:
    assert told in door.post(ADD, form() | fields).content.decode()
    assert not Template.objects.exists()


def test_a_template_of_many_locales_is_shown_and_saved_in_pages(
    door: Client, draft: Template
) -> None:
    tags = ["de", "es", "fr", "it", "nl", "pl", "pt", "sv"]
    TemplateText.objects.bulk_create(
        TemplateText(template=draft, channel=Channel.EMAIL, locale=tag, title="Hi", body=tag)
        for tag in tags
    )
    second = door.get(page("change", draft), {"texts-page": 2})
    [texts] = [each.formset for each in second.context["inline_admin_formsets"]]
    shown = [each.instance for each in texts.initial_forms]
    assert len(shown) == 3
    typed = form() | {"texts-TOTAL_FORMS": 3, "texts-INITIAL_FORMS": 3, "texts-page": 2}
    for place, text in enumerate(shown):
        named = {"id": text.pk, "template": draft.pk, "channel": text.channel}
        said = {"locale": text.locale, "title": "Hi", "body": "changed", "html": ""}
        typed |= {f"texts-{place}-{name}": value for name, value in (named | said).items()}
    assert door.post(page("change", draft), typed).status_code == 302
    changed = draft.texts.filter(body="changed").values_list("pk", flat=True)
    assert set(changed) == {text.pk for text in shown}
    assert draft.texts.count() == 9


def test_the_list_tells_which_version_producers_get(door: Client, draft: Template) -> None:
    versions.publish(draft, by="lisa")
    newer = versions.draft("hello", says("Good morning"), by="lisa")
    versions.publish(newer, by="lisa")
    versions.draft("hello", says("Good evening"), by="lisa")
    listed = door.get(reverse("admin:notifications_template_changelist")).content.decode()
    states = re.findall(r">\s*(current|published before|draft)\s*<", listed)
    assert states == ["draft", "current", "published before"]


def test_a_page_offers_only_the_steps_that_its_version_can_take(
    door: Client, draft: Template
) -> None:
    def offered(version: Template) -> set[str]:
        shown = door.get(page("change", version)).content.decode()
        steps = ("publish", "roll_back", "new_draft")
        return {step for step in steps if f'href="{page(step, version)}"' in shown}

    assert offered(draft) == {"publish", "new_draft"}
    versions.publish(draft, by="lisa")
    assert offered(draft) == {"new_draft"}
    newer = versions.draft("hello", says("Good morning"), by="lisa")
    versions.publish(newer, by="lisa")
    assert offered(draft) == {"roll_back", "new_draft"}
