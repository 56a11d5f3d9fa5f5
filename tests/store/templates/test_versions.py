"""Versions: numbered, published once, rolled back as a new one, and fixed from then on."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from notifications.core.models import Template, TemplateEvent, TemplateText
from notifications.core.rules.templates import contents
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.store.templates import versions
from notifications.core.store.templates.versions import NotPublishable
from providers.contract import Channel

pytestmark = pytest.mark.django_db

SETTINGS = {
    "variables": [],
    "default_locale": "en",
    "fallback_on": "",
    "confirm_seconds": 0,
    "attachments": [],
}


def says(body: str, *, sensitive: str = "code", dropped: str = "") -> TemplateContent:
    text = contents.words(Channel.SMS, "en", body=body)
    names = {"sensitive_variables": sensitive.split(), "no_longer_sensitive": dropped.split()}
    return contents.content([text], SETTINGS | names)


def published(body: str) -> Template:
    made = versions.draft("hello", says(body), by="ana")
    return versions.publish(made, by="ben")


def history() -> list[tuple[int, str, str]]:
    events = TemplateEvent.objects.order_by("pk")
    return [(event.version, event.verb, event.by) for event in events]


def aged(version: Template) -> Template:
    """As if it had been published in an earlier transaction; a test has only one."""
    with transaction.atomic():
        transaction.get_connection().cursor().execute(
            "ALTER TABLE notifications_template DISABLE TRIGGER template_stays;"
            " UPDATE notifications_template SET published_at = now() - interval '1 hour'"
            " WHERE published_at IS NOT NULL;"
            " ALTER TABLE notifications_template ENABLE TRIGGER template_stays"
        )
    version.refresh_from_db()
    return version


def test_a_version_knows_who_drafted_and_who_published_it() -> None:
    made = published("one")
    assert (made.version, made.created_by, made.published_by) == (1, "ana", "ben")
    assert history() == [(1, "drafted", "ana"), (1, "published", "ben")]
    assert versions.current("hello") == made


def test_a_draft_is_not_current_and_may_be_edited() -> None:
    published("one")
    draft = versions.draft("hello", says("two"), by="ana")
    versions.edit(draft, says("three"), by="cleo")
    assert versions.content_of(draft) == says("three")
    current = versions.current("hello")
    assert current is not None
    assert current.version == 1
    assert history()[-1] == (2, "edited", "cleo")


def test_rolling_back_publishes_the_old_words_as_a_new_version() -> None:
    old = published("one")
    published("two")
    made = versions.roll_back(old, by="ana")
    assert (made.version, made.note) == (3, "Back to version 1")
    assert versions.content_of(made) == says("one")
    assert versions.current("hello") == made
    assert history()[-1] == (3, "rolled back", "ana")


def test_what_cannot_become_current_is_refused_with_its_reason() -> None:
    with pytest.raises(NotPublishable, match="without a text"):
        versions.publish(Template.objects.create(template_id="empty"), by="ana")
    first = versions.draft("hello", says("one"), by="ana")
    with pytest.raises(NotPublishable, match="never published"):
        versions.roll_back(first, by="ana")
    second = published("two")
    with pytest.raises(NotPublishable, match="v2 is newer"):
        versions.publish(first, by="ana")
    with pytest.raises(NotPublishable, match="published already"):
        versions.publish(second, by="ana")
    with pytest.raises(NotPublishable, match="says the same"):
        versions.roll_back(second, by="ana")
    faulty = versions.draft("hello", says("{{ x.__class__ }}"), by="ana")
    with pytest.raises(NotPublishable, match="names must not begin with an underscore"):
        versions.publish(faulty, by="ana")


def test_a_version_that_drops_a_sensitive_variable_says_so_or_is_refused() -> None:
    published("one {{ code }}")
    silent = versions.draft("hello", says("two {{ code }}", sensitive=""), by="ana")
    with pytest.raises(NotPublishable, match=r"^code: sensitive in hello v1 and not here"):
        versions.publish(silent, by="ana")
    both = versions.draft("hello", says("three {{ code }}", dropped="code"), by="ana")
    with pytest.raises(NotPublishable, match=r"^code: either sensitive or no_longer_sensitive"):
        versions.publish(both, by="ana")
    outspoken = says("four {{ code }}", sensitive="", dropped="code")
    made = versions.publish(versions.draft("hello", outspoken, by="ana"), by="ana")
    assert versions.current("hello") == made


def test_going_back_to_a_version_without_a_sensitive_variable_is_refused() -> None:
    old = versions.draft("hello", says("one {{ code }}", sensitive=""), by="ana")
    old = versions.publish(old, by="ana")
    published("two {{ code }}")
    with pytest.raises(NotPublishable, match=r"^code: sensitive in hello v2 and not here"):
        versions.roll_back(old, by="ana")


@pytest.mark.parametrize(
    "change",
    [
        lambda version: version.texts.update(body="changed"),
        lambda version: version.texts.all().delete(),
        lambda version: TemplateText.objects.create(template=version, channel=1, body="more"),
        lambda version: Template.objects.filter(pk=version.pk).update(sensitive_variables=[]),
        lambda version: Template.objects.filter(pk=version.pk).update(published_at=None),
        lambda version: version.texts.update(max_segments=1),
        lambda version: Template.objects.filter(pk=version.pk).update(variables=[{}]),
        lambda version: Template.objects.filter(pk=version.pk).update(default_locale="de"),
        lambda version: version.delete(),
    ],
)
def test_the_database_refuses_every_change_to_a_published_version(change: object) -> None:
    version = aged(published("one"))
    assert callable(change)
    with pytest.raises(IntegrityError, match="published"), transaction.atomic():
        change(version)
    assert versions.content_of(version) == says("one")


def test_a_note_may_be_added_to_a_published_version() -> None:
    version = aged(published("one"))
    version.note = "the one with the wrong link"
    version.save(update_fields=["note", "updated_at"])


def test_a_text_cannot_be_moved_into_a_published_version() -> None:
    version = aged(published("one"))
    draft = versions.draft("hello", says("two"), by="ana")
    with pytest.raises(IntegrityError, match="published"), transaction.atomic():
        draft.texts.update(template=version, locale="de")
