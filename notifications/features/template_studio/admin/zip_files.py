"""Export all templates as a zip file, and import a zip file with the same layout as the commands.

An upload is not written to disk, and the unpacked size is bounded.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from django.core.files.uploadedfile import UploadedFile

from notifications.core.rules.language.syntax import MAX_SOURCE
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.store.templates import import_export
from notifications.core.store.templates.import_export import ImportEffect

MAX_FILES: Final = 10_000
"""Maximum files per upload: a hundred templates with a hundred texts."""
MAX_FILE_BYTES: Final = 4 * MAX_SOURCE
"""Maximum unpacked bytes per file: the longest source in 4-byte UTF-8."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""Maximum unpacked bytes of all files."""
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""Exceptions of `zipfile` for broken, encrypted or unsupported archives."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The date of all files, so that equal templates give equal bytes."""


def pack() -> bytes:
    """Return a zip file with a folder per template."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for template_id, files in import_export.export_all():
            for name, text in sorted(files.items()):
                archive.writestr(zipfile.ZipInfo(f"{template_id}/{name}", _EPOCH), text)
    return packed.getvalue()


def load(upload: UploadedFile[bytes], *, by: str, publish: bool) -> dict[str, ImportEffect]:
    """Import all templates of a zip file, or none; return the change of every template.

    Raises:
        BrokenFiles: the upload is no zip file, too large, or contains an invalid file.
    """
    return import_export.load_all(_unpack(upload), by=by, publish=publish)


def _unpack(upload: UploadedFile[bytes]) -> dict[str, dict[str, str]]:
    try:
        with zipfile.ZipFile(upload.open()) as archive:
            entries = [entry for entry in archive.infolist() if _counts(entry.filename)]
            if len(entries) > MAX_FILES:
                raise BrokenFiles(f"more than {MAX_FILES} files")
            return _read(archive, entries)
    except _UNREADABLE as error:
        raise BrokenFiles(f"the upload cannot be read as a zip file: {error}") from error


def _read(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    left = MAX_BYTES
    for entry in entries:
        *_, template_id, name = entry.filename.rsplit("/", 2)
        with archive.open(entry) as packed:
            # The size in the archive's directory may be wrong.
            data = packed.read(min(MAX_FILE_BYTES, left) + 1)
        left -= len(data)
        if len(data) > MAX_FILE_BYTES or left < 0:
            raise BrokenFiles(f"{entry.filename}: too large")
        try:
            found.setdefault(template_id, {})[name] = data.decode()
        except UnicodeDecodeError as error:
            raise BrokenFiles(f"{entry.filename}: the file is not UTF-8") from error
    return found


def _counts(path: str) -> bool:
    """Return True for a visible file in a folder (not `.DS_Store`, `__MACOSX`)."""
    parts = path.split("/")
    hidden = any(part.startswith((".", "__")) for part in parts)
    return len(parts) > 1 and bool(parts[-1]) and not hidden
