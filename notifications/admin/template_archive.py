"""All templates as one zip, and a zip as templates: the same files as the shell's commands have.

Nothing of an upload is written to disk, and what it may hold is bounded, whatever it claims.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from notifications.rules.language.syntax import MAX_SOURCE
from notifications.rules.templates.file_format import BrokenFiles
from notifications.store.templates import import_export
from notifications.store.templates.import_export import Change

MAX_FILES: Final = 10_000
"""Of one upload: a hundred templates of a hundred texts."""
MAX_FILE_BYTES: Final = 4 * MAX_SOURCE
"""Of one file, unpacked: the longest source in the widest characters of UTF-8."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""Of all of them."""
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What `zipfile` raises for what is broken, encrypted, or packed in a way that it does not know."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The date of every file, so that the same templates make the same bytes."""


def pack() -> bytes:
    """Every template, each in a folder of its name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for template_id, files in import_export.everything():
            for name, text in sorted(files.items()):
                archive.writestr(zipfile.ZipInfo(f"{template_id}/{name}", _EPOCH), text)
    return packed.getvalue()


def load(upload: UploadedFile[bytes], *, by: str, publish: bool) -> dict[str, Change]:
    """Import every template of a zip, all or none; tells what was done to each.

    Raises:
        BrokenFiles: it is no zip, too large, or a file makes no sense.
    """
    with transaction.atomic():
        return {
            template_id: import_export.load(template_id, files, by=by, publish=publish)
            for template_id, files in sorted(_unpack(upload).items())
        }


def _unpack(upload: UploadedFile[bytes]) -> dict[str, dict[str, str]]:
    try:
        with zipfile.ZipFile(upload.open()) as archive:
            entries = [entry for entry in archive.infolist() if _counts(entry.filename)]
            if len(entries) > MAX_FILES:
                raise BrokenFiles(f"more than {MAX_FILES} files")
            return _read(archive, entries)
    except _UNREADABLE as error:
        raise BrokenFiles(f"it cannot be read as a zip: {error}") from error


def _read(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    left = MAX_BYTES
    for entry in entries:
        *_, template_id, name = entry.filename.rsplit("/", 2)
        with archive.open(entry) as packed:
            # What the directory says of a size may be a lie.
            data = packed.read(min(MAX_FILE_BYTES, left) + 1)
        left -= len(data)
        if len(data) > MAX_FILE_BYTES or left < 0:
            raise BrokenFiles(f"{entry.filename}: too large")
        try:
            found.setdefault(template_id, {})[name] = data.decode()
        except UnicodeDecodeError as error:
            raise BrokenFiles(f"{entry.filename}: it is not UTF-8") from error
    return found


def _counts(path: str) -> bool:
    """Files in a folder, but none that is hidden (`.DS_Store`, `__MACOSX`)."""
    parts = path.split("/")
    hidden = any(part.startswith((".", "__")) for part in parts)
    return len(parts) > 1 and bool(parts[-1]) and not hidden
