"""Before a publish the operator sees the changes, the languages, the use and the variables."""

from __future__ import annotations

import dataclasses
import functools
import json

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from notifications.core import conf
from notifications.core.models import Template
from notifications.core.rules.attachments import WrongFiles
from notifications.core.rules.templates import contents
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.store.templates import files, rows, versions
from providers.contract import Channel
from tests import interleaving
from tests.admin.confirming import confirm, shown

pytestmark = pytest.mark.django_db


def draft(*texts: tuple[Channel, str, str], by: str = "author") -> Template:
    words = [
        contents.words(channel, locale, title="Hi", body=body) for channel, locale, body in texts
    ]
    return versions.draft("hello", contents.content(words, {}), by=by)


def page(version: Template, name: str = "publish") -> str:
    return f"/admin/notifications/template/{version.pk}/{name}/"


def test_the_page_has_the_changes_and_the_languages(door: Client) -> None:
    first = draft((Channel.PUSH, "en", "one"))
    assert "has no published version yet" in door.get(page(first)).content.decode()
    versions.publish(first, by="author")
    second = draft((Channel.PUSH, "en", "two"), (Channel.EMAIL, "de", "zwei"))
    shown = door.get(page(second)).content.decode()
    assert "nc-changed" in shown
    assert "de: people get en" in shown
    assert "No notification used this template" in shown


def test_variables_are_derived_and_declared_with_the_publish(door: Client) -> None:
    version = draft((Channel.PUSH, "en", "{{ order_id }}"), (Channel.PUSH, "de", "{{ order_id }}"))
    shown = door.get(page(version)).content.decode()
    assert 'name="declare" value="yes" checked' in shown
    confirm(door, page(version), {"declare": "yes"})
    version.refresh_from_db()
    assert version.published_at is not None
    assert [each["name"] for each in version.variables] == ["order_id"]


def test_a_misspelt_name_is_marked_and_not_published_by_accident(door: Client) -> None:
    version = draft((Channel.PUSH, "en", "{{ order_id }}"), (Channel.PUSH, "ar", "{{ ordr_id }}"))
    shown = door.get(page(version)).content.decode()
    assert "a typing error?" in shown
    assert 'name="declare" value="yes">' in shown
    told = confirm(door, page(version), follow=True).content.decode()
    assert "no other language needs ordr_id" in told
    version.refresh_from_db()
    assert version.published_at is None


def test_nothing_is_declared_without_the_tick(door: Client) -> None:
    version = draft((Channel.PUSH, "en", "{{ order_id }}"))
    confirm(door, page(version))
    version.refresh_from_db()
    assert version.published_at is not None
    assert version.variables == []


