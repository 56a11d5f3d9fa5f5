"""The editor renders what is typed, saves one locale of a draft, and sends to the sandbox.

An author cannot see who looks at a preview.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core.models import Delivery, Notification, Template, TemplateText
from notifications.core.rules.in_app import Action, InAppPart
from notifications.core.rules.lane import Mode
from notifications.core.rules.templates import contents
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.redis import state
from notifications.core.store.templates import versions
from notifyproj.csp import HEADER
from providers.contract import Channel


@pytest.fixture
def draft(db: None) -> Template:  # noqa: ARG001 - asked for by name
    state.client().flushdb()
    words = contents.words
    texts = [
        words(Channel.EMAIL, "en", title="Hi", body="Hello {{ name }}", html="<b>{{ name }}</b>"),
        words(Channel.SMS, "en", body="Hello {{ name }}"),
        words(Channel.SMS, "pt", body="Olá {{ name }}"),
    ]
    return versions.draft("hello", contents.content(texts), by="ana")


def url(version: Template) -> str:
    return reverse("admin:notifications_template_editor", args=[version.pk])


def ask(door: Client, version: Template, do: str, **fields: str) -> dict[str, Any]:
    answer = door.post(url(version), {"do": do, "locale": "en", **fields})
    assert answer.status_code == 200, answer.content
    told: dict[str, Any] = answer.json()
    return told


def typed(name: str = "Ana", **sources: str) -> dict[str, str]:
    fields = {f"{part.replace('_', '-', 1)}": source for part, source in sources.items()}
    return {"variables": json.dumps({"name": name}), **fields}


def said(version: Template) -> dict[str, str]:
    texts = versions.content_of(version).texts
    return {f"{text.channel.label} {text.locale}": text.body for text in texts}


def test_the_page_shows_each_channel_and_warns_where_a_locale_has_none(
    door: Client, draft: Template
) -> None:
    shown = door.get(url(draft), {"locale": "pt"}).content.decode()
    assert "Olá Name" in shown
    assert "No text of its own: people get en." in shown
    added = door.get(url(draft), {"locale": "fr", "channel": "chat"}).content.decode()
    assert 'name="chat-title"' in added


def test_what_is_typed_is_rendered_escaped_and_measured(door: Client, draft: Template) -> None:
    fields = typed("<i>é", email_title="Hi", email_body="Hello {{ name }}", email_html="{{ name }}")
    frame = ask(door, draft, "render", **fields)["frames"]["email"]
    assert "Hello &lt;i&gt;é" in frame
    assert "<i>é" not in frame
    assert "&amp;lt;i&amp;gt;é" in frame
    assert "title 2 bytes, body 11 bytes, html " in frame
    assert said(draft)["email en"] == "Hello {{ name }}"


def mail_of(version: Template) -> TextSource:
    texts = versions.content_of(version).texts
    return next(text for text in texts if text.channel is Channel.EMAIL)


def test_a_mail_is_saved_in_blocks_or_as_html(door: Client, draft: Template) -> None:
    fields = typed(email_title="Hi", email_body="b", email_html="<i>h</i>", email_blocks="# B")
    assert not ask(door, draft, "save", **fields | {"email-written-as": "blocks"})["fault"]
    mail = mail_of(draft)
    assert (mail.blocks, "B</h1>" in mail.html) == ("# B", True)
    assert "B</h1>" not in door.get(url(draft)).content.decode().partition("nc-frame")[0]
    broken = fields | {"email-written-as": "blocks", "email-blocks": "a\n::: end"}
    fault = ask(door, draft, "save", **broken)["fault"]
    assert fault == "email en, blocks, line 2: end: no block is open that it belongs to."
    assert mail_of(draft) == mail
    assert not ask(door, draft, "save", **fields | {"email-written-as": "html"})["fault"]
    mail = mail_of(draft)
    assert (mail.blocks, mail.html, mail.body) == ("", "<i>h</i>", "b")


def test_an_in_app_text_has_fields_for_its_link_image_and_actions(
    door: Client, draft: Template
) -> None:
    shown = door.get(url(draft), {"channel": "in_app"}).content.decode()
    assert 'name="in_app-image_url"' in shown
    assert 'name="in_app-action-1-label"' in shown
    fields = {"in_app-title": "Hi", "in_app-body": "Hello", "in_app-url": "/orders/{{ name }}"}
    action = {"in_app-action-1-id": "yes", "in_app-action-1-label": "Yes, {{ name }}"}
    assert not ask(door, draft, "save", **fields, **action)["fault"]
    [text] = [each for each in versions.content_of(draft).texts if each.channel is Channel.IN_APP]
    assert text.in_app == InAppPart("/orders/{{ name }}", "", (Action("yes", "Yes, {{ name }}"),))
    shown = door.get(url(draft)).content.decode()
    assert "Yes, {{ name }}" in shown
    assert 'name="in_app-action-2-label"' in shown
    wrong = {"in_app-action-1-id": "yes", "in_app-action-1-label": ""}
    told = ask(door, draft, "save", **fields, **wrong)["fault"]
    assert told == "in_app en, actions.0.label must not be empty."


def test_a_push_text_has_fields_for_its_link_and_image(door: Client, draft: Template) -> None:
    shown = door.get(url(draft), {"channel": "push"}).content.decode()
    assert 'name="push-url"' in shown
    assert 'name="push-action-1-label"' not in shown
    fields = {"push-title": "Hi", "push-body": "Hello", "push-url": "/orders/{{ name }}"}
    frame = ask(door, draft, "render", **typed("7"), **fields)["frames"]["push"]
    assert 'Opens <span class="nc-mono">/orders/7</span>' in frame
    assert not ask(door, draft, "save", **fields)["fault"]
    [text] = [each for each in versions.content_of(draft).texts if each.channel is Channel.PUSH]
    assert text.in_app == InAppPart("/orders/{{ name }}")


def test_the_fields_of_an_action_of_a_variant_do_not_seem_to_have_base_values(
    door: Client, draft: Template
) -> None:
    action = {"id": "track", "label": "Track it", "url": "/orders/1"}
    part = {"url": "/orders", "actions": [action]}
    draft.texts.create(channel=Channel.IN_APP, locale="en", title="Hi", body="B", in_app=part)
    tab = door.get(url(draft), {"variant": "b"}).content.decode()
    assert 'placeholder="/orders"' in tab
    assert 'placeholder="Track it"' not in tab
    assert "and so are all actions" in tab


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("{{ absent }}", "the variable &#x27;absent&#x27; is missing"),
        ("fine\n{{ x.__class__ }}", "text, line 2: __class__"),
        ("{{ absent|default('x') }}", "Not among the sample variables: absent"),
    ],
)
def test_a_frame_says_what_is_wrong(door: Client, draft: Template, source: str, told: str) -> None:
    assert told in ask(door, draft, "render", **typed(sms_body=source))["frames"]["sms"]


def test_the_page_begins_with_the_examples_and_says_what_keeps_it_from_being_published(
    door: Client, draft: Template
) -> None:
    draft.variables = [{"name": "city", "type": "string", "example": "Lima"}]
    draft.save()
    shown = door.get(url(draft)).content.decode()
    assert "Lima" in shown
    assert "Not to be published: sms en: it needs name" in shown


def test_a_frame_counts_segments_and_says_what_is_too_long(door: Client, draft: Template) -> None:
    draft.texts.filter(channel=Channel.SMS).update(max_segments=1)
    frame = ask(door, draft, "render", **typed(sms_body="ê" * 71))["frames"]["sms"]
    assert "2 segments (71 units of UCS-2)" in frame
    assert "2 segments; its limit is 1." in frame
    push = ask(door, draft, "render", **typed(push_title="Hi", push_body="a" * 9_000))
    assert "cut off at the end" in push["frames"]["push"]


def test_saving_keeps_how_an_sms_is_sent(door: Client, draft: Template) -> None:
    draft.texts.filter(channel=Channel.SMS).update(max_segments=1, transliterate=True)
    ask(door, draft, "save", **typed(sms_body="Good morning"))
    kept = draft.texts.get(channel=Channel.SMS, locale="en")
    assert (kept.body, kept.max_segments, kept.transliterate) == ("Good morning", 1, True)


def test_saving_keeps_the_template_of_a_vendor(door: Client, draft: Template) -> None:
    template = {"ids": {"whatsapp": "shipped/en"}, "parameters": ["{{ name }}"]}
    draft.texts.create(channel=Channel.CHAT, locale="en", body="Hi", vendor_template=template)
    ask(door, draft, "save", **typed(chat_body="Good morning"))
    kept = draft.texts.get(channel=Channel.CHAT)
    assert (kept.body, kept.vendor_template) == ("Good morning", template)


def test_an_empty_text_shows_what_people_get_instead(door: Client, draft: Template) -> None:
    frame = ask(door, draft, "render", **typed(sms_body="") | {"locale": "en"})["frames"]["sms"]
    assert "people get pt" in frame
    assert "Olá Ana" in frame


@pytest.mark.parametrize(
    ("variables", "told"), [("[1]", "must be a JSON object"), ("{", "are not JSON")]
)
def test_variables_that_are_none_are_told(
    door: Client, draft: Template, variables: str, told: str
) -> None:
    assert told in ask(door, draft, "render", variables=variables)["fault"]


def test_saving_stores_one_locale_and_leaves_the_others(door: Client, draft: Template) -> None:
    fields = typed(sms_body="Good morning\r\n", email_title="Hi", email_body="", email_html="")
    assert "the text is empty" in ask(door, draft, "save", **fields)["fault"]
    assert said(draft)["sms en"] == "Hello {{ name }}"
    assert ask(door, draft, "save", **fields | {"email-title": ""})["fault"] == ""
    assert said(draft) == {"sms en": "Good morning", "sms pt": "Olá {{ name }}"}
    added = typed(chat_title="", chat_body="Salut")
    assert ask(door, draft, "save", **added | {"locale": "fr_ca"})["fault"] == ""
    assert said(draft)["chat fr-CA"] == "Salut"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"sms-body": "{{ x() }}"}, "sms en, text, line 1"),
        ({"sms-body": "x", "locale": "no locale"}, "Unknown locale"),
    ],
)
def test_a_fault_keeps_everything_as_it_was(
    door: Client, draft: Template, fields: dict[str, str], told: str
) -> None:
    before = said(draft)
    assert told in ask(door, draft, "save", **fields)["fault"]
    assert said(draft) == before


def test_a_published_version_is_not_saved(door: Client, draft: Template) -> None:
    versions.publish(draft, by="ana")
    assert "is published" in ask(door, draft, "save", **typed(sms_body="x"))["fault"]
    assert said(draft)["sms en"] == "Hello {{ name }}"


def test_who_may_only_look_can_render_and_nothing_else(window: Client, draft: Template) -> None:
    assert window.get(url(draft)).status_code == 200
    assert ask(window, draft, "render", **typed(sms_body="x"))["frames"]
    for do in ("save", "send"):
        answer = window.post(url(draft), {"do": do, "sms-body": "x", "channel": "sms"})
        assert answer.status_code == 403


def test_a_test_send_is_a_real_notification_in_test_mode(door: Client, draft: Template) -> None:
    told = ask(door, draft, "send", **typed(sms_body="Hi {{ name }}"), channel="sms")["told"]
    notification = Notification.objects.get()
    assert (notification.mode, notification.content) == (
        Mode.TEST,
        {"title": "", "body": "Hi Ana", "html": ""},
    )
    assert Delivery.objects.get().channel == Channel.SMS
    assert str(notification.pk) in told
    assert "received by the sandbox" in told


@pytest.mark.parametrize("body", ["{{ absent }}", ""])
def test_what_cannot_be_rendered_is_not_sent(door: Client, draft: Template, body: str) -> None:
    assert ask(door, draft, "send", **typed(sms_body=body), channel="sms")["fault"]
    assert not Notification.objects.exists()


def test_a_published_version_can_be_sent_too(door: Client, draft: Template) -> None:
    versions.publish(draft, by="ana")
    ask(door, draft, "send", **typed(email_title="Hi", email_body="Hello"), channel="email")
    assert Notification.objects.count() == 1


def test_content_survives_the_way_through_the_form(door: Client, draft: Template) -> None:
    before: TemplateContent = versions.content_of(draft)
    texts = {text.channel.label: text for text in before.texts if text.locale == "en"}
    fields = {
        f"{label}-{part}": getattr(text, part).replace("\n", "\r\n")
        for label, text in texts.items()
        for part in ("title", "body", "html")
    }
    ask(door, draft, "save", **fields)
    assert versions.content_of(draft) == before


def test_a_frame_is_laid_out_the_way_its_locale_is_written(door: Client, draft: Template) -> None:
    arabic = ask(door, draft, "render", **typed(sms_body="482913") | {"locale": "ar"})
    assert '<div class="nc-bubble" dir="rtl">482913' in arabic["frames"]["sms"]
    english = ask(door, draft, "render", **typed(sms_body="482913"))
    assert '<div class="nc-bubble" dir="ltr">482913' in english["frames"]["sms"]


def test_what_producers_get_now_is_not_rolled_back_to(door: Client, draft: Template) -> None:
    back = reverse("admin:notifications_template_roll_back", args=[draft.pk])
    versions.publish(draft, by="lisa")
    shown = door.get(url(draft)).content.decode()
    assert "published by lisa on" in shown
    assert back not in shown
    newer = versions.draft("hello", versions.content_of(draft), by="ana")
    versions.publish(newer, by="ana")
    assert back in door.get(url(draft)).content.decode()


@pytest.mark.parametrize(("locale", "direction"), [("en", "ltr"), ("ar", "rtl")])
def test_the_editor_draws_the_row_of_the_inbox_in_light_and_dark(
    door: Client, locale: str, direction: str
) -> None:
    version = Template.objects.create(template_id="ready")
    TemplateText.objects.create(
        template=version,
        channel=Channel.IN_APP,
        locale=locale,
        title="Ready",
        body="Your order",
        in_app={"url": "/orders/1", "actions": [{"id": "track", "label": "Track it"}]},
    )
    page = door.get(f"/admin/notifications/template/{version.pk}/editor/?locale={locale}")
    text = page.content.decode()
    assert "ni ni-light" in text
    assert "ni ni-dark" in text
    assert f'ni-row ni-unread" dir="{direction}"' in text
    assert "callback track to the producer" in text
    assert "ni-more" not in text  # the row of a single message


def test_a_preview_loads_no_picture_from_elsewhere(door: Client) -> None:
    template = Template.objects.create(template_id="hello")
    page = door.get(f"/admin/notifications/template/{template.pk}/editor/")
    assert "img-src 'self' data:;" in page[HEADER]  # a frame without an address inherits it


def test_a_save_keeps_the_texts_of_channels_that_the_page_did_not_show(
    door: Client, draft: Template
) -> None:
    place = {"template": draft, "channel": Channel.PUSH, "locale": "en"}
    TemplateText.objects.create(**place, title="Added", body="in another tab")
    TemplateText.objects.create(**place, variant="b", title="Its variant")
    form = typed(email_title="Hi", email_body="Hello", sms_body="Hello")
    assert not ask(door, draft, "save", **form)["fault"]
    assert draft.texts.filter(channel=Channel.PUSH).count() == 2


def test_a_variant_is_added_previewed_compared_and_removed(door: Client, draft: Template) -> None:
    tab = door.get(url(draft), {"variant": "b"}).content.decode()
    assert 'placeholder="Hi"' in tab
    assert "No text of its own: people get en, the base text." in tab
    copied = door.get(url(draft), {"variant": "b", "channel": "email", "copy": "yes"})
    assert {panel.words.channel: panel.words.body for panel in copied.context["panels"]} == {
        Channel.EMAIL: "Hello {{ name }}",
        Channel.SMS: "",
    }
    fields = typed(email_title="Last day", email_body="", sms_body="", variant="b")
    frames = ask(door, draft, "render", **fields)["frames"]
    assert "Last day" in frames["email"]
    assert "Hello Ana" in frames["email"]
    assert "people get en, the base text" in frames["sms"]
    assert not ask(door, draft, "save", **fields)["fault"]
    stored = draft.texts.values_list("channel", "variant", "title", "body")
    assert (Channel.EMAIL, "b", "Last day", "") in stored
    assert (Channel.EMAIL, "", "Hi", "Hello {{ name }}") in stored
    assert len(stored) == 4
    assert "variant=b" in door.get(url(draft)).content.decode()
    page = reverse("admin:notifications_template_publish", args=[draft.pk])
    shown = door.get(page).content.decode()
    assert "email, variant b" in shown
    assert "email en, variant b: " in shown
    base = {"email-title": "", "email-body": "", "email-html": "", "sms-body": "x"}
    fault = ask(door, draft, "save", **base)["fault"]
    assert fault == ("email en, variant b needs a base text: add email en without a variant.")
    assert not ask(door, draft, "save", variant="b", **(base | {"sms-body": ""}))["fault"]
    assert {text.variant for text in draft.texts.all()} == {""}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"variant": "B!", "sms_body": "x"}, "the name of a variant must be up to 32 of a-z"),
        ({"variant": "b", "push_title": "x"}, "push en, variant b needs a base text"),
        ({"variant": "b", "sms_body": "{{ x"}, "sms en, variant b, text, line 1"),
    ],
)
def test_a_wrong_variant_is_not_saved(
    door: Client, draft: Template, fields: dict[str, str], told: str
) -> None:
    given = typed(**fields) | ({"push-body": ""} if "push_title" in fields else {})
    assert told in ask(door, draft, "save", **given)["fault"]
    assert draft.texts.count() == 3
