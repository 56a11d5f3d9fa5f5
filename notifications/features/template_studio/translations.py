"""Translations of templates in files: export the texts of a language, import those of another.

An import makes a draft of the newest version with the texts of the file, and publishes nothing. The
lock of the template serializes imports with other drafts. A second import of a file changes
nothing, and a file with a fault imports nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.db import transaction

from notifications.core.models import Template
from notifications.core.rules.attachments import WrongFiles
from notifications.core.rules.language import locales
from notifications.core.rules.templates import contents, file_format, one_off
from notifications.core.store.postgres import audit
from notifications.core.store.templates import files as template_attachments
from notifications.core.store.templates import versions
from notifications.core.store.templates.import_export import ImportEffect
from notifications.features.template_studio.rules import unit_csv, units, xliff
from notifications.features.template_studio.rules.units import (
    TranslatedFile,
    Translation,
    WrongTranslation,
)

MAX_BYTES: Final = 8 * 1024 * 1024
"""Bytes of a file: forty of the longest sources."""


class FileFormat(StrEnum):
    """The format of a file; the value is the ending of the file's name."""

    XLIFF = "xlf"
    CSV = "csv"


class NothingToTranslate(WrongTranslation):
    """The version has no words in the source language, or the target language is the same."""


_WRITERS: Final[Mapping[FileFormat, Callable[[Sequence[Translation]], bytes]]] = {
    FileFormat.XLIFF: xliff.write,
    FileFormat.CSV: unit_csv.write,
}
_READERS: Final[Mapping[FileFormat, Callable[[bytes], list[TranslatedFile]]]] = {
    FileFormat.XLIFF: xliff.read,
    FileFormat.CSV: unit_csv.read,
}
_ENDINGS: Final[Mapping[str, FileFormat]] = {
    "xlf": FileFormat.XLIFF,
    "xliff": FileFormat.XLIFF,
    "csv": FileFormat.CSV,
}


@dataclass(frozen=True, slots=True)
class Imported:
    """The effect of the translations of a template."""

    version: Template
    """The draft, or the newest version if the file changes nothing."""
    locale: str
    effect: ImportEffect


def format_of(name: str) -> FileFormat:
    """Return the format of a file by the ending of its name.

    Raises:
        WrongTranslation: the ending is another.
    """
    ending = name.rpartition(".")[2].lower()
    if ending not in _ENDINGS:
        raise WrongTranslation("the name of the file ends with .xlf, .xliff or .csv")
    return _ENDINGS[ending]


def units_of(version: Template, *, source: str, target: str) -> Translation:
    """Return the units of a version, with the translations that the version has.

    Raises:
        WrongTranslation: a locale is unknown.
        NothingToTranslate: the version has no words in the source language, or both locales are
            the same.
    """
    source, target = _pair(source, target)
    texts = versions.content_of(version).texts
    found = units.units_of(texts, source=source, target=target)
    if not found:
        raise NothingToTranslate(f"{version} has no words in {source}")
    return Translation(template_id=version.template_id, source=source, target=target, units=found)


def write(translations: Sequence[Translation], kind: FileFormat) -> bytes:
    """Return the file of the units of templates."""
    return _WRITERS[kind](translations)


def read(data: bytes, kind: FileFormat) -> list[TranslatedFile]:
    """Return the translations of a file.

    Raises:
        WrongTranslation: the file is too large, is not of the format, or has no translation.
    """
    if len(data) > MAX_BYTES:
        raise WrongTranslation(f"the file is larger than {MAX_BYTES // 1024**2} MiB")
    found = _READERS[kind](data)
    if not any(file.targets for file in found):
        raise WrongTranslation("the file has no translation: each target is empty")
    return found


@transaction.atomic
def load(files: Iterable[TranslatedFile], *, by: str) -> list[Imported]:
    """Draft the translations of all files, or of none.

    Raises:
        WrongTranslation: a template or a locale is unknown, or a unit does not fit (see
            `units.translate`).
    """
    wanted = sorted(files, key=lambda file: file.template_id)
    newest = [_lock_newest(file.template_id) for file in wanted]
    template_attachments.lock([each for version in newest for each in version.attachments])
    return [_load(file, by=by) for file in wanted]


def _load(file: TranslatedFile, *, by: str) -> Imported:
    source, target = _pair(file.source, file.target)
    newest = _lock_newest(file.template_id)
    content = versions.content_of(newest)
    texts = units.translate(
        content.texts,
        TranslatedFile(
            template_id=file.template_id, source=source, target=target, targets=file.targets
        ),
    )
    changed = contents.content(texts, content.settings)
    if file_format.write(changed) == file_format.write(content):  # as `import_export` compares
        return Imported(newest, target, ImportEffect.NOTHING)
    note = f"Translation from {source} to {target}"
    with audit.changes(by, "import_translation") as news:
        try:
            made = versions.draft(file.template_id, changed, by=by, note=note)
        except WrongFiles as error:
            raise WrongTranslation(f"{file.template_id}: {error}") from error
        news.append(made)
    return Imported(made, target, ImportEffect.DRAFT)


def _lock_newest(template_id: str) -> Template:
    """Return the newest version, and lock the template until the transaction ends.

    Raises:
        WrongTranslation: there is no such template, or the template is the text of a bulk job.
    """
    if one_off.is_one_off(template_id):
        raise WrongTranslation(f"{template_id}: {one_off.RESERVED}")
    if template_id.isprintable():
        versions.lock(template_id)
        if (newest := versions.newest(template_id)) is not None:
            return newest
    raise WrongTranslation(f"there is no template {template_id[:64]!r}")


def _pair(source: str, target: str) -> tuple[str, str]:
    """Return two locales in their stored spelling.

    Raises:
        WrongTranslation: a locale is unknown.
        NothingToTranslate: both are the same.
    """
    for locale in (source, target):
        if not locales.is_known(locale):
            raise WrongTranslation(f"{locale[:35]!r} is no known locale; use one such as pt-BR")
    source, target = locales.normalize(source), locales.normalize(target)
    if source == target:
        raise NothingToTranslate(f"the source and the target language are the same: {source}")
    return source, target
