"""The text of a bulk job is in no list of templates, and has no other author."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import Template
from notifications.core.rules.templates import contents
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import import_export, versions
from notifications.core.store.templates.versions import NotPublishable
from notifications.features.template_studio import translations
from notifications.features.template_studio.rules.units import TranslatedFile, WrongTranslation
from providers.contract import Channel

CHANGELIST = reverse("admin:notifications_template_changelist")
SEARCH = reverse("admin:search")
CONTENT = contents.content(
    [TextSource(channel=Channel.SMS, locale="en", body="Closed")], {"default_locale": "en"}
)
RESERVED = "belongs to the text of a bulk job"


@pytest.fixture
def text(db: None) -> Template:  # noqa: ARG001 - asked for by name
    """The text of a bulk job, beside a template."""
    versions.draft("winter_sale", CONTENT, by="maria")
    return versions.publish_once(clock.new_notification_id(), CONTENT, by="maria")


def test_the_list_has_the_text_when_an_operator_asks(door: Client, text: Template) -> None:
    names = {text.template_id, "winter_sale"}

    def listed(**query: str) -> set[str]:
        page = door.get(CHANGELIST, query).content.decode()
        return {each for each in names if each in page}

    assert listed() == {"winter_sale"}
    assert listed(one_off="only") == {text.template_id}
    assert listed(one_off="with") == names


def test_the_search_of_the_admin_finds_the_text_by_its_whole_name(
    door: Client, text: Template
) -> None:
    def found(term: str) -> str:
        return door.get(SEARCH, {"s": term, "extended": "1"}).content.decode()

    page = reverse("admin:notifications_template_change", args=[text.pk])
    assert page in found(text.template_id)
    assert page not in found("one-off")


def test_no_other_author_takes_the_name(door: Client, text: Template) -> None:
    name = text.template_id
    with pytest.raises(NotPublishable, match=RESERVED):
        versions.draft(name, CONTENT, by="maria")
    with pytest.raises(BrokenFiles, match=RESERVED):
        import_export.load(name, {"sms.en.txt": "Hello"}, by="maria", publish=True)
    file = TranslatedFile(template_id=name, source="en", target="de")
    with pytest.raises(WrongTranslation, match=RESERVED):
        translations.load([file], by="maria")
    added = {"template_id": name, "default_locale": "en"}
    answer = door.post(reverse("admin:notifications_template_add"), added)
    assert f"This name {RESERVED}" in answer.content.decode()
    page = reverse("admin:notifications_template_change", args=[text.pk])
    assert "New draft from this" not in door.get(page).content.decode()
    editor = door.get(reverse("admin:notifications_template_editor", args=[text.pk]))
    offers = ("ew draft", ">Translate<", "Attachments")
    assert not [each for each in offers if each in editor.content.decode()]
    door.post(reverse("admin:notifications_template_new_draft", args=[text.pk]))
    assert Template.objects.get(template_id=name) == text
