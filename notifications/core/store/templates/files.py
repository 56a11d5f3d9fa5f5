"""Attachments of templates: the files that each e-mail of a version has.

A version stores name, type, size and digest of each file, and the feature `features.attachments`
the contents. Without the feature, files are refused, and a version with files is not published.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from notifications.core.gate import Place, function_at
from notifications.core.models import Template
from notifications.core.rules import attachments
from notifications.core.rules.attachments import (
    Attachment,
    RequestedAttachment,
    StoredFile,
    TemplateFile,
    WrongFiles,
)
from notifications.core.rules.lane import Mode
from providers.contract import Channel

_Sizes = Callable[[Collection[UUID]], Mapping[UUID, int]]
_NO_FEATURE: Final = "this service has no attachments: leave them out"


# At the first use, because the feature imports the stages above the store.
@functools.cache
def _keepers() -> tuple[_Sizes, ...]:
    return (*function_at(Place.TEMPLATE_FILES_KEPT),)


@functools.cache
def _finders() -> tuple[_Sizes, ...]:
    return (*function_at(Place.TEMPLATE_FILES_FOUND),)


@functools.cache
def _copiers() -> tuple[Callable[..., Mapping[UUID, StoredFile]], ...]:
    return (*function_at(Place.TEMPLATE_FILES_COPIED),)


@functools.cache
def _stores() -> tuple[Callable[[str, bytes], StoredFile | str], ...]:
    return (*function_at(Place.TEMPLATE_FILE_STORED),)


@functools.cache
def _limits() -> tuple[Callable[..., int], ...]:
    return function_at(Place.ATTACHMENTS_LIMIT)


def lock(stored: Sequence[Mapping[str, Any]]) -> None:
    """Lock the existing files of several versions in one order until the transaction ends."""
    ids = {each.id for each in attachments.of_template(stored)}
    for each in _keepers() if ids else ():
        each(ids)


def keep(stored: Sequence[Mapping[str, Any]]) -> None:
    """Keep the files of a version that is about to be written or published, in its transaction.

    Raises:
        WrongFiles: a content is not stored here, or has another size.
    """
    _check(stored, _keepers())


def check(stored: Sequence[Mapping[str, Any]]) -> None:
    """Check the files of a version that is not written.

    Raises:
        WrongFiles: as `keep`.
    """
    _check(stored, _finders())


def _check(stored: Sequence[Mapping[str, Any]], sizes: Sequence[_Sizes]) -> None:
    named = attachments.of_template(stored)
    for sizes_of in sizes if named else ():
        there = sizes_of({each.id for each in named})
        for each in named:
            if each.id not in there:
                raise WrongFiles(
                    f"attachments: the content of {each.name} (SHA-256 {each.digest[:12]}...) is"
                    " not stored here: upload the file to any draft in the editor, or by"
                    " POST /v1/attachments and POST /v1/templates, and try again"
                )
            if each.size != there[each.id]:
                said = f"{each.name} has {there[each.id]} bytes, and not {each.size}"
                raise WrongFiles(f"attachments: {said}: correct the size")


def copy_uploads(
    wanted: Sequence[RequestedAttachment], *, producer_id: int, mode: Mode
) -> list[dict[str, Any]]:
    """Copy uploaded files of a producer for a version; returns the value that the version stores.

    Raises:
        WrongFiles: a file does not exist, or a name does not fit the type of the file.
    """
    if not wanted:
        return []
    if not _copiers():
        raise WrongFiles(_NO_FEATURE)
    found: dict[UUID, StoredFile] = {}
    for each in _copiers():
        found |= each([one.id for one in wanted], producer_id=producer_id, mode=mode)
    taken: list[dict[str, Any]] = []
    for position, one in enumerate(wanted):
        if one.id not in found:
            said = "is no uploaded file of this producer, and no file of a template"
            raise WrongFiles(f"attachments/{position}/id: {said}: POST /v1/attachments")
        if fault := attachments.name_fault(one, found[one.id].type):
            raise WrongFiles(f"attachments/{position}/{fault[0]}: {fault[1]}")
        taken.append(_facts(found[one.id], name=one.name, inline_id=one.inline_id))
    return attachments.write_template_files(attachments.template_files(taken))


def store(type_: str, content: bytes) -> StoredFile:
    """Store an uploaded file for templates.

    Raises:
        WrongFiles: the content or the type cannot be sent.
    """
    for each in _stores():
        found = each(type_, content)
        if isinstance(found, str):
            raise WrongFiles(found)
        return found
    raise WrongFiles(_NO_FEATURE)


def with_file(
    version: Template, file: StoredFile, *, name: str, inline_id: str | None
) -> list[dict[str, Any]]:
    """Return the files of a version with a further file.

    Raises:
        WrongFiles: the name does not fit, or the files cannot be sent together.
    """
    further = _facts(file, name=name, inline_id=inline_id)
    named = attachments.template_files([*version.attachments, further])
    return attachments.write_template_files(named)


def objections(version: Template, channels: Collection[Channel]) -> list[str]:
    """Return the objections to publishing the files of a version with texts for `channels`."""
    if not version.attachments:
        return []
    try:
        files = attachments.template_files(version.attachments)
    except WrongFiles as error:
        return [str(error)]
    if not _limits():
        return [_NO_FEATURE]
    if Channel.EMAIL not in channels:
        return ["the attachments need a text for email, which alone has attachments"]
    fault = size_fault(files, mode=Mode.LIVE)
    return [fault] if fault else []


def size_fault(files: Sequence[TemplateFile | Attachment], *, mode: Mode) -> str:
    """Return a sentence if no provider of e-mails takes the files together; else empty."""
    has_images = any(each.inline_id for each in files)
    most = min((each(mode, with_images=has_images) for each in _limits()), default=0)
    size = sum(each.size for each in files)
    if size <= most:
        return ""
    whose = "with images in the HTML " if has_images else ""
    said = f"the attachments have {size} bytes together, and a provider of e-mails {whose}takes at"
    return f"{said} most {most}: write a link to a file instead"


def _facts(file: StoredFile, *, name: str, inline_id: str | None) -> dict[str, Any]:
    return {
        "name": name,
        "type": file.type,
        "size": file.size,
        "digest": file.digest,
        "inline_id": inline_id,
    }
