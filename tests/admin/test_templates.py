"""An author writes, sees faults by line, looks at a preview, publishes; what is published stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from notifications.models import Template, TemplateText
from providers.contract import Channel

ADD = reverse("admin:notifications_template_add")


def form(**text: str) -> dict[str, Any]:
    words = {"channel": int(Channel.EMAIL), "locale": "pt_br", "title": "", "body": "x", "html": ""}
    inline = {f"texts-0-{name}": value for name, value in (words | text).items()}
    management = {"texts-TOTAL_FORMS": 1, "texts-INITIAL_FORMS": 0}
    about = {"template_id": "hello", "sensitive_variables": "", "note": ""}
    return about | {"default_locale": "en", "variables": "[]"} | management | inline


def page(name: str, template: Template) -> str:
    return reverse(f"admin:notifications_template_{name}", args=[template.pk])


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


def test_a_fault_is_told_with_its_line_and_nothing_is_saved(door: Client) -> None:
    answer = door.post(ADD, form(body="fine\n{{ x.__class__ }}"))
    assert "Line 2: __class__: names must not begin with an underscore." in answer.content.decode()
    assert not Template.objects.exists()


def test_publishing_freezes_a_version(door: Client, draft: Template) -> None:
    door.post(page("publish", draft))
    draft.refresh_from_db()
    assert draft.published_at is not None
    door.post(page("change", draft), form(body="changed"))
    assert draft.texts.get().body == "Hello {{ name }}"


def test_a_link_publishes_nothing(door: Client, draft: Template) -> None:
    assert "Publish: hello v1" in door.get(page("publish", draft)).content.decode()
    draft.refresh_from_db()
    assert draft.published_at is None


def test_a_version_without_texts_is_not_published(door: Client) -> None:
    empty = Template.objects.create(template_id="empty")
    told = door.post(page("publish", empty), follow=True)
    assert "without a text cannot be published" in told.content.decode()
    empty.refresh_from_db()
    assert empty.published_at is None


def test_a_new_draft_takes_texts_and_secrets_along(door: Client, draft: Template) -> None:
    door.post(page("publish", draft))
    door.post(page("new_draft", draft))
    copy = Template.objects.get(template_id="hello", version=2)
    assert copy.published_at is None
    assert copy.sensitive_variables == ["code"]
    assert (copy.variables, copy.default_locale) == (draft.variables, "de")
    assert copy.texts.get().html == "<b>{{ name }}</b>"


def test_who_may_only_look_publishes_nothing(window: Client, draft: Template) -> None:
    assert window.post(page("publish", draft)).status_code == 403
    draft.refresh_from_db()
    assert draft.published_at is None


def test_a_preview_renders_escapes_and_measures(door: Client, draft: Template) -> None:
    variables = json.dumps({"name": "<i>é"})
    shown = door.get(page("preview", draft), {"variables": variables})
    rendered = shown.context["preview"].rendered
    assert rendered.body == "Hello <i>é"
    assert "<b>&lt;i&gt;é</b>" in rendered.html
    sizes = dict(shown.context["preview"].sizes)
    assert (sizes["title"], sizes["body"]) == (8, 11)
    assert sizes["html"] == len(rendered.html.encode())
    assert "<iframe sandbox " in shown.content.decode()
    assert "Hello <i>" not in shown.content.decode()


@pytest.mark.parametrize(
    ("variables", "told"),
    [("{}", "Missing: name"), ("[1]", "are a JSON object"), ("{", "are not JSON")],
)
def test_a_preview_says_what_is_wrong(
    door: Client, draft: Template, variables: str, told: str
) -> None:
    shown = door.get(page("preview", draft), {"variables": variables})
    assert told in shown.content.decode()


def test_a_preview_begins_with_the_declared_examples(door: Client, draft: Template) -> None:
    shown = door.get(page("preview", draft))
    assert shown.context["preview"].rendered.body == "Hello Ada"


def test_a_preview_counts_segments_and_says_what_is_too_long(door: Client, draft: Template) -> None:
    text = TemplateText.objects.create(
        template=draft, channel=Channel.SMS, body="ê" * 71, max_segments=1
    )
    shown = door.get(page("preview", draft), {"text": text.pk}).content.decode()
    assert "2 segments (71 units of UCS-2)" in shown
    assert "2 segments; its limit is 1." in shown
    push = TemplateText.objects.create(template=draft, channel=Channel.PUSH, body="a" * 9_000)
    assert "cut off at the end" in (
        door.get(page("preview", draft), {"text": push.pk}).content.decode()
    )


def test_what_is_not_fit_for_sending_is_not_published(door: Client, draft: Template) -> None:
    TemplateText.objects.create(template=draft, channel=Channel.SMS, body="{{ other }}")
    told = door.post(page("publish", draft), follow=True).content.decode()
    assert "sms en: it needs other, which no producer has to send" in told
    draft.refresh_from_db()
    assert draft.published_at is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"default_locale": "klingon"}, "CLDR knows no such locale"),
        ({"texts-0-locale": "no such"}, "CLDR knows no such locale"),
        ({"variables": '[{"name": "a", "type": "text"}]'}, "its type is one of string"),
        ({"variables": "["}, "valid JSON"),
    ],
)
def test_what_means_nothing_is_not_saved(door: Client, fields: dict[str, str], told: str) -> None:
    assert told in door.post(ADD, form() | fields).content.decode()
    assert not Template.objects.exists()