def test_a_second_person_publishes_where_the_installation_wants_it(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = dataclasses.replace(conf.current(), publish_needs_second_person=True)
    monkeypatch.setattr(conf, "current", lambda: strict)
    upload = "/admin/notifications/template/upload/"
    assert 'name="publish"' not in door.get(upload).content.decode()
    assert door.post(upload, {"publish": "yes"}).status_code == 403
    version = draft((Channel.PUSH, "en", "one"), by="operator")
    assert "Not to be published by you" in door.get(page(version)).content.decode()
    assert "wants another publisher" in confirm(door, page(version), follow=True).content.decode()
    version.refresh_from_db()
    assert version.published_at is None
    other = User.objects.create_user("publisher", password="x", is_staff=True)
    other.user_permissions.set(
        Permission.objects.filter(codename__in=["view_template", "publish_template"])
    )
    client = Client()
    client.force_login(other)
    confirm(client, page(version))
    version.refresh_from_db()
    assert version.published_by == "publisher"


@pytest.mark.django_db(transaction=True)
def test_who_edits_during_a_publish_does_not_publish_the_edit(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = dataclasses.replace(conf.current(), publish_needs_second_person=True)
    monkeypatch.setattr(conf, "current", lambda: strict)
    version, refused = draft((Channel.EMAIL, "en", "one")), list[str]()
    add = functools.partial(
        files.with_file,
        file=files.store("text/plain", b"terms"),
        name="terms.txt",
        inline_id=None,
    )

    def attach() -> None:
        try:
            versions.edit_files(version, add, by="operator")
        except WrongFiles as error:
            refused.append(str(error))

    with interleaving.before(('UPDATE "notifications_template" SET "variables"', attach)):
        confirm(door, page(version), {"declare": "yes"})
    assert refused == ["This version is published. Make a new draft from it."]
    version.refresh_from_db()
    assert (version.published_by, version.attachments) == ("operator", [])


def test_a_draft_that_changed_since_the_page_was_shown_is_shown_again(door: Client) -> None:
    version = draft((Channel.PUSH, "en", "one"))
    seen = shown(door.get(page(version)).content)
    words = contents.words(Channel.PUSH, "en", body="two")
    versions.edit(version, contents.content([words]), by="x")
    for fields in ({}, {"shown": "x"}, seen):
        again = door.post(page(version), fields).content
        assert b"Nothing is published: somebody changed the draft" in again
        assert b'id="publish"' in again
        version.refresh_from_db()
        assert version.published_at is None
    door.post(page(version), shown(door.post(page(version), seen).content))
    version.refresh_from_db()
    assert version.published_by == "operator"


def test_another_version_or_a_setting_or_a_file_is_a_change_too(door: Client) -> None:
    first = draft((Channel.EMAIL, "en", "one"))
    second = draft((Channel.EMAIL, "en", "two"))
    seen = shown(door.get(page(second)).content)
    versions.publish(first, by="x")
    again = door.post(page(second), seen)
    assert b"Nothing is published" in again.content
    seen = shown(again.content)
    Template.objects.filter(pk=second.pk).update(sensitive_variables=["code"])
    again = door.post(page(second), seen)
    assert b"Nothing is published" in again.content
    stored = files.store("text/plain", b"terms")
    add = functools.partial(files.with_file, file=stored, name="a.txt", inline_id=None)
    versions.edit_files(second, add, by="x")
    assert b"Nothing is published" in door.post(page(second), shown(again.content)).content
    confirm(door, page(second))
    second.refresh_from_db()
    assert second.published_at is not None


@pytest.mark.django_db(transaction=True)
def test_an_edit_beside_the_click_is_not_published(door: Client) -> None:
    version = draft((Channel.PUSH, "en", "one"))
    seen = shown(door.get(page(version)).content)
    changed = contents.content([contents.words(Channel.PUSH, "en", body="two")])
    edit = functools.partial(versions.edit, version, changed, by="x")
    with interleaving.before(("FOR UPDATE", edit)):
        answer = door.post(page(version), seen)
    assert b"Nothing is published" in answer.content
    version.refresh_from_db()
    assert version.published_at is None


def test_a_warning_leaves_the_page_when_it_is_mended(door: Client) -> None:
    version = draft((Channel.PUSH, "en", "{{ a }}"), (Channel.PUSH, "de", "{{ b }}"))
    assert "no other language needs" in door.get(page(version, "editor")).content.decode()
    form = {"do": "save", "locale": "de", "push-title": "Hi", "push-body": "{{ a }}"}
    answer = json.loads(door.post(page(version, "editor"), form).content)
    assert answer["objections"].strip() == ""
    broken = json.loads(door.post(page(version, "editor"), form | {"push-body": "x\n{{ a"}).content)
    assert broken["fault"] == "push de, text, line 2: {{ has no closing }}."


def test_a_test_to_an_operator_without_a_mailbox_says_so(door: Client) -> None:
    version = draft((Channel.EMAIL, "en", "hello"))
    form = {"do": "send_me", "channel": "email", "locale": "en"}
    form |= {"email-title": "Hi", "email-body": "hello"}
    answer = json.loads(door.post(page(version, "editor"), form).content)
    assert answer["fault"] == "The account has no e-mail address. An owner enters it under Users."


def test_a_test_goes_to_the_list_of_the_panel(door: Client) -> None:
    group = Group.objects.create(name="test: team")
    group.user_set.add(User.objects.create_user("carl"))
    version = draft((Channel.EMAIL, "en", "hello"))
    assert "team (1)" in door.get(page(version, "editor")).content.decode()
    form = {"do": "send_list", "channel": "email", "locale": "en", "email-test-list": "team"}
    form |= {"email-title": "Hi", "email-body": "hello"}
    answer = json.loads(door.post(page(version, "editor"), form).content)
    assert answer["fault"].startswith("Accepted for 0 of 1.\ncarl: The account has no")


def test_a_new_template_opens_the_editor(door: Client) -> None:
    form = {
        "template_id": "fresh",
        "default_locale": "en",
        "variables": "[]",
        "fallback_on": "",
        "confirm_seconds": "0",
        "texts-TOTAL_FORMS": "0",
        "texts-INITIAL_FORMS": "0",
    }
    answer = door.post("/admin/notifications/template/add/", form)
    made = Template.objects.get(template_id="fresh")
    assert answer.headers["Location"] == page(made, "editor")


def test_content_is_untouched_by_a_refused_publish(door: Client) -> None:
    version = draft((Channel.PUSH, "en", ""))
    before: TemplateContent = versions.content_of(version)
    confirm(door, page(version), {"declare": "yes"})
    assert versions.content_of(Template.objects.get(pk=version.pk)) == before


def test_who_drafts_does_not_publish() -> None:
    template = Template.objects.create(template_id="hello")
    author = User.objects.create_user("author", password="x", is_staff=True)
    author.user_permissions.set(
        Permission.objects.filter(codename__in=["view_template", "change_template"])
    )
    client = Client()
    client.force_login(author)
    assert client.get(f"/admin/notifications/template/{template.pk}/draft/").status_code == 200
    assert client.post(f"/admin/notifications/template/{template.pk}/publish/").status_code == 403
    upload = client.post("/admin/notifications/template/upload/", {"publish": "yes"})
    assert upload.status_code == 403
    template.refresh_from_db()
    assert template.published_at is None


def test_an_edit_while_the_page_is_made_is_not_published_unseen(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = draft((Channel.PUSH, "en", "one"))
    objections = rows.objections

    def edit(shown_version: Template) -> list[str]:
        monkeypatch.undo()
        words = [contents.words(Channel.PUSH, "en", title="Hi", body="two")]
        versions.edit(Template.objects.get(pk=version.pk), contents.content(words, {}), by="other")
        return objections(shown_version)

    monkeypatch.setattr(rows, "objections", edit)
    seen = shown(door.get(page(version)).content)
    assert b"Nothing is published" in door.post(page(version), seen).content
