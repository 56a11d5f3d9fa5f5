"""Import and export of templates as files; an unchanged template gets no new version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Final

import orjson
from django.core.exceptions import ValidationError
from django.db import transaction

from notifications.core.models import Template
from notifications.core.rules import attachments
from notifications.core.rules.attachments import WrongFiles
from notifications.core.rules.language import locales, variables
from notifications.core.rules.templates import contents, file_format, one_off
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.store.templates import files as template_attachments
from notifications.core.store.templates import versions
from notifications.core.store.templates.rows import ONE_OFF

NOTE: Final = "From files"


class ImportEffect(StrEnum):
    """The effect of an import on one template."""

    NOTHING = "unchanged"
    """The files equal the current content."""
    DRAFT = "new draft"
    """The files differ from the newest version."""
    PUBLISH = "new version published"
    """The files differ from the current version."""
    PUBLISH_DRAFT = "draft published"
    """The newest version is a draft equal to the files; the import publishes the draft."""


def load(
    template_id: str, files: Mapping[str, str], *, by: str, publish: bool, note: str = NOTE
) -> ImportEffect:
    """Import one template from file names and texts; return the effect.

    Raises:
        BrokenFiles: a file is invalid. Nothing was imported.
    """
    return load_all({template_id: files}, by=by, publish=publish, note=note)[template_id]


def load_all(
    templates: Mapping[str, Mapping[str, str]], *, by: str, publish: bool, note: str = NOTE
) -> dict[str, ImportEffect]:
    """Import templates by name, all or none; return the effect on each.

    Locks all templates in the order of the names, and then all files in one order, so two writers
    that share templates or files wait for each other.

    Raises:
        BrokenFiles: a file is invalid. Nothing was imported.
    """
    contents_of = {name: _content(name, templates[name]) for name in sorted(templates)}
    with transaction.atomic():
        for name in contents_of:
            versions.lock(name)
        template_attachments.lock([
            each for one in contents_of.values() for each in one.settings["attachments"]
        ])
        return {
            name: _load(name, content, by=by, publish=publish, note=note)
            for name, content in contents_of.items()
        }


def _load(
    template_id: str, content: TemplateContent, *, by: str, publish: bool, note: str
) -> ImportEffect:
    change = _change(template_id, content, publish=publish)
    with _named(template_id):
        match change:
            case ImportEffect.NOTHING:
                pass
            case ImportEffect.DRAFT:
                versions.draft(template_id, content, by=by, note=note)
            case ImportEffect.PUBLISH:
                made = versions.draft(template_id, content, by=by, note=note)
                _publish(made, by=by)
            case ImportEffect.PUBLISH_DRAFT:
                _publish(versions.newest(template_id), by=by)
    return change


def preview(template_id: str, files: Mapping[str, str], *, publish: bool) -> ImportEffect:
    """Return the effect of `load` without importing.

    Raises:
        BrokenFiles: as `load`.
    """
    content = _content(template_id, files)
    change = _change(template_id, content, publish=publish)
    if change is not ImportEffect.NOTHING:
        with _named(template_id):
            template_attachments.check(content.settings["attachments"])
    return change


def export_all() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the files of every template: of the current version, or of the newest draft.

    One-off templates are left out.
    """
    listed = Template.objects.exclude(ONE_OFF).order_by("template_id")
    for name in listed.values_list("template_id", flat=True).distinct():
        version = versions.current(name) or versions.newest(name)
        if version is not None:
            yield name, file_format.write(versions.content_of(version))


def _change(template_id: str, content: TemplateContent, *, publish: bool) -> ImportEffect:
    newest = versions.newest(template_id)
    current = versions.current(template_id)
    compared = current if publish else newest
    if compared is not None and _is_same(compared, content):
        return ImportEffect.NOTHING
    if not publish:
        return ImportEffect.DRAFT
    is_draft = newest is not None and newest.published_at is None
    if is_draft and newest and _is_same(newest, content):
        return ImportEffect.PUBLISH_DRAFT
    return ImportEffect.PUBLISH


def _is_same(version: Template, content: TemplateContent) -> bool:
    """Return True if both have the same files, whatever the order of keys in the settings.

    The files decide, because a later release may compile blocks otherwise.
    """
    return _files(versions.content_of(version)) == _files(content)


def _files(content: TemplateContent) -> dict[str, Any]:
    files = file_format.write(content)
    return {**files, file_format.SETTINGS_FILE: orjson.loads(files[file_format.SETTINGS_FILE])}


def _content(template_id: str, files: Mapping[str, str]) -> TemplateContent:
    """Read the files, with every setting of a version.

    Raises:
        BrokenFiles: with the template's name before the file's.
    """
    if one_off.is_one_off(template_id):
        raise BrokenFiles(f"{template_id}: {one_off.RESERVED}")
    try:
        return _with_defaults(template_id, file_format.parse(files))
    except BrokenFiles as error:
        raise BrokenFiles(f"{template_id}/{error}") from error


@contextmanager
def _named(template_id: str) -> Iterator[None]:
    """Name the file with the attachments whose content is not stored.

    Raises:
        BrokenFiles: in place of WrongFiles.
    """
    try:
        yield
    except WrongFiles as error:
        raise BrokenFiles(f"{template_id}/{file_format.SETTINGS_FILE}: {error}") from error


def _publish(version: Template | None, *, by: str) -> None:
    try:
        if version is not None:
            versions.publish(version, by=by)
    except versions.NotPublishable as error:
        raise BrokenFiles(f"{version}: {error}") from error


def _with_defaults(template_id: str, content: TemplateContent) -> TemplateContent:
    """Add the default of each missing setting, and validate all settings.

    Raises:
        BrokenFiles: a name or a value is wrong.
    """
    known = versions.settings()
    for name in content.settings:
        if name not in known:
            there_are = ", ".join(sorted(known))
            raise BrokenFiles(f"{file_format.SETTINGS_FILE}: no {name}; there are {there_are}")
    blank = Template()
    for name, value in content.settings.items():
        expected = type(getattr(blank, name))
        if not isinstance(value, expected):
            raise BrokenFiles(f"{file_format.SETTINGS_FILE}: {name} is a {expected.__name__}")
    candidate = Template(template_id=template_id, **content.settings)
    _check_meaning(candidate)
    try:
        candidate.clean_fields()
    except ValidationError as error:
        told = "; ".join(f"{name}: {' '.join(said)}" for name, said in error.message_dict.items())
        raise BrokenFiles(f"{file_format.SETTINGS_FILE}: {told}") from error
    settings = {name: getattr(candidate, name) for name in known}
    return contents.content(content.texts, settings)


def _check_meaning(candidate: Template) -> None:
    """Check variables, attachments and locale.

    Raises:
        BrokenFiles: the declarations, the attachments or the locale make no sense.
    """
    try:
        variables.parse_new_declarations(candidate.variables)
        files = attachments.template_files(candidate.attachments)
    except (variables.MalformedDeclaration, WrongFiles) as error:
        raise BrokenFiles(f"{file_format.SETTINGS_FILE}: {error}") from error
    if not locales.is_known(candidate.default_locale):
        detail = f"{candidate.default_locale}: unknown locale; use a CLDR locale such as pt-BR"
        raise BrokenFiles(f"{file_format.SETTINGS_FILE}: {detail}")
    candidate.attachments = attachments.write_template_files(files)
    candidate.default_locale = locales.normalize(candidate.default_locale)
