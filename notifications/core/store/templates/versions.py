"""Template versions: draft, edit, publish and roll back.

    draft  ->  edited, while a draft  ->  published  ->  immutable
                                              |
    rollback: the content of an older version as a new version, published at once

The highest published version is the current version. A rollback creates a new version, so that the
version numbers keep the order of use. Each step inserts a TemplateEvent, and after the commit
`invalidation` announces the change to all processes. A notification keeps the version of its
acceptance.

Two concurrent drafts of a template get two numbers. The database refuses a change to a published
version (see the migration).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from notifications.core import clock
from notifications.core.models import Template, TemplateEvent, TemplateText
from notifications.core.rules.attachments import WrongFiles
from notifications.core.rules.templates import contents, one_off
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.rules.texts import wording
from notifications.core.store.postgres import db, late_encryption
from notifications.core.store.templates import files, invalidation, rows

Verb = TemplateEvent.Verb

SOURCES: Final = ("title", "body", "html")
"""The parts of a text."""
_LIFE: Final = frozenset(
    {"id", "template_id", "version", "note", "published_at", "published_by", "created_at"}
    | {"created_by", "updated_at"}
)
"""Columns of a version without content; all other columns are copied and compared."""


class NotPublishable(Exception):
    """The version cannot become the current version; the message gives the reason."""


def settings() -> frozenset[str]:
    """Return the content columns of a version, without texts."""
    return frozenset(field.attname for field in Template._meta.concrete_fields) - _LIFE  # noqa: SLF001 - Django's documented API


def content_of(version: Template) -> TemplateContent:
    """Return the content of a version."""
    return contents.content(
        map(contents.normalize, rows.sources_of(version)),
        {name: getattr(version, name) for name in settings()},
    )


def newest(template_id: str) -> Template | None:
    """Return the version with the highest number, draft or not."""
    return Template.objects.filter(template_id=template_id).order_by("-version").first()


def current(template_id: str) -> Template | None:
    """Return the current version, which producers get."""
    published = Template.objects.filter(template_id=template_id).exclude(published_at=None)
    return published.order_by("-version").first()


@transaction.atomic
def draft(template_id: str, content: TemplateContent, *, by: str, note: str = "") -> Template:
    """Make a new draft with the next number.

    Raises:
        NotPublishable: the name is one of a one-off template, which has one version.
        WrongFiles: the content of an attachment is not stored.
    """
    if one_off.is_one_off(template_id):
        raise NotPublishable(one_off.RESERVED)
    return _draft(template_id, content, by=by, note=note)


@transaction.atomic
def publish_once(job_id: UUID, content: TemplateContent, *, by: str) -> Template:
    """Make and publish the one-off template of a bulk job.

    Raises:
        NotPublishable: `rows.objections` is not empty.
    """
    note = "Text of a bulk job"
    return publish(_draft(one_off.name_of(job_id), content, by=by, note=note), by=by)


@transaction.atomic
def edit(version: Template, content: TemplateContent, *, by: str) -> None:
    """Replace the texts of a draft.

    Raises:
        django.db.IntegrityError: it was published meanwhile.
    """
    version.texts.all().delete()
    _write(version, content)
    record(version, Verb.EDITED, by=by)


@transaction.atomic
def edit_files(
    version: Template, change: Callable[[Template], list[dict[str, Any]]], *, by: str
) -> None:
    """Replace the attachments of a draft by the result of `change`, called with the locked row.

    Raises:
        WrongFiles: of `change`, or the version is published.
    """
    found = locked(version)
    if found.published_at is not None:
        raise WrongFiles("This version is published. Make a new draft from it.")
    found.attachments = change(found)
    files.keep(found.attachments)
    found.save(update_fields=("attachments", "updated_at"))
    record(found, Verb.EDITED, by=by, detail="attachments")


@transaction.atomic
def publish(version: Template, *, by: str) -> Template:
    """Make a draft the current version; return the stored row.

    Raises:
        NotPublishable: the version is published or outdated, or `rows.objections` is not empty.
    """
    found = locked(version)
    _check(found)
    _make_current(found, Verb.PUBLISHED, by=by)
    return found


@transaction.atomic
def roll_back(version: Template, *, by: str) -> Template:
    """Publish the content of an earlier version as a new version, and return the new version.

    Raises:
        NotPublishable: the version was never published, equals the current version, would store a
            variable unencrypted that is sensitive now, or a content of its files is not stored.
    """
    lock(version.template_id)
    if version.published_at is None:
        raise NotPublishable(f"{version} was never published: publish it instead")
    content = content_of(version)
    now_valid = current(version.template_id)
    if now_valid is not None and content_of(now_valid) == content:
        raise NotPublishable(f"{now_valid} is the current one and says the same")
    _check_sensitive(version, now_valid)
    _keep_files(version)
    made = _add(version.template_id, content, by=by, note=f"Back to version {version.version}")
    _make_current(made, Verb.ROLLED_BACK, by=by, detail=f"to version {version.version}")
    return made


def record(version: Template, verb: Verb, *, by: str, detail: str = "") -> None:
    """Store an event, and tell every process after the commit."""
    TemplateEvent.objects.create(
        template_id=version.template_id, version=version.version, verb=verb, by=by, detail=detail
    )
    transaction.on_commit(functools.partial(invalidation.publish, version.template_id))


def next_number(template_id: str) -> int:
    """Return the number of the next version; hold the lock."""
    highest = Template.objects.filter(template_id=template_id).aggregate(Max("version"))
    return (highest["version__max"] or 0) + 1


def lock(template_id: str) -> None:
    """Lock a template until the transaction ends."""
    db.rows("lock_template", {"template_id": template_id})


def locked(version: Template) -> Template:
    """Return the stored row; lock the template, then the row, until the transaction ends."""
    lock(version.template_id)
    return Template.objects.select_for_update().get(pk=version.pk)


def _draft(template_id: str, content: TemplateContent, *, by: str, note: str) -> Template:
    made = _add(template_id, content, by=by, note=note)
    record(made, Verb.DRAFTED, by=by, detail=note)
    return made


def _add(template_id: str, content: TemplateContent, *, by: str, note: str) -> Template:
    lock(template_id)
    columns: Mapping[str, Any] = content.settings
    files.keep(columns.get("attachments", ()))
    made = Template.objects.create(
        template_id=template_id,
        version=next_number(template_id),
        created_by=by,
        note=note,
        **columns,
    )
    _write(made, content)
    return made


def _write(version: Template, content: TemplateContent) -> None:
    TemplateText.objects.bulk_create(
        TemplateText(
            template=version,
            channel=text.channel,
            **wording.columns(text),
        )
        for text in content.texts
    )


def _make_current(version: Template, verb: Verb, *, by: str, detail: str = "") -> None:
    if (before := current(version.template_id)) is not None:
        now_sensitive = set(version.sensitive_variables) - set(before.sensitive_variables)
        late_encryption.begin(version, now_sensitive)
    version.published_at = clock.now()
    version.published_by = by
    version.save(update_fields=("published_at", "published_by", "updated_at"))
    record(version, verb, by=by, detail=detail)


def _check(version: Template) -> None:
    """Check a version before its publication.

    Raises:
        NotPublishable: with the reason.
    """
    if version.published_at:
        raise NotPublishable(f"{version} is published already")
    now_valid = current(version.template_id)
    if now_valid is not None and now_valid.version > version.version:
        raise NotPublishable(f"{now_valid} is newer and published: make a new draft from this one")
    _check_sensitive(version, now_valid)
    objections = rows.objections(version)
    if objections:
        raise NotPublishable("; ".join(objections))
    _keep_files(version)


def _keep_files(version: Template) -> None:
    """Keep the files of a version that becomes the current version.

    Raises:
        NotPublishable: a content is not stored.
    """
    try:
        files.keep(version.attachments)
    except WrongFiles as error:
        raise NotPublishable(str(error)) from error


def _check_sensitive(version: Template, now_valid: Template | None) -> None:
    """Refuse to store a variable unencrypted that the current version encrypts, unless declared.

    Raises:
        NotPublishable: a sensitive variable is missing, and `no_longer_sensitive` does not name the
            variable; or a name is in both lists.
    """
    named, kept = set(version.no_longer_sensitive), set(version.sensitive_variables)
    if both := sorted(named & kept):
        raise NotPublishable(f"{', '.join(both)}: either sensitive or no_longer_sensitive")
    before = set(now_valid.sensitive_variables) if now_valid else set()
    if dropped := sorted(before - kept - named):
        raise NotPublishable(
            f"{', '.join(dropped)}: sensitive in {now_valid} and not here; add it to"
            " sensitive_variables, or draft a version that names it in no_longer_sensitive"
        )
